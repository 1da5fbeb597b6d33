#include "core/cpu/gray.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <tbb/parallel_for.h>

namespace facesat::cpu {
namespace {

using Histogram = std::array<std::uint32_t, 256>;

Histogram count_values(View<const std::uint8_t> gray) {
  Histogram histogram{};
  for (int y = 0; y < gray.size.height; ++y)
    for (int x = 0; x < gray.size.width; ++x) ++histogram[gray.row(y)[x]];
  return histogram;
}

// The darkest value present becomes 0; the others follow the cumulative histogram, in f32.
std::array<std::uint8_t, 256> equalizing_map(const Histogram& histogram, std::size_t pixels) {
  std::array<std::uint8_t, 256> map{};
  std::size_t darkest = 0;
  while (histogram[darkest] == 0) ++darkest;
  if (histogram[darkest] == pixels) {
    map[darkest] = static_cast<std::uint8_t>(darkest);
    return map;
  }
  const float scale = 255.0f / static_cast<float>(pixels - histogram[darkest]);
  std::uint32_t sum = 0;
  for (std::size_t i = darkest + 1; i < map.size(); ++i) {
    sum += histogram[i];
    map[i] = static_cast<std::uint8_t>(std::min(std::lrint(static_cast<float>(sum) * scale), 255l));
  }
  return map;
}

}  // namespace

void to_gray(View<const Bgr> frame, View<std::uint8_t> gray) {
  tbb::parallel_for(0, frame.size.height, [&](int y) {
    const Bgr* from = frame.row(y);
    std::uint8_t* to = gray.row(y);
    for (int x = 0; x < frame.size.width; ++x)
      to[x] = static_cast<std::uint8_t>(
          (3735 * from[x].b + 19235 * from[x].g + 9798 * from[x].r + 16384) >> 15);
  });
}

void equalize(View<const std::uint8_t> gray, View<std::uint8_t> result) {
  if (gray.size.area() == 0) return;
  const auto map = equalizing_map(count_values(gray), gray.size.area());
  tbb::parallel_for(0, gray.size.height, [&](int y) {
    for (int x = 0; x < gray.size.width; ++x) result.row(y)[x] = map[gray.row(y)[x]];
  });
}

}  // namespace facesat::cpu
