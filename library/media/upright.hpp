// Turns photographs upright that were taken with a turned camera.
#pragma once

#include "library/media/codec.hpp"

namespace facesat {

// Rotates and mirrors a picture, in colour or not, to be upright, from its EXIF orientation, 1
// .. 8, and notes that. 0: the orientation is unknown, and the picture stays as it is. Throws
// MemoryError.
Picture upright(Picture picture, int orientation);

}  // namespace facesat
