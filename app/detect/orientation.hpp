// Pictures whose files do not say how they are to be turned: where the faces are upright, they are.
#pragma once

#include <vector>

#include "facesat.hpp"
#include "media/codec.hpp"

namespace facesat::app {

// Finds the faces in a picture. If its orientation is unknown, searches it as it is and rotated by
// 90, 180 and 270 degrees, turns it to where the result is the most convincing, and notes that
// orientation (EXIF: 1, 6, 3 or 8). Throws as Detector::detect(), and MemoryError.
std::vector<Face> turn_upright(Picture& picture, const Detector& detector,
                               const ShouldStop& should_stop);

}  // namespace facesat::app
