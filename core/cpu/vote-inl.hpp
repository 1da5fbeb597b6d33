// One stage on sixteen windows at once. Included once for each instruction set.
//
// `Features` is what is particular to Haar or LBP:
//   Masks go_left(const Question&, const std::uint32_t* windows, const Floats& inverse_deviations)
//     as Question::goes_left(), for sixteen neighbours;
//   std::uint64_t contrasts(const Contrast&, const std::uint32_t* windows, std::ptrdiff_t squares,
//                           int count, float* inverse_deviations)
//     as Contrast::inverse_deviation(), for up to 64 neighbours: a bit for each that is not flat;
//     bits and floats behind `count` are arbitrary.
#if defined(FACESAT_CPU_VOTE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_VOTE_INL
#undef FACESAT_CPU_VOTE_INL
#else
#define FACESAT_CPU_VOTE_INL
#endif

#include <hwy/highway.h>

#include "core/cpu/trees.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, group_windows>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using MaskF = hn::Mask<F32>;

// A group of windows in as many vectors as it takes.
inline constexpr std::size_t vectors = group_windows / hn::MaxLanes(F32());
inline constexpr std::size_t lanes = hn::MaxLanes(F32());

template <class Vector>
struct Group {
  Vector part[vectors];
};
using Floats = Group<hn::Vec<F32>>;
using Integers = Group<hn::Vec<I32>>;
using Masks = Group<MaskF>;

HWY_INLINE Floats load(const float* from) {
  Floats result;
  for (std::size_t v = 0; v < vectors; ++v) result.part[v] = hn::LoadU(F32(), from + v * lanes);
  return result;
}

// Bit i for window i.
template <class Tag, class Mask>
HWY_INLINE std::uint32_t bits_of(Tag tag, const Group<Mask>& masks) {
  std::uint32_t bits = 0;
  for (std::size_t v = 0; v < vectors; ++v) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(tag, masks.part[v], bytes);
    bits |= (bytes[0] | std::uint32_t{bytes[1]} << 8) << (v * lanes);
  }
  return bits;
}

// The votes of a tree too large for votes_of(), one window after the other.
template <class Trees>
HWY_INLINE Integers votes_of_large(const Trees& trees, std::size_t tree,
                                   const std::uint32_t* windows, const Floats& inverse_deviations) {
  float inverse[group_windows];
  std::int32_t votes[group_windows];
  Integers result;
  for (std::size_t v = 0; v < vectors; ++v)
    hn::StoreU(inverse_deviations.part[v], F32(), inverse + v * lanes);
  for (int w = 0; w < group_windows; ++w) votes[w] = trees.vote(tree, windows + w, inverse[w]);
  for (std::size_t v = 0; v < vectors; ++v) result.part[v] = hn::LoadU(I32(), votes + v * lanes);
  return result;
}

// The votes of a tree: its nodes from the last to the first, each choosing one of its children.
template <class Features, class Trees>
HWY_INLINE Integers votes_of(const Trees& trees, typename Trees::Tree tree,
                             const std::uint32_t* windows, const Floats& inverse_deviations) {
  const I32 tag;
  Integers votes[Trees::max_nodes];
  for (std::uint32_t n = tree.nodes; n-- > 0;) {
    const auto& node = trees.nodes[tree.root + n];
    const Masks left =
        Features::go_left(trees.questions[tree.root + n], windows, inverse_deviations);
    Integers side[2];
    for (int i = 0; i < 2; ++i)
      for (std::size_t v = 0; v < vectors; ++v)
        side[i].part[v] =
            node.children[i] > 0 ? votes[node.children[i]].part[v] : hn::Set(tag, node.votes[i]);
    for (std::size_t v = 0; v < vectors; ++v)
      votes[n].part[v] =
          hn::IfThenElse(hn::RebindMask(tag, left.part[v]), side[1].part[v], side[0].part[v]);
  }
  return votes[0];
}

struct Outcome {
  std::uint32_t passed, unsure;  // bits of windows
};

// windows: corner (0, 0) of the first of sixteen neighbours.
template <class Features, class Trees>
HWY_INLINE Outcome vote(const Trees& trees, int stage_index, const std::uint32_t* windows,
                        const Floats& inverse_deviations) {
  const I32 tag;
  const auto& stage = trees.stages[stage_index];
  Integers sum;
  for (std::size_t v = 0; v < vectors; ++v) sum.part[v] = hn::Zero(tag);
  for (std::size_t t = stage.first_tree; t < stage.last_tree; ++t) {
    const typename Trees::Tree tree = trees.trees[t];
    if (tree.nodes == 1) {
      const Masks left = Features::go_left(trees.questions[tree.root], windows, inverse_deviations);
      const auto& node = trees.nodes[tree.root];
      for (std::size_t v = 0; v < vectors; ++v)
        sum.part[v] =
            sum.part[v] + hn::IfThenElse(hn::RebindMask(tag, left.part[v]),
                                         hn::Set(tag, node.votes[1]), hn::Set(tag, node.votes[0]));
    } else {
      const Integers votes = tree.nodes <= Trees::max_nodes
                                 ? votes_of<Features>(trees, tree, windows, inverse_deviations)
                                 : votes_of_large(trees, t, windows, inverse_deviations);
      for (std::size_t v = 0; v < vectors; ++v) sum.part[v] = sum.part[v] + votes.part[v];
    }
  }
  Group<hn::Mask<I32>> passed, unsure;
  for (std::size_t v = 0; v < vectors; ++v) {
    passed.part[v] = hn::Not(hn::Lt(sum.part[v], hn::Set(tag, stage.pass_from)));
    unsure.part[v] =
        hn::Not(hn::Or(passed.part[v], hn::Lt(sum.part[v], hn::Set(tag, stage.reject_below))));
  }
  return {bits_of(tag, passed), bits_of(tag, unsure)};
}

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // for each instruction set
