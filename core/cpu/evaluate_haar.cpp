#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/evaluate_haar.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/cpu/compiled.hpp"
#include "core/cpu/haar.hpp"
#include "core/cpu/scan-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

HWY_INLINE hn::Vec<F32> rectangle(const Corners& c, const std::uint32_t* windows) {
  const U32 tag;
  const auto sum = hn::LoadU(tag, windows + c.offset[0]) - hn::LoadU(tag, windows + c.offset[1]) -
                   hn::LoadU(tag, windows + c.offset[2]) + hn::LoadU(tag, windows + c.offset[3]);
  return hn::ConvertTo(F32(), hn::BitCast(I32(), sum));
}

using F64 = hn::CappedTag<double, 8>;

HWY_INLINE hn::Vec<F64> rectangle_f64(const Corners& c, const std::uint32_t* windows) {
  const hn::Rebind<std::uint32_t, F64> tag;
  const hn::Rebind<std::int32_t, F64> itag;
  const auto sum = hn::LoadU(tag, windows + c.offset[0]) - hn::LoadU(tag, windows + c.offset[1]) -
                   hn::LoadU(tag, windows + c.offset[2]) + hn::LoadU(tag, windows + c.offset[3]);
  // There is no conversion of unsigned integers everywhere.
  const auto moved = hn::BitCast(itag, hn::Xor(sum, hn::Set(tag, 0x80000000u)));
  return hn::PromoteTo(F64(), moved) + hn::Set(F64(), 0x1p31);
}

struct HaarVectors {
  static HWY_INLINE Masks go_left(const HaarQuestion& q, const std::uint32_t* windows,
                                  const Floats& inverse_deviations) {
    const F32 tag;
    Floats value;
    for (std::size_t v = 0; v < vectors; ++v)
      value.part[v] = hn::Set(tag, q.weight[0]) * rectangle(q.corners[0], windows + v * lanes) +
                      hn::Set(tag, q.weight[1]) * rectangle(q.corners[1], windows + v * lanes);
    if (q.weight[2] != 0)
      for (std::size_t v = 0; v < vectors; ++v)
        value.part[v] = value.part[v] +
                        hn::Set(tag, q.weight[2]) * rectangle(q.corners[2], windows + v * lanes);
    Masks left;
    for (std::size_t v = 0; v < vectors; ++v)
      left.part[v] = hn::Lt(value.part[v] * inverse_deviations.part[v], hn::Set(tag, q.threshold));
    return left;
  }

  static HWY_INLINE std::uint64_t contrasts(const HaarContrast& contrast,
                                            const std::uint32_t* windows, std::ptrdiff_t squares,
                                            int count, float* inverse_deviations) {
    const F64 tag;
    const hn::Rebind<float, F64> floats;
    const auto area = hn::Set(tag, contrast.area), one = hn::Set(tag, 1.0);
    std::uint64_t varied = 0;
    for (int i = 0; i < count; i += static_cast<int>(hn::Lanes(tag))) {
      const auto sum = rectangle_f64(contrast.corners, windows + i);
      const auto spread = area * rectangle_f64(contrast.corners, windows + squares + i) - sum * sum;
      // Where the spread is 0 or, behind the last window, anything: compared, but not used.
      const auto inverse = hn::DemoteTo(floats, one / hn::Sqrt(spread));
      const auto varies = hn::And(hn::Gt(spread, hn::Zero(tag)),
                                  hn::Lt(area * hn::PromoteTo(tag, inverse), hn::Set(tag, 0.1)));
      hn::StoreU(inverse, floats, inverse_deviations + i);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(tag, varies, bits);
      varied |= std::uint64_t{bits[0]} << i;
    }
    return varied;
  }
};

void ScanHaar(const Compiled<HaarQuestion, HaarContrast>& cascade, const Tile& tile, bool skip_rule,
              std::uint8_t* skips, EvaluationMemory& memory, std::vector<Candidate>& windows) {
  TileScan<HaarVectors, std::remove_cvref_t<decltype(cascade)>>(cascade, tile, memory)
      .run(skip_rule, skips, windows);
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {
namespace {

HWY_EXPORT(ScanHaar);

class HaarEvaluator final : public Evaluator {
 public:
  HaarEvaluator(const Cascade& cascade, const TileShape& shape) : cascade_(cascade, shape) {}

  void scan(const Tile& tile, bool skip_rule, std::uint8_t* skips, EvaluationMemory& memory,
            std::vector<Candidate>& windows) const override {
    HWY_DYNAMIC_DISPATCH(ScanHaar)(cascade_, tile, skip_rule, skips, memory, windows);
  }
  void depths(const Tile& tile, int row, std::uint32_t* depths) const override {
    cascade_.depths(tile, row, depths);
  }

 private:
  Compiled<HaarQuestion, HaarContrast> cascade_;
};

}  // namespace

std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, const TileShape& shape) {
  return std::make_unique<HaarEvaluator>(cascade, shape);
}

}  // namespace facesat::cpu
#endif
