// What the tests of filters have in common.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "filters/border.hpp"
#include "filters/definition.hpp"
#include "filters/mask.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {

inline constexpr Border all_borders[] = {Border::zero, Border::clamp, Border::mirror,
                                         Border::reflect101, Border::wrap};
inline constexpr Size filter_sizes[] = {{1, 1}, {1, 7}, {9, 1}, {5, 3}, {37, 23}, {67, 41}};

// Radii for a picture of this size: small ones, and for all but the largest picture one that
// exceeds it.
inline std::vector<Radius> filter_radii(Size size) {
  std::vector<Radius> radii{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {1, 3}, {4, 0}, {0, 2}};
  if (size.width < 60) radii.push_back({size.width + 3, size.height + 1});
  return radii;
}

inline std::string name_of(Size size, Radius radius, Border border) {
  return ::testing::PrintToString(size) + ", radius " + std::to_string(radius.x) + ", " +
         std::to_string(radius.y) + ", " + std::string(name_of(border));
}

// For bounds of rounding errors: the sums of |weight * element|.
inline Image<double> sums_of_magnitudes(View<const float> picture, Mask<float> mask,
                                        Border border) {
  for (float& weight : mask.weights) weight = std::abs(weight);
  const auto magnitudes =
      formula<float>(picture.size, [&](int x, int y) { return std::abs(picture.row(y)[x]); });
  Image<double> sums(picture.size);
  convolve<double>(magnitudes.view(), mask, border, sums.view());
  return sums;
}

// The means of the means of the means of boxes.
inline Image<std::uint8_t> three_means(View<const std::uint8_t> picture, const ThreeBoxes& boxes,
                                       Border border) {
  Image<std::uint8_t> means(picture.size);
  copy(picture, means.view());
  for (const int radius : boxes.radius)
    means = formula<std::uint8_t>(picture.size, [&](int x, int y) {
      const WindowSums sums =
          window_at(std::as_const(means).view(), x, y, {radius, radius}, border);
      return rounded_pixel(sums.sum, sums.pixels);
    });
  return means;
}

}  // namespace facesat::test
