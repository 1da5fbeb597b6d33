// The reference for the backends: every step of detection from the frame to the faces, written
// straight from its definition, without regard to speed.
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

// Integral images with one more row above and one more column on the left, which core/image.hpp
// calls row -1 and column -1: element (x + 1, y + 1) is that of pixel (x, y).
Image<std::uint32_t> sums(View<const std::uint8_t> picture);
Image<std::uint32_t> squared_sums(View<const std::uint8_t> picture);
Image<std::uint32_t> tilted_sums(View<const std::uint8_t> picture);

// The integral image of elements of any type, or of their squares, without these borders.
template <class Out, class In>
Image<Out> sat(View<const In> picture, bool of_squares = false) {
  Image<Out> table(picture.size);
  for (int y = 0; y < picture.size.height; ++y) {
    Out row{};
    for (int x = 0; x < picture.size.width; ++x) {
      const Out v = static_cast<Out>(picture.row(y)[x]);
      row += of_squares ? v * v : v;
      table.row(y)[x] = row + (y > 0 ? table.row(y - 1)[x] : Out{});
    }
  }
  return table;
}

// The result of a cascade for one window, computed from its pixels alone.
struct Judgement {
  int stages_passed = 0;  // -1: low variance
  double score = 0;       // sum of the last stage evaluated
};
Judgement judge(const Cascade& cascade, View<const std::uint8_t> window);

// The number of stages that the window passes at every grid position of a level, regardless of the
// skip rule; 0 for low variance. `picture` is the resized image.
Image<std::uint32_t> depths(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level);

// The windows of level `index` that pass, ordered by y, x. `picture` is the resized image.
std::vector<Window> windows(const Cascade& cascade, View<const std::uint8_t> picture,
                            const Level& level, int index, Scan scan);

// Groups windows into faces by comparing every pair. Each window is given as a Face with one
// neighbour. Faces come in the order of the first windows of their classes.
std::vector<Face> grouped(std::span<const Face> windows, int min_neighbors);

}  // namespace facesat::test::reference
