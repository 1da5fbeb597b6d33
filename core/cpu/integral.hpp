// pixels -> summed area tables
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "core/table.hpp"

namespace facesat::cpu {

// Inclusive sums and sums of squares, with zeros in row -1 and column -1. The tables must have the
// picture's size; squared_sum may be empty, if squares are not needed. One read of the picture, one
// write of each table.
void integral(View<const std::uint8_t> picture, View<std::uint32_t> sum,
              View<std::uint32_t> squared_sum);

// Inclusive tilted sums: element (x, y) is the sum of the cone of pixels (u, v) with v <= y and
// |u - x| <= y - v. Row -1 is zero; column -1 is not: it holds the cones that reach in from there.
// OpenCV's tilted table T(X, Y) is element (X - 1, Y - 1).
void tilted_integral(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum);

// Reorders every row from -1 on, of which column -1 is the first element: even elements first, odd
// ones from element `odd` on.
void split_columns(View<std::uint32_t> table, std::ptrdiff_t odd);

}  // namespace facesat::cpu
