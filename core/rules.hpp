// The rules of exactness: what OpenCV 4.6 computes to the last bit, each written once for every
// backend. Device code calls the same functions; the CPU's vector code uses the same constants, and
// tests check the rest of it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "core/image.hpp"

namespace facesat::rules {

// To the nearest integer, ties to even: cvRound.
template <class Real>
constexpr int round_even(Real value) {
  return static_cast<int>(::lrint(static_cast<double>(value)));
}

// ---- frame -> gray: fixed point with 15 fraction bits, rounded half up

constexpr int blue_weight = 3735, green_weight = 19235, red_weight = 9798;
constexpr int gray_bits = 15, gray_half = 1 << (gray_bits - 1);

constexpr std::uint8_t gray_of(unsigned blue, unsigned green, unsigned red) {
  return static_cast<std::uint8_t>(
      (blue_weight * blue + green_weight * green + red_weight * red + gray_half) >> gray_bits);
}

// ---- equalisation: the darkest value present becomes 0; the others follow the cumulative
// histogram, in f32. A picture of one value stays as it is.

// The new value of pixels that have `value`. `up_to_value` is the number of pixels that are not
// brighter than `value`.
constexpr std::uint8_t equalized(int value, std::uint32_t up_to_value, int darkest,
                                 std::uint32_t darkest_count, std::size_t pixels) {
  if (value <= darkest)
    return static_cast<std::uint8_t>(value == darkest && darkest_count == pixels ? value : 0);
  if (darkest_count == pixels) return 0;
  const float scale = 255.0f / static_cast<float>(pixels - darkest_count);
  const int mapped = round_even(static_cast<float>(up_to_value - darkest_count) * scale);
  return static_cast<std::uint8_t>(mapped < 255 ? mapped : 255);
}

// ---- levels and boxes

// Converts a length, a position or a window's size from pixels of a level to pixels of the image.
constexpr int in_image(int length, float scale) {
  return round_even(static_cast<float>(length) * scale);
}
constexpr Size in_image(Size window, float scale) {
  return {in_image(window.width, scale), in_image(window.height, scale)};
}

// The part of a box that lies in the image. Where the whole box lies outside, a side of the result
// is zero or negative.
constexpr Rect clipped(const Rect& box, Size image) {
  const int left = box.x > 0 ? box.x : 0, top = box.y > 0 ? box.y : 0;
  const int right = box.x + box.width < image.width ? box.x + box.width : image.width,
            bottom = box.y + box.height < image.height ? box.y + box.height : image.height;
  return {left, top, right - left, bottom - top};
}

// ---- features

// A point between pixels: (0, 0) is the window's top left corner.
struct Corner {
  int x, y;
  auto operator<=>(const Corner&) const = default;
};

// The points at which a table is read for a rectangle's sum, in the order of `corner_signs`. Tilted
// rectangles: see HaarFeature.
constexpr std::array<Corner, 4> corners_of(const Rect& r, bool tilted) {
  if (tilted)
    return {{{r.x, r.y},
             {r.x - r.height, r.y + r.height},
             {r.x + r.width, r.y + r.width},
             {r.x + r.width - r.height, r.y + r.width + r.height}}};
  return {
      {{r.x, r.y}, {r.x + r.width, r.y}, {r.x, r.y + r.height}, {r.x + r.width, r.y + r.height}}};
}
constexpr std::array<int, 4> corner_signs{1, -1, -1, 1};

// The value of a Haar feature before normalisation; sum(i) gives the sum of its i-th rectangle. The
// order of these f32 operations affects the result, so it is OpenCV's.
template <class Sum>
constexpr float haar_value(const float (&weight)[3], Sum sum) {
  float value = weight[0] * sum(0) + weight[1] * sum(1);
  if (weight[2] != 0) value += weight[2] * sum(2);
  return value;
}

// The blocks around the centre of an LBP feature, clockwise from the top left: the order of the
// code's bits, the highest first. A bit is set if its block is not below the centre.
constexpr std::array<Corner, 8> lbp_blocks{
    {{0, 0}, {1, 0}, {2, 0}, {2, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}}};

// ---- variance normalisation of Haar windows

// The rectangle of a window whose variance is used: all but the outermost pixels.
constexpr Rect normalised_rectangle(Size window) {
  return {1, 1, window.width - 2, window.height - 2};
}

// 1 / (area * standard deviation). `spread` is area * sum of squares - sum^2, which f64 holds
// exactly.
template <class Real>
constexpr float inverse_deviation(Real spread) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(spread)));
}

// Low-variance windows, whose area * inverse_deviation is not below this, are rejected before the
// first stage.
constexpr double low_variance = 0.1;

// inverse_deviation(), or 0 for a low-variance window.
template <class Real>
constexpr float normalisation(double area, Real spread) {
  if (spread <= 0) return 0;
  const float inverse = inverse_deviation(spread);
  return area * static_cast<double>(inverse) < low_variance ? inverse : 0;
}

// ---- the skip rule: after a window that the first stage rejects, the next one in its row is
// skipped; a skipped window does not cause another skip. So in a run of windows that the first
// stage rejects, or would reject, every second one is skipped, and so is the window after a run of
// odd length.

// Whether the window after `run` consecutive rejected windows is skipped.
constexpr bool is_skipped_after(int run) {
  return run % 2 != 0;
}

// The skip rule for all windows of a word, one bit per window: from the rejected windows, returns
// the skipped ones. Every run of rejected windows must begin in this word. Adding the first bit of
// each run that starts at an even bit clears that run by its carry, which separates these runs from
// the others.
template <class Word>
constexpr Word skipped_by(Word rejected) {
  constexpr Word even = static_cast<Word>(0x5555555555555555u);
  const Word starts = rejected & ~(rejected << 1);
  const Word from_even = rejected & ~(rejected + (starts & even));
  const Word from_odd = rejected & ~from_even;
  return (from_even << 1 & ~even) | (from_odd << 1 & even);
}

}  // namespace facesat::rules
