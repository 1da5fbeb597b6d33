// The reference for the backends: every stage of detection, written straight from its definition,
// without regard to speed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/backend.hpp"
#include "core/cascade.hpp"
#include "core/grouping.hpp"
#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::test::reference {

Image<std::uint8_t> gray(View<const Bgr> frame);
Image<std::uint8_t> resized(View<const std::uint8_t> gray, Size size);

// Integral images as pictures that include row -1 and column -1: their element (0, 0) is element
// (-1, -1) of a Table.
Image<std::uint32_t> sums(View<const std::uint8_t> picture);
Image<std::uint32_t> squared_sums(View<const std::uint8_t> picture);
Image<std::uint32_t> tilted_sums(View<const std::uint8_t> picture);

// The result of a cascade for one window, computed from its pixels alone.
struct Judgement {
  int stages_passed = 0;  // -1: low variance
  double score = 0;       // sum of the last stage evaluated
};
Judgement judge(const Cascade& cascade, View<const std::uint8_t> window);

// The number of stages passed at every grid position of a level. `picture` is the resized image.
Image<std::uint32_t> depths(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level);

// The windows of level `index` that pass, ordered by y, x. `picture` is the resized image.
std::vector<Window> windows(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level, int index, Scan scan);

// Windows -> faces, by comparing every pair of windows. Sorted by before().
std::vector<Face> grouped(std::span<const Face> windows, int min_neighbors);

// The order in which tests sort lists of faces before they compare them.
bool before(const Face& a, const Face& b);

}  // namespace facesat::test::reference
