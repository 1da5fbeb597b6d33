#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boosting/sample_tables.cpp"
#include "boosting/sample_tables.hpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/rules.hpp"

#ifndef FACESAT_TRAIN_SAMPLE_TABLES
#define FACESAT_TRAIN_SAMPLE_TABLES
namespace facesat::training {

// The table rows at the corners of a feature's rectangles, in the order of rules::corner_signs.
struct HaarRows {
  const std::int32_t* corner[3][4];
  float weight[3];
};
struct LbpRows {
  const std::int32_t* corner[4][4];  // of the grid, row by row
};

}  // namespace facesat::training
#endif

HWY_BEFORE_NAMESPACE();
namespace facesat::training::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::CappedTag<std::int32_t, 16>;
using F32 = hn::CappedTag<float, 16>;

HWY_INLINE hn::Vec<I32> rectangle(const std::int32_t* const (&corner)[4], std::size_t i) {
  const I32 tag;
  return hn::LoadU(tag, corner[0] + i) - hn::LoadU(tag, corner[1] + i) -
         hn::LoadU(tag, corner[2] + i) + hn::LoadU(tag, corner[3] + i);
}

template <bool has_third>
HWY_INLINE void haar_values(const HaarRows& rows, const float* inverse_deviations, std::size_t n,
                            float* values) {
  const F32 tag;
  for (std::size_t i = 0; i < n; i += hn::Lanes(tag)) {
    auto value = hn::Set(tag, rows.weight[0]) * hn::ConvertTo(tag, rectangle(rows.corner[0], i)) +
                 hn::Set(tag, rows.weight[1]) * hn::ConvertTo(tag, rectangle(rows.corner[1], i));
    if constexpr (has_third)
      value =
          value + hn::Set(tag, rows.weight[2]) * hn::ConvertTo(tag, rectangle(rows.corner[2], i));
    hn::StoreU(value * hn::LoadU(tag, inverse_deviations + i), tag, values + i);
  }
}

void HaarValues(const HaarRows& rows, const float* inverse_deviations, std::size_t n,
                float* values) {
  if (rows.weight[2] != 0)
    haar_values<true>(rows, inverse_deviations, n, values);
  else
    haar_values<false>(rows, inverse_deviations, n, values);
}

void LbpCodes(const LbpRows& rows, std::size_t n, std::uint8_t* codes) {
  const I32 tag;
  const hn::Rebind<std::uint8_t, I32> bytes;
  const auto block = [&](int x, int y, std::size_t i) HWY_ATTR {
    return hn::LoadU(tag, rows.corner[y][x] + i) - hn::LoadU(tag, rows.corner[y][x + 1] + i) -
           hn::LoadU(tag, rows.corner[y + 1][x] + i) +
           hn::LoadU(tag, rows.corner[y + 1][x + 1] + i);
  };
  for (std::size_t i = 0; i < n; i += hn::Lanes(tag)) {
    const auto centre = block(1, 1, i);
    auto code = hn::Zero(tag);
    for (const rules::Corner& at : rules::lbp_blocks)
      code = hn::ShiftLeft<1>(code) +
             hn::IfThenZeroElse(hn::Lt(block(at.x, at.y, i), centre), hn::Set(tag, 1));
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + i);
  }
}

}  // namespace
}  // namespace facesat::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/cpu/integral.hpp"

namespace facesat::training {
namespace {

HWY_EXPORT(HaarValues);
HWY_EXPORT(LbpCodes);

bool has_tilted(const FeaturePool& pool) {
  return std::ranges::any_of(pool.haar, &HaarFeature::tilted);
}

float inverse_deviation(Size window, View<const std::uint32_t> sum,
                        View<const std::uint32_t> squared_sum) {
  const Rect r = rules::normalised_rectangle(window);
  const double area = static_cast<double>(r.width) * r.height;
  const auto sum_of = [&r](View<const std::uint32_t> table) -> double {
    return table.row(r.y + r.height - 1)[r.x + r.width - 1] -
           table.row(r.y - 1)[r.x + r.width - 1] - table.row(r.y + r.height - 1)[r.x - 1] +
           table.row(r.y - 1)[r.x - 1];
  };
  const double s = sum_of(sum);
  const double spread = area * sum_of(squared_sum) - s * s;
  return spread > 0 ? rules::inverse_deviation(spread) : 0;
}

}  // namespace

// The tables of one sample, before they are distributed over the rows of all samples.
struct SampleTables::Scratch {
  Table sum, squared_sum, tilted_sum;
};

SampleTables::SampleTables(const FeaturePool& pool, std::span<const Samples* const> parts)
    : window_(pool.window), squares_(traits_of(pool.kind).squares), tilted_(has_tilted(pool)) {
  for (const Samples* part : parts) count_ += part->count();
  constexpr int lanes = 64;  // of the largest vectors of bytes
  const int padded = divide_up(static_cast<int>(count_), lanes) * lanes;
  tables_ = Image<std::int32_t>({padded, row(0, 0, true) * (tilted_ ? 2 : 1)});
  for (int y = 0; y < tables_.size().height; ++y) std::fill_n(tables_.row(y), padded, 0);
  inverse_deviations_.assign(padded, 0);
  std::size_t first = 0;
  for (const Samples* part : parts) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, part->count(), lanes),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        Scratch scratch;
                        for (std::size_t i = range.begin(); i < range.end(); ++i)
                          add((*part)[i], first + i, scratch);
                      });
    first += part->count();
  }
}

void SampleTables::add(View<const std::uint8_t> picture, std::size_t sample, Scratch& scratch) {
  auto& [sum, squared_sum, tilted_sum] = scratch;
  sum.resize(window_);
  if (squares_) squared_sum.resize(window_);
  cpu::integral(picture, sum.view(), squares_ ? squared_sum.view() : View<std::uint32_t>());
  if (tilted_) {
    tilted_sum.resize(window_);
    cpu::tilted_integral(picture, tilted_sum.view());
  }
  for (int y = 0; y <= window_.height; ++y)
    for (int x = 0; x <= window_.width; ++x) {
      const auto element = [x, y](const Table& table) {
        return static_cast<std::int32_t>(table.view().row(y - 1)[x - 1]);
      };
      tables_.row(row(x, y, false))[sample] = element(sum);
      if (tilted_) tables_.row(row(x, y, true))[sample] = element(tilted_sum);
    }
  inverse_deviations_[sample] =
      squares_ ? inverse_deviation(window_, sum.view(), squared_sum.view()) : 1;
}

void SampleTables::values(const HaarFeature& feature, float* values) const {
  HaarRows rows{};
  for (std::size_t i = 0; i < feature.parts.size(); ++i) {
    const auto& [rect, weight] = feature.parts[i];
    rows.weight[i] = weight;
    if (weight == 0) continue;
    for (std::size_t k = 0; k < 4; ++k) {
      const rules::Corner corner = rules::corners_of(rect, feature.tilted)[k];
      rows.corner[i][k] = tables_.row(row(corner.x, corner.y, feature.tilted));
    }
  }
  HWY_DYNAMIC_DISPATCH(HaarValues)(rows, inverse_deviations_.data(), padded(), values);
}

void SampleTables::codes(const LbpFeature& feature, std::uint8_t* codes) const {
  LbpRows rows{};
  const Rect& b = feature.block;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i)
      rows.corner[j][i] = tables_.row(row(b.x + i * b.width, b.y + j * b.height, false));
  HWY_DYNAMIC_DISPATCH(LbpCodes)(rows, padded(), codes);
}

}  // namespace facesat::training
#endif
