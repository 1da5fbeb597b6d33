// pixels -> integral images (summed area tables)
#pragma once

#include <cstdint>

#include "core/image.hpp"

namespace facesat::cpu {

// The inclusive integral image and squared integral image, with zeros in row -1 and column -1. The
// tables must have the picture's size; squared_sum may be empty if squares are not needed. One read
// of the picture, one write of each table.
void integral(View<const std::uint8_t> picture, View<std::uint32_t> sum,
              View<std::uint32_t> squared_sum);

// The inclusive tilted integral image: element (x, y) is the sum of the cone of pixels (u, v) with
// v <= y and |u - x| <= y - v. Row -1 is zero; column -1 is not, because its cones reach into the
// picture. OpenCV's tilted table T(X, Y) is element (X - 1, Y - 1).
void tilted_integral(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum);

// Reorders every row from row -1 on: even elements come first, odd ones from element `odd` on.
// Elements are counted from column -1, which is element 0.
void split_columns(View<std::uint32_t> table, std::ptrdiff_t odd);

}  // namespace facesat::cpu
