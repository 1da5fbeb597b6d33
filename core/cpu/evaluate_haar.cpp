#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/evaluate_haar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/cpu/compiled.hpp"
#include "core/cpu/haar.hpp"
#include "core/cpu/tile_windows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

// The sum of one rectangle in each window of a batch.
template <class F32, std::size_t n>
HWY_INLINE Floats<F32, n> rectangles(const Corners& corners, const Batch<F32, n>& batch) {
  const U32<F32> tag;
  const auto [a, b, c, d] = corners.offset;
  Floats<F32, n> sums;
  for (std::size_t v = 0; v < n; ++v) {
    const std::uint32_t* const at = batch.windows[v];
    const auto sum = hn::LoadU(tag, at + a) - hn::LoadU(tag, at + b) - hn::LoadU(tag, at + c) +
                     hn::LoadU(tag, at + d);
    sums[v] = hn::ConvertTo(F32(), hn::BitCast(I32<F32>(), sum));
  }
  return sums;
}

using F64 = hn::CappedTag<double, 8>;

// The sum of one rectangle in each of as many adjacent windows as F64 has lanes.
HWY_INLINE hn::Vec<F64> rectangle_f64(const Corners& c, const std::uint32_t* windows) {
  const hn::Rebind<std::uint32_t, F64> tag;
  const hn::Rebind<std::int32_t, F64> itag;
  const auto sum = hn::LoadU(tag, windows + c.offset[0]) - hn::LoadU(tag, windows + c.offset[1]) -
                   hn::LoadU(tag, windows + c.offset[2]) + hn::LoadU(tag, windows + c.offset[3]);
  // The sum less 2^31 as a signed integer, because not every instruction set converts unsigned
  // ones.
  const auto moved = hn::BitCast(itag, hn::Xor(sum, hn::Set(tag, 0x80000000u)));
  return hn::PromoteTo(F64(), moved) + hn::Set(F64(), 0x1p31);
}

struct HaarVectors {
  // Eight lanes even where vectors have sixteen: nearly every load of sixteen elements crosses a
  // cache line, and more lanes are lost to rejected windows.
  using Neighbours = hn::CappedTag<float, 8>;
  static constexpr std::size_t batch_vectors = 4;

  // The node test for each window of a batch.
  template <class F32, std::size_t n>
  static HWY_INLINE Masks<F32, n> go_left(const HaarTest& q, const Batch<F32, n>& batch) {
    const F32 tag;
    Floats<F32, n> value = rectangles(q.corners[0], batch);
    const Floats<F32, n> second = rectangles(q.corners[1], batch);
    for (std::size_t v = 0; v < n; ++v)
      value[v] = hn::Set(tag, q.weight[0]) * value[v] + hn::Set(tag, q.weight[1]) * second[v];
    if (q.has_third()) {
      const Floats<F32, n> third = rectangles(q.corners[2], batch);
      for (std::size_t v = 0; v < n; ++v)
        value[v] = value[v] + hn::Set(tag, q.weight[2]) * third[v];
    }
    Masks<F32, n> left;
    for (std::size_t v = 0; v < n; ++v)
      left[v] = hn::Lt(value[v] * batch.inverse_deviations[v], hn::Set(tag, q.threshold));
    return left;
  }

  // Writes the inverse deviations of `count` adjacent windows. Returns a bit for each window, which
  // is set if its variance is high enough.
  static HWY_INLINE std::uint64_t normalise(const HaarNormalisation& normalisation,
                                            const std::uint32_t* windows, std::ptrdiff_t squares,
                                            int count, float* inverse_deviations) {
    const F64 tag;
    const hn::Rebind<float, F64> floats;
    const auto area = hn::Set(tag, normalisation.area), one = hn::Set(tag, 1.0);
    std::uint64_t varied = 0;
    for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(tag))) {
      const auto sum = rectangle_f64(normalisation.corners, windows + i);
      const auto spread =
          area * rectangle_f64(normalisation.corners, windows + squares + i) - sum * sum;
      // A spread of 0 or less gives infinity or NaN, which is not below any bound.
      const auto inverse = hn::DemoteTo(floats, one / hn::Sqrt(spread));
      const auto varies =
          hn::Lt(area * hn::PromoteTo(tag, inverse), hn::Set(tag, rules::low_variance));
      hn::StoreU(inverse, floats, inverse_deviations + i);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(tag, varies, bits);
      varied |= std::uint64_t{bits[0]} << i;
    }
    return varied;
  }
};

void FindHaar(const CompiledHaar& cascade, const Tile& tile, bool skip_rule, std::uint8_t* skips,
              EvaluationMemory& memory, std::vector<Survivor>& windows, StopMeter& meter) {
  TileWindows<HaarVectors, CompiledHaar>(cascade, tile, memory, meter)
      .run(skip_rule, skips, windows);
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {
namespace {

HWY_EXPORT(FindHaar);

void find_in_tile(const CompiledHaar& cascade, const Tile& tile, bool skip_rule,
                  std::uint8_t* skips, EvaluationMemory& memory, std::vector<Survivor>& windows,
                  StopMeter& meter) {
  HWY_DYNAMIC_DISPATCH(FindHaar)(cascade, tile, skip_rule, skips, memory, windows, meter);
}

}  // namespace

std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, const TileShape& shape) {
  return std::make_unique<CompiledEvaluator<CompiledHaar, find_in_tile>>(cascade, shape);
}

}  // namespace facesat::cpu
#endif
