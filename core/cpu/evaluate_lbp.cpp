#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/evaluate_lbp.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/cpu/compiled.hpp"
#include "core/cpu/lbp.hpp"
#include "core/cpu/tile_windows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

// For each lane, the word of the node's subset that the upper three bits of the lane's code select.
template <class U32>
HWY_INLINE hn::Vec<U32> words_of(U32 tag, const LbpTest& q, hn::Vec<U32> codes) {
  const auto index = hn::ShiftRight<5>(codes);
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(tag, q.subset[hn::GetLane(index)]);
#else
  if constexpr (hn::MaxLanes(tag) == 4) {
    const auto low = hn::LoadU(tag, q.subset.data()), high = hn::LoadU(tag, q.subset.data() + 4);
    const auto in_four = hn::IndicesFromVec(tag, index & hn::Set(tag, 3));
    return hn::IfThenElse(hn::Gt(index, hn::Set(tag, 3)), hn::TableLookupLanes(high, in_four),
                          hn::TableLookupLanes(low, in_four));
  } else if constexpr (hn::MaxLanes(tag) == 8) {
    return hn::TableLookupLanes(hn::LoadU(tag, q.subset.data()), hn::IndicesFromVec(tag, index));
  } else {
    const auto table = hn::ZeroExtendVector(tag, hn::LoadU(hn::Half<U32>(), q.subset.data()));
    return hn::TableLookupLanes(table, hn::IndicesFromVec(tag, index));
  }
#endif
}

// The node test for each window of a vector; `windows` is the first one's corner (0, 0).
template <class F32>
HWY_INLINE hn::Mask<F32> goes_left(F32, const LbpTest& q, const std::uint32_t* windows) {
  const U32<F32> tag;
  using Vec = hn::Vec<U32<F32>>;
  // First the differences along x in each of the four rows of corners, then the blocks' sums.
  Vec edge[4][3];
  for (int j = 0; j < 4; ++j) {
    Vec corner[4];
    for (int i = 0; i < 4; ++i) corner[i] = hn::LoadU(tag, windows + q.offset[j][i]);
    for (int i = 0; i < 3; ++i) edge[j][i] = corner[i + 1] - corner[i];
  }
  const Vec centre = edge[2][1] - edge[1][1];
  Vec codes = hn::Set(tag, 255);
  for (std::size_t n = 0; n < rules::lbp_blocks.size(); ++n) {
    const auto [x, y] = rules::lbp_blocks[n];
    const Vec block = edge[y + 1][x] - edge[y][x];
    const Vec bit = hn::Set(tag, 128u >> n);
    codes = codes - hn::IfThenElseZero(hn::Lt(block, centre), bit);
  }
  const Vec bits = words_of(tag, q, codes) >> (codes & hn::Set(tag, 31));
  return hn::RebindMask(F32(), hn::TestBit(bits, hn::Set(tag, 1)));
}

struct LbpVectors {
  // One node test already fills the vector registers.
  using Neighbours = hn::CappedTag<float, 16>;
  static constexpr std::size_t batch_vectors = 1;

  template <class F32, std::size_t n>
  static HWY_INLINE Masks<F32, n> go_left(const LbpTest& q, const Batch<F32, n>& batch) {
    Masks<F32, n> left;
    for (std::size_t v = 0; v < n; ++v) left[v] = goes_left(F32(), q, batch.windows[v]);
    return left;
  }

  // LBP needs no normalisation: the variance of every window counts as high enough.
  static HWY_INLINE std::uint64_t normalise(const LbpNormalisation&, const std::uint32_t*,
                                            std::ptrdiff_t, int, float*) {
    return ~std::uint64_t{0};
  }
};

void FindLbp(const CompiledLbp& cascade, const Tile& tile, bool skip_rule, std::uint8_t* skips,
             EvaluationMemory& memory, std::vector<Survivor>& windows, StopMeter& meter) {
  TileWindows<LbpVectors, CompiledLbp>(cascade, tile, memory, meter).run(skip_rule, skips, windows);
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {
namespace {

HWY_EXPORT(FindLbp);

void find_in_tile(const CompiledLbp& cascade, const Tile& tile, bool skip_rule, std::uint8_t* skips,
                  EvaluationMemory& memory, std::vector<Survivor>& windows, StopMeter& meter) {
  HWY_DYNAMIC_DISPATCH(FindLbp)(cascade, tile, skip_rule, skips, memory, windows, meter);
}

}  // namespace

std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, const TileShape& shape) {
  return std::make_unique<CompiledEvaluator<CompiledLbp, find_in_tile>>(cascade, shape);
}

}  // namespace facesat::cpu
#endif
