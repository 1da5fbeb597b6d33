#include "core/pyramid.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/rules.hpp"

namespace facesat {
namespace {

constexpr std::size_t max_levels = 1 << 16;  // far more than any useful scale factor gives

// Every scale at which the window still fits into the image.
std::vector<float> fitting_scales(Size image, Size window, double factor) {
  std::vector<float> scales;
  // Compared as doubles: a large factor soon leaves the range of int.
  for (double f = 1.0; std::nearbyint(window.width * f) <= image.width &&
                       std::nearbyint(window.height * f) <= image.height;
       f *= factor) {
    if (scales.size() == max_levels)
      throw ArgumentError(
          fmt::format("the scale factor {} is too close to 1: it gives more than {} levels", factor,
                      max_levels));
    scales.push_back(static_cast<float>(f));
  }
  return scales;
}

// The squared distance of two sizes. OpenCV computes it in 32 bits and lets it wrap.
std::int32_t distance(Size a, Size b) {
  const auto dx = static_cast<std::uint32_t>(a.width) - static_cast<std::uint32_t>(b.width);
  const auto dy = static_cast<std::uint32_t>(a.height) - static_cast<std::uint32_t>(b.height);
  return static_cast<std::int32_t>(dx * dx + dy * dy);
}

// The scales at which the window lies between the size limits; if there is none, the scale at which
// it is nearest to the lower limit.
std::vector<float> chosen_scales(Size image, Size window, const DetectOptions& options) {
  const std::vector<float> all = fitting_scales(image, window, options.scale_factor);
  const Size low = options.min_size;
  const Size high =
      options.max_size.width == 0 || options.max_size.height == 0 ? image : options.max_size;
  std::vector<float> chosen;
  for (const float scale : all) {
    const Size size = rules::in_image(window, scale);
    if (size.width > high.width || size.height > high.height) break;
    if (size.width < low.width || size.height < low.height) continue;
    chosen.push_back(scale);
  }
  if (chosen.empty() && !all.empty())
    chosen.push_back(*std::min_element(all.begin(), all.end(), [&](float a, float b) {
      return distance(low, rules::in_image(window, a)) < distance(low, rules::in_image(window, b));
    }));
  return chosen;
}

// The number of positions of a window of `window_length` pixels along `length` pixels.
int positions(int length, int window_length, int step) {
  return length < window_length ? 0 : (length - window_length) / step + 1;
}

// The rows of windows of a level. OpenCV cuts every level into the same number of stripes, one for
// each 32 window positions across the first level. At step 2 it computes the rows of a stripe from
// half the height rounded down. If the height is odd and that half is a multiple of `stripes`, the
// last row of windows belongs to no stripe and is left out.
int rows_in_stripes(Size level, Size window, int step, int stripes) {
  const int height = level.height - window.height + 1;
  const int stripe_height = std::max((height / step + stripes - 1) / stripes, 1) * step;
  return (std::min(stripes * stripe_height, height) + step - 1) / step;
}

Level make_level(Size image, Size window, float scale, Scan scan) {
  Level level;
  level.scale = scale;
  level.size = {rules::round_even(static_cast<float>(image.width) / scale),
                rules::round_even(static_cast<float>(image.height) / scale)};
  level.step = scan == Scan::dense || scale >= 2 ? 1 : 2;
  level.grid = {positions(level.size.width, window.width, level.step),
                positions(level.size.height, window.height, level.step)};
  return level;
}

std::vector<Level> make_levels(Size image, Size window, const DetectOptions& options) {
  std::vector<Level> levels;
  for (const float scale : chosen_scales(image, window, options))
    levels.push_back(make_level(image, window, scale, options.scan));
  if (options.scan == Scan::opencv && !levels.empty()) {
    const int stripes = (positions(levels.front().size.width, window.width, 1) + 31) / 32;
    for (Level& level : levels)
      level.grid.height = rows_in_stripes(level.size, window, level.step, stripes);
  }
  return levels;
}

}  // namespace

void check(const DetectOptions& options) {
  if (!(options.scale_factor > 1) || !std::isfinite(options.scale_factor))
    throw ArgumentError(
        fmt::format("the scale factor must be greater than 1, not {}", options.scale_factor));
  if (options.min_neighbors < 0)
    throw ArgumentError(
        fmt::format("the number of neighbours must not be negative: {}", options.min_neighbors));
  for (const auto& [size, name] :
       {std::pair{options.min_size, "smallest"}, {options.max_size, "largest"}})
    if (size.width < 0 || size.height < 0)
      throw ArgumentError(fmt::format("the {} face size must not be negative: {}x{}", name,
                                      size.width, size.height));
  if (std::isnan(options.min_score)) throw ArgumentError("the lowest score must be a number");
}

Pyramid plan_pyramid(Size image, Size window, const DetectOptions& options) {
  check(options);
  return {image, window, make_levels(image, window, options)};
}

std::vector<ResizeTap> resize_taps(int source, int length) {
  std::vector<ResizeTap> taps(length);
  const double inverse = static_cast<double>(length) / source;
  const double scale = 1.0 / inverse;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double position = scale * (static_cast<double>(i) + 0.5) - 0.5;
    const int k = static_cast<int>(std::floor(position));
    if (k < 0) {
      taps[i] = {0, 0, 256, 0};
    } else if (k >= source - 1) {
      taps[i] = {source - 1, source - 1, 256, 0};
    } else {
      const auto second = static_cast<std::uint16_t>(rules::round_even((position - k) * 256));
      taps[i] = {k, k + 1, static_cast<std::uint16_t>(256 - second), second};
    }
  }
  return taps;
}

Rect window_in_image(const Level& level, Size window, int x, int y) {
  const Size size = rules::in_image(window, level.scale);
  return {rules::in_image(x, level.scale), rules::in_image(y, level.scale), size.width,
          size.height};
}

}  // namespace facesat
