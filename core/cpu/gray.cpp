#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/gray.cpp"
#include "core/cpu/gray.hpp"

#include <array>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <tbb/parallel_for.h>

#include "core/rules.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Converts one row, a vector of 16-bit lanes at a time. A product of a channel and its weight has
// up to 23 bits, so its whole part (the bits from 15 on) and its fraction (the bits below) are
// summed separately, and what the fractions, and one half for rounding, carry is added to the
// whole.
void GrayRow(const Bgr* from, int width, std::uint8_t* to) {
  int x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint16_t> tag;
  const hn::Rebind<std::uint8_t, decltype(tag)> bytes;
  const hn::RebindToSigned<decltype(tag)> demoted;
  static_assert(rules::gray_bits == 15);
  const auto low_bits = hn::Set(tag, (1 << rules::gray_bits) - 1);
  auto whole = hn::Zero(tag), fraction = hn::Zero(tag);
  const auto add = [&](auto channel, std::uint16_t weight) HWY_ATTR {
    const auto value = hn::PromoteTo(tag, channel);
    whole = whole + hn::MulHigh(value, hn::Set(tag, static_cast<std::uint16_t>(2 * weight)));
    fraction = hn::And(fraction, low_bits) + hn::And(value * hn::Set(tag, weight), low_bits);
    whole = whole + hn::ShiftRight<rules::gray_bits>(fraction);
  };
  const int lanes = static_cast<int>(hn::Lanes(tag));
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(bytes)> b, g, r;
    hn::LoadInterleaved3(bytes, &from[x].b, b, g, r);
    whole = hn::Zero(tag);
    fraction = hn::Set(tag, rules::gray_half);
    add(b, rules::blue_weight);
    add(g, rules::green_weight);
    add(r, rules::red_weight);
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(demoted, whole)), bytes, to + x);
  }
#endif
  for (; x < width; ++x) to[x] = rules::gray_of(from[x].b, from[x].g, from[x].r);
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

// For each value, the value that replaces it.
std::array<std::uint8_t, 256> equalizing_map(const Histogram& histogram, std::size_t pixels) {
  int darkest = 0;
  while (histogram[darkest] == 0) ++darkest;
  std::array<std::uint8_t, 256> map{};
  std::uint32_t up_to_value = 0;
  for (int value = 0; value < 256; ++value) {
    up_to_value += histogram[value];
    map[value] = rules::equalized(value, up_to_value, darkest, histogram[darkest], pixels);
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
