// The sum of a stage's trees, for the windows of a thread.
#pragma once

#include "kernels/cascade/tile.cuh"

namespace facesat::gpu {

// ---- two kinds of sums (see CompiledCascade::fixed_point). leaf() converts what
// CompiledCascade::leaves holds; bits() converts a sum for Candidate::sum.

// Fixed point: integers, which may be added in any order.
struct FixedSum {
  static constexpr bool any_order = true;
  using Value = std::int64_t;
  __device__ static Value leaf(std::int64_t bits) { return bits; }
  __device__ static std::int64_t bits(Value sum) { return sum; }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold;
  }
};

// f64, added in the order of the cascade file.
struct OrderedSum {
  static constexpr bool any_order = false;
  using Value = double;
  __device__ static Value leaf(std::int64_t bits) { return __longlong_as_double(bits); }
  // The numbers that are the bits of f64 are in the order of their values, except that negative
  // ones are in the opposite order.
  __device__ static std::int64_t bits(Value sum) {
    const std::int64_t bits = __double_as_longlong(sum);
    return bits < 0 ? bits ^ INT64_MAX : bits;
  }
  __device__ static bool rejects(const CompiledStage& stage, Value sum) {
    return sum < stage.threshold_f64;
  }
};

// ---- where nodes come from

// Reads a node with loads of 16 bytes.
template <class Node>
__device__ __forceinline__ Node load_whole(const Node* node) {
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

template <class Node>
__device__ __forceinline__ const Node* nodes_in_memory(const StepCascade& c) {
  return static_cast<const Node*>(c.nodes);
}

// Calls use(node_at), where node_at(i) gives node i of the cascade: from the parameters of the
// launch if they have all nodes of the stage, otherwise from memory.
template <class Node, class Use>
__device__ __forceinline__ void with_nodes(const StepCascade& c, const CompiledStage& stage,
                                           Use use) {
  if (&stage - c.stages < c.parameter_stages)
    use([&](int i) { return reinterpret_cast<const Node*>(c.first_nodes)[i]; });
  else
    use([&](int i) { return load(nodes_in_memory<Node>(c) + i); });
}

// ---- stages: add() adds every `stride`-th tree of a stage, from tree `first` on, to the sums of W
// windows. A kind of node has
//
//   Node load(const Node*);
//   bool goes_left(const Node&, int index, const StepCascade&, const Patch&, const Place&);

// Trees of one node, in fixed point: each kind of node has a loop of its own.
template <class Node>
struct Stumps;

// What all specialisations of Stumps have in common.
template <class Node>
struct StumpsOf {
  static constexpr bool normalised = Node::normalised;
  using Sum = FixedSum;
};

// Trees of any size.
template <class Node, class SumOf>
struct Trees {
  static constexpr bool normalised = Node::normalised;
  using Sum = SumOf;

  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W],
                             typename Sum::Value (&sums)[W]) {
    with_nodes<Node>(c, stage, [&](auto nodes) {
      for (int t = stage.runs.begin[0] + first; t < stage.runs.begin[1]; t += stride) {
        const int root = c.roots[t];
        for (int k = 0; k < W; ++k)
          sums[k] += Sum::leaf(c.leaves[leaf_of(nodes, root, c, patch, at[k])]);
      }
    });
  }

 private:
  // Walks a tree from its root; returns the index of the leaf.
  template <class NodeAt>
  __device__ static std::int32_t leaf_of(NodeAt nodes, int root, const StepCascade& c,
                                         const Patch& patch, const Place& at) {
    for (int i = root;;) {
      const Node n = nodes(i);
      const int child = goes_left(n, i, c, patch, at) ? n.branch.left : n.branch.right;
      if (child <= 0) return n.branch.first_leaf - child;
      i = root + child;
    }
  }
};

}  // namespace facesat::gpu
