// Photographs that the camera was turned for.
#pragma once

#include "library/media/codec.hpp"

namespace facesat {

// The picture as it was seen, from its EXIF orientation, 1 .. 8. Throws MemoryError.
Picture upright(Picture picture, int orientation);

}  // namespace facesat
