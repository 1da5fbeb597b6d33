// What the trees of a stage add up to, for the windows of a thread.
#pragma once

#include <type_traits>

#include "kernels/cascade/responses.cuh"

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

// ---- where nodes come from

// A node in loads of 16 bytes.
template <class Node>
__device__ __forceinline__ Node whole(const Node* node) {
  struct alignas(16) Parts {
    uint4 part[sizeof(Node) / 16];
  } parts;
  const auto* from = reinterpret_cast<const uint4*>(node);
  FACESAT_UNROLL
  for (int i = 0; i < static_cast<int>(sizeof(Node) / 16); ++i) parts.part[i] = from[i];
  Node loaded;
  memcpy(&loaded, &parts, sizeof loaded);
  return loaded;
}

// Node i of a cascade, from the launch's parameters or from memory.
template <class Node>
struct NodeSource;
template <>
struct NodeSource<HaarNode> {
  __device__ static HaarNode parameter(const StepCascade& c, int i) { return c.first_nodes[i]; }
  __device__ static HaarNode memory(const StepCascade& c, int i) { return whole(c.nodes + i); }
};
template <>
struct NodeSource<LbpNode> {
  __device__ static LbpNode parameter(const StepCascade& c, int i) { return c.first_lbp_nodes[i]; }
  __device__ static LbpNode memory(const StepCascade& c, int i) { return c.lbp_nodes[i]; }
};

// Calls use(node_at) with what gives the nodes of that stage.
template <class Node, class Use>
__device__ __forceinline__ void with_nodes(const StepCascade& c, const CompiledStage& stage,
                                           Use use) {
  if (&stage - c.stages < c.parameter_stages)
    use([&](int i) { return NodeSource<Node>::parameter(c, i); });
  else
    use([&](int i) { return NodeSource<Node>::memory(c, i); });
}

// ---- forms of cascades: add() adds to the sums of W windows those of every `stride`-th tree of a
// stage, from the `first` on

struct HaarStumps {
  static constexpr bool normalised = true;
  using Sum = FixedSum;

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

struct LbpStumps {
  static constexpr bool normalised = false;
  using Sum = FixedSum;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    with_nodes<LbpNode>(c, stage, [&](auto nodes) {
      for (int i = stage.run[0] + first; i < stage.run[1]; i += stride) {
        const LbpNode n = nodes(i);
        FACESAT_UNROLL
        for (int k = 0; k < W; ++k)
          if (goes_left(n, i, c, patch, at[k].base, 1)) sums[k] += n.gain;
      }
    });
  }
};

// Trees of any size and kind of feature.
template <class Node, class SumOf>
struct Trees {
  static constexpr bool normalised = std::is_same_v<Node, HaarNode>;
  using Sum = SumOf;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W],
                             typename Sum::Value (&sums)[W]) {
    with_nodes<Node>(c, stage, [&](auto nodes) {
      for (int t = stage.run[0] + first; t < stage.run[1]; t += stride) {
        const int root = c.roots[t];
        for (int k = 0; k < W; ++k)
          sums[k] += Sum::leaf(c.leaves[leaf_of(nodes, root, c, patch, at[k])]);
      }
    });
  }

 private:
  // Walks a tree from its root; gives the index of the leaf.
  template <class NodeAt>
  __device__ static std::int32_t leaf_of(NodeAt nodes, int root, const StepCascade& c,
                                         const Patch& patch, const Place& at) {
    for (int i = root;;) {
      const Node n = nodes(i);
      const bool left = goes_left(n, i, c, patch, at.base, at.inverse_deviation);
      const int child = left ? n.branch.left : n.branch.right;
      if (child <= 0) return n.branch.first_leaf - child;
      i = root + child;
    }
  }
};

}  // namespace facesat::gpu
