// The rules that turn sums over a window into pixels, written once for the CPU and the GPU.
// Functions that need a square root are templates, because the standard's is not constexpr, and
// only constexpr functions are compiled for a GPU, too.
#pragma once

#include <cmath>
#include <cstdint>

namespace facesat {

// The quotient, rounded to the nearest integer, halves up, and clamped to 0 to 255. The divisor is
// positive. Sums are those of 32-bit integers.
constexpr std::uint8_t rounded_pixel(std::int64_t sum, std::int64_t divisor) {
  const std::int64_t doubled = 2 * sum + divisor;
  if (doubled < 0) return 0;
  const std::int64_t quotient = doubled / (2 * divisor);
  return static_cast<std::uint8_t>(quotient > 255 ? 255 : quotient);
}

// Sums over the pixels of a window, of their values, squares and cubes: whole numbers.
struct WindowSums {
  std::int64_t pixels = 1;
  std::int64_t sum = 0, squares = 0;
  double cubes = 0;  // exact up to 2^53
};

// pixels^2 times the variance: a whole number below 2^63 up to greatest_filter_radius. The products
// may exceed 2^63; their difference does not, so they may wrap.
constexpr std::int64_t scaled_variance(const WindowSums& of) {
  const auto pixels = static_cast<std::uint64_t>(of.pixels),
             sum = static_cast<std::uint64_t>(of.sum);
  return static_cast<std::int64_t>(pixels * static_cast<std::uint64_t>(of.squares) - sum * sum);
}

// The mean of (value - mean)^2 over the window.
constexpr double variance_of(const WindowSums& of) {
  const auto pixels = static_cast<double>(of.pixels);
  return static_cast<double>(scaled_variance(of)) / (pixels * pixels);
}

// The mean of (value - mean)^3 divided by the standard deviation's third power; 0 if all values are
// equal.
template <class Real = double>
constexpr Real skewness_of(const WindowSums& of) {
  if (scaled_variance(of) == 0) return 0;
  const auto pixels = static_cast<Real>(of.pixels);
  const Real mean = static_cast<Real>(of.sum) / pixels, variance = variance_of(of);
  const Real third = of.cubes / pixels - 3 * mean * (static_cast<Real>(of.squares) / pixels) +
                     2 * mean * mean * mean;
  return third / (variance * std::sqrt(variance));
}

// White (255) if the pixel exceeds the rounded mean of its window minus `offset`, else black (0).
// Source: OpenCV's adaptiveThreshold with ADAPTIVE_THRESH_MEAN_C and THRESH_BINARY.
constexpr std::uint8_t threshold_pixel(std::uint8_t pixel, const WindowSums& of, int offset) {
  return pixel > rounded_pixel(of.sum, of.pixels) - offset ? 255 : 0;
}

// The standard deviation as a pixel, for display.
template <class Real = double>
constexpr std::uint8_t deviation_pixel(const WindowSums& of) {
  return static_cast<std::uint8_t>(std::sqrt(static_cast<Real>(variance_of(of))) +
                                   Real{0.5});  // at most 128
}

// The skewness as a pixel, for display: 128 where values lie evenly about their mean, brighter
// where few of them are much greater than the others, darker where few are much smaller.
template <class Real = double>
constexpr std::uint8_t skewness_pixel(const WindowSums& of) {
  const Real pixel = Real{128.5} + Real{32} * skewness_of<Real>(of);
  return static_cast<std::uint8_t>(pixel < 0 ? Real{0} : pixel > 255 ? Real{255} : pixel);
}

// The length of the gradient as a pixel, for display: |dx| + |dy| of Sobel's derivatives of a
// radius, in units of radius 1, whose weights are a sixteenth of those of the next one; clamped to
// 255.
constexpr std::uint8_t gradient_pixel(std::int32_t dx, std::int32_t dy, int radius) {
  const std::int32_t length = ((dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy)) >> 4 * (radius - 1);
  return static_cast<std::uint8_t>(length > 255 ? 255 : length);
}

}  // namespace facesat
