// Halftone pictures by error diffusion: each pixel becomes black or white, and its rounding error
// is added to neighbours that are still to come, 7/16 to the right, 3/16, 5/16 and 1/16 to those
// below on the left, below, and below on the right (R. W. Floyd, L. Steinberg 1975).
//
// Error collection is the same, seen from the pixel that the errors are added to; it writes each
// error once. The two agree to the last bit if additions have one order, which for diffusion is
// the order in which pixels are visited: the errors from above on the left, above, above on the
// right, then the left.
//
// Source: Funasaka, Nakano, Ito 2017, section V-C, after A. Kasagi, K. Nakano, Y. Ito,
// "Parallelization techniques for error diffusion with GPU implementations", CANDAR 2015.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace facesat {

// How errors are computed.
enum class HalftoneRule {
  real,    // 32f, as in the paper: intensities from 0 to 1, at most 1/2 becomes black
  integer  // whole numbers, with the results of Pillow's Image.convert("1")
};

// The rules. Error: of a pixel. Sum: of a pixel and the errors that it collects from the row above;
// `sum` adds them, from above on the left, above, and above on the right. `round` adds the error of
// the pixel to the left, and says whether the pixel becomes white, and with what error. `add` adds
// one error, in diffusion.
//
// `pixel` is pixel_bits plus the pixel: the bits of 2^23 plus the pixel as a real number. So a GPU
// converts a byte while it extracts it, without its slow unit for conversions.
inline constexpr std::uint32_t pixel_bits = 0x4B000000;

struct RealHalftone {
  using Error = float;
  using Sum = float;
  struct Rounded {
    bool is_white;
    Error error;
  };
  static constexpr float intensity(std::uint32_t pixel) {  // 255 is exactly 1
    return (std::bit_cast<float>(pixel) - 0x1p23f) * (1.0f / 255);
  }
  static constexpr Sum sum(std::uint32_t pixel, Error above_left, Error above, Error above_right) {
    return intensity(pixel) + 1.0f / 16 * above_left + 5.0f / 16 * above + 3.0f / 16 * above_right;
  }
  static constexpr void add(Sum& sum, int sixteenths, Error error) {
    sum += static_cast<float>(sixteenths) / 16 * error;
  }
  static constexpr Rounded round(Sum sum, Error left) {
    const float collected = sum + 7.0f / 16 * left;
    const bool is_white = collected > 0.5f;
    return {is_white, collected - (is_white ? 1.0f : 0.0f)};
  }
};

// Errors are whole numbers of the pixel's scale, 0 to 255. A sixteenth of their weighted sum is
// added, without its fraction; what then lies outside 0 to 255 is lost.
struct IntegerHalftone {
  using Error = std::int32_t;
  struct Sum {
    std::int32_t pixel, errors;
  };
  struct Rounded {
    bool is_white;
    Error error;
  };
  static constexpr Sum sum(std::uint32_t pixel, Error above_left, Error above, Error above_right) {
    return {static_cast<std::int32_t>(pixel - pixel_bits),
            above_left + 5 * above + 3 * above_right};
  }
  static constexpr void add(Sum& sum, int sixteenths, Error error) {
    sum.errors += sixteenths * error;
  }
  static constexpr Rounded round(Sum sum, Error left) {
    const std::int32_t moved = sum.pixel + (sum.errors + 7 * left) / 16;
    const std::int32_t value = moved < 0 ? 0 : moved > 255 ? 255 : moved;
    const bool is_white = value > 128;
    return {is_white, value - (is_white ? 255 : 0)};
  }
};

// ---- the definitions, pixel by pixel

// Error collection.
template <class Rule>
void collect_errors(View<const std::uint8_t> picture, View<std::uint8_t> halftone) {
  const int width = picture.size.width;
  // Errors of the row above and of this one, with one before the first and one after the last.
  std::vector<typename Rule::Error> above(static_cast<std::size_t>(width) + 2), own(above.size());
  for (int y = 0; y < picture.size.height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(x) + 1;
      const auto rounded = Rule::round(
          Rule::sum(pixel_bits + picture.row(y)[x], above[at - 1], above[at], above[at + 1]),
          own[at - 1]);
      halftone.row(y)[x] = rounded.is_white ? 255 : 0;
      own[at] = rounded.error;
    }
    own.swap(above);
  }
}

// Error diffusion.
template <class Rule>
void diffuse_errors(View<const std::uint8_t> picture, View<std::uint8_t> halftone) {
  using Sum = typename Rule::Sum;
  const int width = picture.size.width, height = picture.size.height;
  // Sums of this row and of the next one, with one before the first and one after the last.
  std::vector<Sum> own(static_cast<std::size_t>(width) + 2), below(own.size());
  const auto start = [&](int y, std::vector<Sum>& sums) {
    for (int x = 0; x < width && y < height; ++x)
      sums[static_cast<std::size_t>(x) + 1] = Rule::sum(pixel_bits + picture.row(y)[x], {}, {}, {});
  };
  start(0, own);
  for (int y = 0; y < height; ++y) {
    start(y + 1, below);
    for (int x = 0; x < width; ++x) {
      const auto at = static_cast<std::size_t>(x) + 1;
      const auto rounded = Rule::round(own[at], {});
      halftone.row(y)[x] = rounded.is_white ? 255 : 0;
      Rule::add(own[at + 1], 7, rounded.error);
      Rule::add(below[at + 1], 1, rounded.error);
      Rule::add(below[at], 5, rounded.error);
      Rule::add(below[at - 1], 3, rounded.error);
    }
    own.swap(below);
  }
}

// Calls visit(Rule()).
template <class Visit>
auto visit_rule(HalftoneRule rule, Visit visit) {
  return rule == HalftoneRule::real ? visit(RealHalftone()) : visit(IntegerHalftone());
}

}  // namespace facesat
