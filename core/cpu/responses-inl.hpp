// Evaluates one stage on several vectors of windows at once. Included once for each instruction
// set.
//
// A vector has one window per lane. Its windows are neighbours, so that their corners are
// neighbours in memory; the first of them may lie anywhere. Several vectors form a batch: they
// share the loads of a node's offsets, weights and threshold, which cost as much as the loads of
// corners.
//
// `Features` provides what differs between Haar and LBP:
//   Neighbours: the tag of vectors of neighbours.
//   batch_vectors: how many of these vectors make a batch (1, 2 or 4).
//   Masks<F32, n> go_left(const Test&, const Batch<F32, n>&)
//     as Test::goes_left().
//   std::uint64_t normalise(const Normalisation&, const std::uint32_t* windows,
//                           std::ptrdiff_t squares, int count, float* inverse_deviations)
//     as Normalisation::inverse_deviation(), for up to 64 neighbours. Returns a set bit for each
//     whose variance is high enough; bits and floats past `count` are arbitrary.
#if defined(FACESAT_CPU_RESPONSES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_RESPONSES_INL
#undef FACESAT_CPU_RESPONSES_INL
#else
#define FACESAT_CPU_RESPONSES_INL
#endif

#include <hwy/highway.h>

#include "core/cpu/compiled.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The tag of vectors of gathered windows.
using Gathered = hn::CappedTag<float, gathered_windows>;

template <class F32>
using I32 = hn::RebindToSigned<F32>;
template <class F32>
using U32 = hn::RebindToUnsigned<F32>;

// An array of vectors. Neither std::array's members nor implicit constructors would be compiled for
// the instruction set.
template <class Vec, std::size_t n>
struct Several {
  Vec part[n];
  HWY_INLINE Several() {}
  HWY_INLINE Vec& operator[](std::size_t i) { return part[i]; }
  HWY_INLINE const Vec& operator[](std::size_t i) const { return part[i]; }
};
template <class F32, std::size_t n>
using Integers = Several<hn::Vec<I32<F32>>, n>;
template <class F32, std::size_t n>
using Floats = Several<hn::Vec<F32>, n>;
template <class F32, std::size_t n>
using Masks = Several<hn::Mask<F32>, n>;

// n vectors of windows.
template <class F32, std::size_t n>
struct Batch {
  HWY_INLINE Batch() {}
  const std::uint32_t* windows[n];  // corner (0, 0) of each vector's first window
  Floats<F32, n> inverse_deviations;
};

// Bit i for lane i.
template <class Tag, class Mask>
HWY_INLINE std::uint32_t bits_of(Tag tag, Mask mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(tag, mask, bits);
  return bits[0] | std::uint32_t{bits[1]} << 8;
}

// In each lane, one of two responses: the left one where `left` is set.
template <class Mask, class Responses>
HWY_INLINE Responses chosen(Mask left, Responses left_responses, Responses right_responses) {
  return hn::IfThenElse(hn::RebindMask(hn::DFromV<Responses>(), left), left_responses,
                        right_responses);
}

// The responses of a tree. Nodes are visited from last to first; each selects the response of one
// of its children.
template <class Features, class F32, std::size_t n, class Trees>
HWY_INLINE Integers<F32, n> responses_of(const Trees& trees, const typename Trees::Tree& tree,
                                         const Batch<F32, n>& batch) {
  const I32<F32> tag;
  Integers<F32, n> responses[Trees::vector_tree_nodes];
  for (int i = tree.node_count; i-- > 0;) {
    const auto& node = trees.nodes[tree.root + i];
    const Masks<F32, n> left = Features::go_left(trees.tests[tree.root + i], batch);
    for (std::size_t v = 0; v < n; ++v) {
      const auto side = [&](int s) HWY_ATTR {
        return node.children[s] > 0 ? responses[node.children[s]][v]
                                    : hn::Set(tag, node.responses[s]);
      };
      responses[i][v] = chosen(left[v], side(1), side(0));
    }
  }
  return responses[0];
}

// The responses of a tree of two nodes, the most frequent kind of tree that is not a stump.
template <class Features, class F32, std::size_t n, class Trees>
HWY_INLINE Integers<F32, n> responses_of_pair(const Trees& trees, int root,
                                              const Batch<F32, n>& batch) {
  const I32<F32> tag;
  const Masks<F32, n> outer = Features::go_left(trees.tests[root], batch);
  const Masks<F32, n> inner = Features::go_left(trees.tests[root + 1], batch);
  const auto &first = trees.nodes[root], &second = trees.nodes[root + 1];
  Integers<F32, n> responses;
  for (std::size_t v = 0; v < n; ++v)
    responses[v] =
        chosen(inner[v], hn::Set(tag, second.responses[1]), hn::Set(tag, second.responses[0]));
  if (first.children[1] > 0)
    for (std::size_t v = 0; v < n; ++v)
      responses[v] = chosen(outer[v], responses[v], hn::Set(tag, first.responses[0]));
  else
    for (std::size_t v = 0; v < n; ++v)
      responses[v] = chosen(outer[v], hn::Set(tag, first.responses[1]), responses[v]);
  return responses;
}

// The decisions of a stage on n vectors: for each vector, one bit per window. Unsure windows have a
// sum too close to the threshold to decide (see compiled.hpp).
template <std::size_t n>
struct Outcome {
  std::uint32_t passed[n], unsure[n];
};

// The outcome of a stage that is not too large for vectors (see Trees::Stage).
template <class Features, class F32, std::size_t n, class Trees>
HWY_INLINE Outcome<n> outcome_of_stage(const Trees& trees, int stage_index,
                                       const Batch<F32, n>& batch) {
  const I32<F32> tag;
  const auto& stage = trees.stages[stage_index];
  Integers<F32, n> sum;
  for (std::size_t v = 0; v < n; ++v) sum[v] = hn::Set(tag, stage.right_responses);
  for (int i = stage.first_stump; i < stage.last_stump; ++i) {
    const Masks<F32, n> left = Features::go_left(trees.tests[i], batch);
    const auto gain = hn::Set(tag, trees.gains[i]);
    for (std::size_t v = 0; v < n; ++v)
      sum[v] = sum[v] + hn::IfThenElseZero(hn::RebindMask(tag, left[v]), gain);
  }
  for (int i = stage.first_larger; i < stage.last_larger; ++i) {
    const auto& tree = trees.larger[i];
    const Integers<F32, n> responses = tree.node_count == 2
                                           ? responses_of_pair<Features>(trees, tree.root, batch)
                                           : responses_of<Features>(trees, tree, batch);
    for (std::size_t v = 0; v < n; ++v) sum[v] = sum[v] + responses[v];
  }
  Outcome<n> outcome;
  for (std::size_t v = 0; v < n; ++v) {
    const auto fails = hn::Lt(sum[v], hn::Set(tag, stage.pass_from));
    const auto surely = hn::Lt(sum[v], hn::Set(tag, stage.reject_below));
    outcome.passed[v] = bits_of(tag, hn::Not(fails));
    outcome.unsure[v] = bits_of(tag, hn::AndNot(surely, fails));
  }
  return outcome;
}

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // for each instruction set
