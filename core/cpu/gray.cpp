#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/gray.cpp"
#include "core/cpu/gray.hpp"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

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
template <class Pixel>
void GrayRowOf(const Pixel* from, int width, std::uint8_t* to) {
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
    hn::LoadInterleaved3(bytes, reinterpret_cast<const std::uint8_t*>(from + x), b, g, r);
    if constexpr (std::is_same_v<Pixel, Rgb>) std::swap(b, r);
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

void GrayRow(const Bgr* from, int width, std::uint8_t* to) {
  GrayRowOf(from, width, to);
}
void GrayRowRgb(const Rgb* from, int width, std::uint8_t* to) {
  GrayRowOf(from, width, to);
}

void ReverseRow(const Rgb* from, std::size_t width, Bgr* to) {
  std::size_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(tag)> r, g, b;
    hn::LoadInterleaved3(tag, &from[x].r, r, g, b);
    hn::StoreInterleaved3(b, g, r, tag, &to[x].b);
  }
#endif
  for (; x < width; ++x) to[x] = {from[x].b, from[x].g, from[x].r};
}

// ---- resizing
//
// Every pixel is (sum over two rows and two columns of weight * weight * pixel + 32768) >> 16, in
// integers, so either axis may come first. Here the two rows are mixed first: that pass reads
// memory contiguously, and the column pass, whose taps lie anywhere, then has only one row to read.

// mixed = first_weight * first + second_weight * second, at most 256 * 255.
void MixRows(const std::uint8_t* first, const std::uint8_t* second, const ResizeTap& tap, int width,
             std::uint16_t* mixed) {
  const hn::ScalableTag<std::uint16_t> tag;
  const hn::Rebind<std::uint8_t, decltype(tag)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  const auto a = hn::Set(tag, tap.first_weight), b = hn::Set(tag, tap.second_weight);
  int x = 0;
  for (; x + lanes <= width; x += lanes)
    hn::StoreU(a * hn::PromoteTo(tag, hn::LoadU(bytes, first + x)) +
                   b * hn::PromoteTo(tag, hn::LoadU(bytes, second + x)),
               tag, mixed + x);
  for (; x < width; ++x)
    mixed[x] =
        static_cast<std::uint16_t>(tap.first_weight * first[x] + tap.second_weight * second[x]);
}

// Mixes two values for each column: out = (256 * first + weight * (second - first) + 32768) >> 16.
// Each element of `pairs` is two adjacent 16-bit values of a mixed row; on little-endian machines
// the first one is the lower half.
void MixPairs(const std::uint32_t* pairs, const std::int32_t* weights, int width,
              std::uint8_t* out) {
  const hn::ScalableTag<std::int32_t> tag;
  const hn::Rebind<std::uint8_t, decltype(tag)> bytes;
  const int lanes = static_cast<int>(hn::Lanes(tag));
  const auto low = hn::Set(tag, 0xFFFF), half = hn::Set(tag, 32768);
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto pair = hn::LoadU(hn::RebindToUnsigned<decltype(tag)>(), pairs + x);
    const auto first = hn::And(hn::BitCast(tag, pair), low);
    const auto second = hn::BitCast(tag, hn::ShiftRight<16>(pair));
    const auto sum = hn::ShiftLeft<8>(first) + hn::LoadU(tag, weights + x) * (second - first);
    hn::StoreU(hn::DemoteTo(bytes, hn::ShiftRight<16>(sum + half)), bytes, out + x);
  }
  for (; x < width; ++x) {
    const auto first = static_cast<std::int32_t>(pairs[x] & 0xFFFF),
               second = static_cast<std::int32_t>(pairs[x] >> 16);
    out[x] = static_cast<std::uint8_t>((256 * first + weights[x] * (second - first) + 32768) >> 16);
  }
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
HWY_EXPORT(GrayRowRgb);
HWY_EXPORT(ReverseRow);
HWY_EXPORT(MixRows);
HWY_EXPORT(MixPairs);

void to_gray(View<const Bgr> frame, View<std::uint8_t> gray) {
  tbb::parallel_for(0, frame.size.height, [&](int y) {
    HWY_DYNAMIC_DISPATCH(GrayRow)(frame.row(y), frame.size.width, gray.row(y));
  });
}

void to_gray(View<const Rgb> frame, View<std::uint8_t> gray) {
  tbb::parallel_for(0, frame.size.height, [&](int y) {
    HWY_DYNAMIC_DISPATCH(GrayRowRgb)(frame.row(y), frame.size.width, gray.row(y));
  });
}

void reverse_colours(const Rgb* from, std::span<Bgr> to) {
  HWY_DYNAMIC_DISPATCH(ReverseRow)(from, to.size(), to.data());
}

void equalize(View<const std::uint8_t> gray, View<std::uint8_t> result) {
  if (gray.size.area() == 0) return;
  const auto map = equalizing_map(count_values(gray), gray.size.area());
  tbb::parallel_for(0, gray.size.height, [&](int y) {
    for (int x = 0; x < gray.size.width; ++x) result.row(y)[x] = map[gray.row(y)[x]];
  });
}

void resize(View<const std::uint8_t> gray, View<std::uint8_t> level,
            std::span<const ResizeTap> columns, std::span<const ResizeTap> rows) {
  const int width = level.size.width;
  const int left = columns.front().first, right = columns.back().second + 1;
  std::vector<std::uint16_t> mixed(right - left + 1);  // one more: the last column may pair with it
  std::vector<std::int32_t> firsts(width), weights(width);
  for (int x = 0; x < width; ++x) {
    firsts[x] = columns[x].first - left;
    // Where both taps are the same pixel, the weight of the second is 0.
    weights[x] = columns[x].second_weight;
  }
  std::vector<std::uint32_t> pairs(width);
  for (int y = 0; y < level.size.height; ++y) {
    const ResizeTap& tap = rows[y];
    HWY_DYNAMIC_DISPATCH(MixRows)
    (gray.row(tap.first) + left, gray.row(tap.second) + left, tap, right - left, mixed.data());
    for (int x = 0; x < width; ++x) std::memcpy(&pairs[x], &mixed[firsts[x]], sizeof(pairs[x]));
    HWY_DYNAMIC_DISPATCH(MixPairs)(pairs.data(), weights.data(), width, level.row(y));
  }
}

}  // namespace facesat::cpu
#endif
