// Filters by their definitions, pixel by pixel: what every other implementation is compared with.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/image.hpp"
#include "filters/border.hpp"
#include "filters/mask.hpp"
#include "filters/rounding.hpp"

namespace facesat {

// The pixel at any place inside or outside of a picture.
template <class T>
T pixel_at(View<const T> picture, int x, int y, Border border) {
  const int column = source_of(x, picture.size.width, border);
  const int row = source_of(y, picture.size.height, border);
  return column == no_source || row == no_source ? T{} : picture.row(row)[column];
}

// Element (x, y) of the convolution of a picture, before the division: the sum of
//   weight (i, j) * pixel (x + radius.x - i, y + radius.y - j)
// over all weights. Convolution runs through the mask backwards; the correlation of OpenCV's
// filter2D does not.
template <class Sum, class In, class W>
Sum convolved_at(View<const In> picture, const Mask<W>& mask, Border border, int x, int y) {
  const auto [rx, ry] = mask.radius;
  Sum sum{};
  const W* weight = mask.weights.data();
  for (int j = 0; j < mask.radius.rows(); ++j)
    for (int i = 0; i < mask.radius.columns(); ++i)
      sum += static_cast<Sum>(*weight++) *
             static_cast<Sum>(pixel_at(picture, x + rx - i, y + ry - j, border));
  return sum;
}

// The convolution of a picture. Sums of integers have 32 bits, and wrap (Sum: std::uint32_t). A
// result of 8 bits is the sum divided by the mask's divisor, as in rounded_pixel(). Real numbers
// are summed with the precision of Sum, and then divided.
template <class Sum, class In, class Out, class W>
void convolve(View<const In> picture, const Mask<W>& mask, Border border, View<Out> result) {
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 0; x < picture.size.width; ++x) {
      const Sum sum = convolved_at<Sum>(picture, mask, border, x, y);
      if constexpr (std::is_floating_point_v<Out>)
        result.row(y)[x] = static_cast<Out>(sum / static_cast<Sum>(mask.divisor));
      else if constexpr (sizeof(Out) == 1)
        result.row(y)[x] = rounded_pixel(static_cast<std::int32_t>(sum), mask.divisor);
      else
        result.row(y)[x] = static_cast<Out>(sum);
    }
}

// The sums of the window around a pixel.
inline WindowSums window_at(View<const std::uint8_t> picture, int x, int y, Radius radius,
                            Border border) {
  WindowSums sums{.pixels = radius.area()};
  for (int v = y - radius.y; v <= y + radius.y; ++v)
    for (int u = x - radius.x; u <= x + radius.x; ++u) {
      const std::int64_t pixel = pixel_at(picture, u, v, border);
      sums.sum += pixel;
      sums.squares += pixel * pixel;
      sums.cubes += static_cast<double>(pixel * pixel * pixel);
    }
  return sums;
}

}  // namespace facesat
