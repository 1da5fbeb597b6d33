#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/gray.cpp"
#include "core/cpu/gray.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <tbb/parallel_for.h>

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void GrayRow(const Bgr* from, int width, std::uint8_t* to) {
  constexpr int blue = 3735, green = 19235, red = 9798, half = 1 << 14, bits = 15;
  int x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::int32_t, 16> tag;
  const hn::Rebind<std::uint8_t, decltype(tag)> bytes;
  const auto times = [tag](auto channel, int weight)
                         HWY_ATTR { return hn::PromoteTo(tag, channel) * hn::Set(tag, weight); };
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(bytes)> b, g, r;
    hn::LoadInterleaved3(bytes, &from[x].b, b, g, r);
    const auto sum = times(b, blue) + times(g, green) + times(r, red) + hn::Set(tag, half);
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<bits>(sum)), bytes, to + x);
  }
#endif
  for (; x < width; ++x)
    to[x] = static_cast<std::uint8_t>(
        (blue * from[x].b + green * from[x].g + red * from[x].r + half) >> bits);
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
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

HWY_EXPORT(GrayRow);

void to_gray(View<const Bgr> frame, View<std::uint8_t> gray) {
  tbb::parallel_for(0, frame.size.height, [&](int y) {
    HWY_DYNAMIC_DISPATCH(GrayRow)(frame.row(y), frame.size.width, gray.row(y));
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
#endif
