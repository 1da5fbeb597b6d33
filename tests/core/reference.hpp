// Every stage of detection, written straight from its definition and without a thought for speed:
// what the backends are compared with.
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

// Summed area tables with their row -1 and column -1: element (0, 0) is the table's (-1, -1).
Image<std::uint32_t> sums(View<const std::uint8_t> picture);
Image<std::uint32_t> squared_sums(View<const std::uint8_t> picture);
Image<std::uint32_t> tilted_sums(View<const std::uint8_t> picture);

// What a cascade says of one window, from its pixels alone.
struct Judgement {
  int stages_passed = 0;  // -1: flat
  double score = 0;       // sum of the last stage evaluated
};
Judgement judge(const Cascade& cascade, View<const std::uint8_t> window);

// For every grid position of a level, how many stages it passes. `picture` is the resized image.
Image<std::uint32_t> depths(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level);

// The windows of a level that pass, in order.
std::vector<Window> windows(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level, int index, Scan scan);

// Windows -> faces, by comparing each with each. Sorted.
std::vector<Face> grouped(std::span<const Face> windows, int min_neighbors);

// The order that lists of faces are compared in.
bool before(const Face& a, const Face& b);

}  // namespace facesat::test::reference
