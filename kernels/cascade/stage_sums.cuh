// What the trees of a stage add up to, for the units of a thread.
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

// ---- units

// A unit of U windows: the address of its first word in the patch, and what normalises each.
template <int U>
struct Place {
  unsigned base;
  float inverse_deviation[U];
};

// A form of cascade: add() adds to the sums of W units those of every `stride`-th tree of a stage,
// from the `first` on.

// Stumps, for pairs of windows.
struct Stumps {
  static constexpr int unit = static_cast<int>(Unit::pair);
  static constexpr bool normalised = true;
  using Sum = FixedSum;

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

  // Nodes of one of the kinds whose values fit into 16 bits.
  template <int W, class Nodes, class Value>
  __device__ static void run_of(int& i, int end, int stride, Nodes nodes,
                                const Place<unit> (&at)[W], std::int64_t (&sums)[W][unit],
                                Value value) {
    for (; i < end; i += stride) {
const HaarNode n = nodes(i);
      FACESAT_UNROLL
      for (int k = 0; k < W; ++k) {
        const std::uint32_t both = value(n, at[k].base);
        add_if_less(sums[k][0], static_cast<float>(upper_of(both)) * at[k].inverse_deviation[0],
                    n.threshold, n.gain);
        add_if_less(sums[k][1], static_cast<float>(lower_of(both)) * at[k].inverse_deviation[1],
                    n.threshold, n.gain);
      }
    }
  }

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place<unit> (&at)[W],
                             std::int64_t (&sums)[W][unit]) {
    if (&stage - c.stages < c.parameter_stages)
      add_from([&](int i) { return c.first_nodes[i]; }, c, stage, patch, first, stride, at, sums);
    else
      add_from([&](int i) { return whole(c.nodes + i); }, c, stage, patch, first, stride, at, sums);
  }

  template <int W, class Nodes>
  __device__ static void add_from(Nodes nodes, const StepCascade& c, const CompiledStage& stage,
                                  const Patch& patch, int first, int stride,
                                  const Place<unit> (&at)[W], std::int64_t (&sums)[W][unit]) {
    const int* run = stage.run;
    int i = run[0] + first;  // goes on from kind to kind
    run_of(i, run[1], stride, nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return edge_value(n, patch, base); });
    run_of(i, run[2], stride, nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return line_value(n, patch, base); });
    run_of(i, run[3], stride, nodes, at, sums,
           [&](const HaarNode& n, unsigned base) { return quad_value(n, patch, base); });
    for (; i < run[4]; i += stride) {
      const HaarNode n = nodes(i);
      for (int k = 0; k < W; ++k) {
        float values[unit];
        general_values(n, c, patch, at[k].base, values);
        for (int u = 0; u < unit; ++u)
          add_if_less(sums[k][u], values[u] * at[k].inverse_deviation[u], n.threshold, n.gain);
      }
    }
  }
};

__device__ __forceinline__ const HaarNode* nodes_of(const StepCascade& c, const HaarNode*) {
  return c.nodes;
}
__device__ __forceinline__ const LbpNode* nodes_of(const StepCascade& c, const LbpNode*) {
  return c.lbp_nodes;
}

// Trees of any form, for single windows.
template <class Node, class SumOf>
struct Trees {
  static constexpr int unit = static_cast<int>(Unit::window);
  static constexpr bool normalised = std::is_same_v<Node, HaarNode>;
  using Sum = SumOf;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place<unit> (&at)[W],
                             typename Sum::Value (&sums)[W][unit]) {
    const Node* nodes = nodes_of(c, static_cast<const Node*>(nullptr));
    for (int t = stage.run[0] + first; t < stage.run[1]; t += stride) {
      const Node* root = nodes + c.roots[t];
      for (int k = 0; k < W; ++k)
        sums[k][0] += Sum::leaf(
            c.leaves[leaf_of(root, c, patch, at[k].base, at[k].inverse_deviation[0])]);
    }
  }
};

}  // namespace facesat::gpu
