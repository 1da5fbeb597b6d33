// Photographs that the camera was turned for.
#pragma once

#include <span>

#include "app/io/codec.hpp"

namespace facesat::app {

// What the EXIF data of a picture file say: 1 .. 8, 1 is upright, also if nothing is said.
int exif_orientation(std::span<const unsigned char> file);

// The picture as it was seen. Throws MemoryError.
Picture upright(Picture picture, int orientation);

}  // namespace facesat::app
