// Every pixel is (sum over two rows and two columns of weight * weight * pixel + 32768) >> 16, in
// integers, so either axis may come first. Here the two rows are mixed first: that pass reads
// memory contiguously, and the column pass, whose taps lie anywhere, then has only one row to read.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/resize.cpp"
#include "core/cpu/resize.hpp"

#include <cstring>
#include <vector>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

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

HWY_EXPORT(MixRows);
HWY_EXPORT(MixPairs);

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
