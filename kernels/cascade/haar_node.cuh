// The node test of Haar cascades, and the sum of a stage of Haar stumps.
#pragma once

#include "core/rules.hpp"
#include "kernels/cascade/stage_sums.cuh"

namespace facesat::gpu {

// ---- values before normalisation: sums of the patch elements at the node's corners.
// HaarNode::corners is in the order of the patterns in haar_node.cpp. `ones` are corners with
// coefficient 1 or -1; `parts` are those with the node's weight or its negative.

__device__ __forceinline__ std::int32_t edge_value(const HaarNode& n, const Patch& patch,
                                                   Base base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper, parts = c.lower - c.upper;
  return static_cast<std::int32_t>(ones + static_cast<std::uint32_t>(n.weight) * parts);
}

__device__ __forceinline__ std::int32_t line_value(const HaarNode& n, const Patch& patch,
                                                   Base base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper,
                      parts = c.lower + c.upper - d.lower - d.upper;
  return static_cast<std::int32_t>(ones + static_cast<std::uint32_t>(n.weight) * parts);
}

__device__ __forceinline__ std::int32_t quad_value(const HaarNode& n, const Patch& patch,
                                                   Base base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t outer = a.lower + a.upper + b.lower + b.upper,
                      inner = c.lower + c.upper + d.lower + d.upper;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(n.weight) *
                                   (outer - 2 * inner + 4 * element(patch, base, n.last_corner)));
}

// Not inlined: it is rare, and its copies would displace what is frequent from the instruction
// cache.
FACESAT_NOINLINE inline __device__ float general_value(const GeneralFeature& f, Base base) {
  const Patch patch;
  const auto sum = [&](int part) {
    const auto p = [&](int i) { return element(patch, base, f.corner[part][i]); };
    return static_cast<float>(static_cast<std::int32_t>(p(0) - p(1) - p(2) + p(3)));
  };
  return rules::haar_value(f.weight, sum);
}

// ---- a node

__device__ __forceinline__ HaarNode load(const HaarNode* node) {
  return load_whole(node);
}

// The node's index is not needed; LBP nodes use it.
__device__ __forceinline__ bool goes_left(const HaarNode& n, int, const StepCascade& cascade,
                                          const Patch& patch, const Place& at) {
  float value;
  switch (n.kind) {
    case HaarKind::edge:
      value = static_cast<float>(edge_value(n, patch, at.base));
      break;
    case HaarKind::line:
      value = static_cast<float>(line_value(n, patch, at.base));
      break;
    case HaarKind::quad:
      value = static_cast<float>(quad_value(n, patch, at.base));
      break;
    default:
      value = general_value(cascade.general[n.corners[0]], at.base);
  }
  return value * at.inverse_deviation < n.threshold;
}

// ---- a stage of stumps

template <>
struct Stumps<HaarNode> : StumpsOf<HaarNode> {
  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    with_nodes<HaarNode>(
        c, stage, [&](auto nodes) { add_from(nodes, c, stage, patch, first, stride, at, sums); });
  }

 private:
  template <int W, class Nodes>
  __device__ static void add_from(Nodes nodes, const StepCascade& c, const CompiledStage& stage,
                                  const Patch& patch, int first, int stride, const Place (&at)[W],
                                  std::int64_t (&sums)[W]) {
    const std::int32_t* begin = stage.runs.begin;
    // Stumps are sorted into one run per kind. `i` goes on from run to run, so that it takes every
    // `stride`-th stump of the stage.
    int i = begin[0] + first;
    add_kind(i, begin[1], stride, nodes, at, sums,
             [&](const HaarNode& n, Base base) { return edge_value(n, patch, base); });
    add_kind(i, begin[2], stride, nodes, at, sums,
             [&](const HaarNode& n, Base base) { return line_value(n, patch, base); });
    add_kind(i, begin[3], stride, nodes, at, sums,
             [&](const HaarNode& n, Base base) { return quad_value(n, patch, base); });
    add_kind(i, begin[4], stride, nodes, at, sums, [&](const HaarNode& n, Base base) {
      return general_value(c.general[n.corners[0]], base);
    });
  }

  template <int W, class Nodes, class Value>
  __device__ static void add_kind(int& i, int end, int stride, Nodes nodes, const Place (&at)[W],
                                  std::int64_t (&sums)[W], Value value) {
    for (; i < end; i += stride) {
      const HaarNode n = nodes(i);
      FACESAT_UNROLL
      for (int k = 0; k < W; ++k)
        add_if_less(sums[k], static_cast<float>(value(n, at[k].base)) * at[k].inverse_deviation,
                    n.threshold, n.gain);
    }
  }
};

}  // namespace facesat::gpu
