// Windows -> faces: OpenCV's groupRectangles.
#pragma once

#include <span>
#include <vector>

#include "core/image.hpp"

namespace facesat {

struct Face {
  Rect box;           // pixels of the image
  int neighbors = 1;  // raw windows it stands for
  double score = 0;   // the largest sum of the last stage among them
};

// Groups similar rectangles and keeps each group of more than `min_neighbors`, unless a stronger
// one contains it. With min_neighbors = 0 nothing is grouped. The order of the result is
// unspecified. Source: OpenCV 4.6, objdetect, groupRectangles with eps 0.2.
std::vector<Face> group_faces(std::span<const Face> windows, int min_neighbors);

}  // namespace facesat
