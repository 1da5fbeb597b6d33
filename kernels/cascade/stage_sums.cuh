// What the trees of a stage add up to, for the windows of a thread.
#pragma once

#include <type_traits>

#include "kernels/cascade/votes.cuh"

namespace facesat::gpu {

// ---- two kinds of sums

struct FixedSum {
  static constexpr bool any_order = true;
  using Value = std::int64_t;
  __device__ static Value leaf(std::int64_t bits) { return bits; }
  __device__ static std::int64_t bits(Value sum) { return sum; }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold;
  }
};

struct OrderedSum {
  static constexpr bool any_order = false;
  using Value = double;
  __device__ static Value leaf(std::int64_t bits) { return __longlong_as_double(bits); }
  __device__ static std::int64_t bits(Value sum) { return __double_as_longlong(sum); }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold_f64;
  }
};

// A window: the address of its first word in the patch, and what normalises it.
struct Place {
  unsigned base;
  float inverse_deviation;
};

// ---- two forms of cascades: add() adds to the sums of W windows those of every `stride`-th tree
// of a stage, from the `first` on

struct Stumps {
  static constexpr bool normalised = true;
  using Sum = FixedSum;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    if (&stage - c.stages < c.parameter_stages)
      add_from([&](int i) { return c.first_nodes[i]; }, c, stage, patch, first, stride, at, sums);
    else
      add_from([&](int i) { return whole(c.nodes + i); }, c, stage, patch, first, stride, at, sums);
  }

 private:
  // A node in two loads.
  __device__ static HaarNode whole(const HaarNode* node) {
    struct alignas(16) Halves {
      uint4 half[2];
    } halves;
    const auto* from = reinterpret_cast<const uint4*>(node);
    halves.half[0] = from[0];
    halves.half[1] = from[1];
    HaarNode loaded;
    memcpy(&loaded, &halves, sizeof loaded);
    return loaded;
  }

  template <int W, class Nodes>
  __device__ static void add_from(Nodes nodes, const StepCascade& c, const CompiledStage& stage,
                                  const Patch& patch, int first, int stride, const Place (&at)[W],
                                  std::int64_t (&sums)[W]) {
    const int* run = stage.run;
    int i = run[0] + first;  // goes on from kind to kind
    add_kind(i, run[1], stride, nodes, at, sums,
             [&](const HaarNode& n, unsigned base) { return edge_value(n, patch, base); });
    add_kind(i, run[2], stride, nodes, at, sums,
             [&](const HaarNode& n, unsigned base) { return line_value(n, patch, base); });
    add_kind(i, run[3], stride, nodes, at, sums,
             [&](const HaarNode& n, unsigned base) { return quad_value(n, patch, base); });
    add_kind(i, run[4], stride, nodes, at, sums, [&](const HaarNode& n, unsigned base) {
      return general_value(n, c.general, patch, base);
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

__device__ __forceinline__ const HaarNode* nodes_of(const StepCascade& c, const HaarNode*) {
  return c.nodes;
}
__device__ __forceinline__ const LbpNode* nodes_of(const StepCascade& c, const LbpNode*) {
  return c.lbp_nodes;
}

// Trees of any size and kind of feature.
template <class Node, class SumOf>
struct Trees {
  static constexpr bool normalised = std::is_same_v<Node, HaarNode>;
  using Sum = SumOf;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W],
                             typename Sum::Value (&sums)[W]) {
    const Node* nodes = nodes_of(c, static_cast<const Node*>(nullptr));
    for (int t = stage.run[0] + first; t < stage.run[1]; t += stride) {
      const Node* root = nodes + c.roots[t];
      for (int k = 0; k < W; ++k)
        sums[k] +=
            Sum::leaf(c.leaves[leaf_of(root, c, patch, at[k].base, at[k].inverse_deviation)]);
    }
  }
};

}  // namespace facesat::gpu
