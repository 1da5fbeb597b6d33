// The node tests of Haar and LBP cascades, and the sum of a stage's trees for the windows of a
// thread.
#pragma once

#include <utility>

#include "core/rules.hpp"
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

// ---- Haar features
//
// Values before normalisation are sums of the patch elements at the node's corners.
// HaarNode::corners is in the order of the patterns in node.cpp. `ones` are corners with
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

// ---- LBP features

// The code of a window: 8 bits that compare the outer blocks of a feature with its centre.
__device__ __forceinline__ unsigned lbp_code(const LbpNode& n, const Patch& patch, Base base) {
  std::uint32_t across[4][3];  // differences of neighbouring corners of a row
  for (int j = 0; j < 4; ++j) {
    const Two left = elements(patch, base, n.corners[j][0]),
              right = elements(patch, base, n.corners[j][1]);
    across[j][0] = left.upper - left.lower;
    across[j][1] = right.lower - left.upper;
    across[j][2] = right.upper - right.lower;
  }
  // The sum of the block in column i, row j.
  const auto block = [&](int i, int j) { return across[j + 1][i] - across[j][i]; };
  const std::uint32_t centre = block(1, 1);
  const auto bit = [&]<int n>(std::integral_constant<int, n>) {
    constexpr rules::Corner b = rules::lbp_blocks[n];
    return block(b.x, b.y) >= centre ? 128u >> n : 0u;
  };
  return [&]<int... n>(std::integer_sequence<int, n...>) {
    return (bit(std::integral_constant<int, n>()) | ...);
  }
  (std::make_integer_sequence<int, 8>());
}

// Nobody reads `subset` of this copy, so the compiler drops its load: a lane needs only one word of
// it, which goes_left() reads from memory.
__device__ __forceinline__ LbpNode load(const LbpNode* node) {
  return *node;
}

__device__ __forceinline__ bool goes_left(const LbpNode& n, int i, const StepCascade& cascade,
                                          const Patch& patch, const Place& at) {
  const unsigned code = lbp_code(n, patch, at.base);
  return (nodes_in_memory<LbpNode>(cascade)[i].subset[code >> 5] >> (code & 31) & 1) != 0;
}

template <>
struct Stumps<LbpNode> : StumpsOf<LbpNode> {
  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    with_nodes<LbpNode>(c, stage, [&](auto nodes) {
      for (int i = stage.runs.begin[0] + first; i < stage.runs.begin[1]; i += stride) {
        const LbpNode n = nodes(i);
        FACESAT_UNROLL
        for (int k = 0; k < W; ++k)
          if (goes_left(n, i, c, patch, at[k])) sums[k] += n.gain;
      }
    });
  }
};

}  // namespace facesat::gpu
