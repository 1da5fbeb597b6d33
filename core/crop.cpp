#include "core/crop.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/resample.hpp"

namespace facesat {
namespace {

// To the nearest number, halves up.
int rounded(double number) {
  return static_cast<int>(std::floor(number + 0.5));
}

// length * numerator / denominator, rounded in the same way.
int scaled(int length, int numerator, int denominator) {
  const std::int64_t twice = 2 * std::int64_t{length} * numerator;
  return static_cast<int>((twice + denominator) / (2 * std::int64_t{denominator}));
}

}  // namespace

Rect crop_region(const Rect& box, const CropOptions& options) {
  const int dx = rounded(options.margin * box.width), dy = rounded(options.margin * box.height);
  Rect region{box.x - dx, box.y - dy, box.width + 2 * dx, box.height + 2 * dy};
  if (options.size.area() == 0) return region;
  const auto [width, height] = options.size;
  // At most one of them is positive.
  const int more_width = std::max(0, scaled(region.height, width, height) - region.width),
            more_height = std::max(0, scaled(region.width, height, width) - region.height);
  region.x -= more_width / 2;
  region.width += more_width;
  region.y -= more_height / 2;
  region.height += more_height;
  return region;
}

Image<Bgr> crop(View<const Bgr> picture, const Rect& box, const CropOptions& options) {
  const Rect region = crop_region(box, options);
  const Size cut_out{region.width, region.height};
  return resampled(picture, region, options.size.area() == 0 ? cut_out : options.size);
}

}  // namespace facesat
