// The nodes of Haar and LBP cascades, compiled for the GPU. Features become offsets into a patch:
// the part of the integral image that a block keeps in shared memory (see patch_layout.hpp).
//
// A kind of features has a node and a specialisation of NodeCompiler; node.cpp compiles the nodes,
// and node.cuh evaluates them on the GPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cascade.hpp"
#include "kernels/cascade/patch_layout.hpp"

namespace facesat::gpu {

struct CompiledCascade;

// Where a tree's node leads: a child > 0 is that many nodes after the root; otherwise the walk ends
// at leaf `first_leaf - child`.
struct Branch {
  std::int16_t left, right;
  std::int32_t first_leaf;
};
static_assert(max_tree_nodes <= INT16_MAX, "children of the largest tree must fit into Branch");

// The stumps of a stage may be sorted into runs, each evaluated by one loop: run k has the nodes
// begin[k] .. begin[k + 1] - 1. A kind of features uses as many runs as it needs.
constexpr int max_runs = 4;
struct Runs {
  std::int32_t begin[max_runs + 1];
};

// Compiles the nodes of a cascade, one after the other. A specialisation has
//
//   NodeCompiler(const Cascade& cascade, const PatchLayout& layout);
//   Node operator()(const facesat::Node& node);  // compiles all but the node's branches
//   static Runs sort(std::span<Node> stumps, int first);
//     Sorts the stumps of a stage; `first` is the index of the first one.
//   void finish(CompiledCascade& compiled);
//     Adds what the cascade needs besides nodes.
template <class Node>
class NodeCompiler;

// ---- Haar features

// How a feature's value is computed. All kinds but `general` are sums of table elements with small
// integer coefficients. Every f32 operation of OpenCV is exact for them, so that integers give the
// same value.
enum class HaarKind : std::uint8_t {
  edge,     // two rectangles that share an edge: 6 corners
  line,     // two rectangles that share none: 8 corners
  quad,     // four quarters: 9 corners
  general,  // anything else: three rectangles and f32 weights, in OpenCV's order of operations
};
constexpr int haar_kinds = 4;
static_assert(haar_kinds <= max_runs, "the stumps of each kind are a run");

// A node as the GPU reads it, in two loads of 16 bytes.
struct alignas(16) HaarNode {
  static constexpr bool normalised = true;  // its value is divided by the standard deviation

  // Offsets from the window's first word, two in each element, the first one in the lower half;
  // general: the index of a GeneralFeature.
  std::uint32_t corners[4];
  std::uint16_t last_corner;  // the ninth corner of a quad
  std::int8_t weight;         // a factor of some or all corners; see node.cuh
  HaarKind kind;
  float threshold;
  union {
    std::int64_t gain;  // of stumps: left leaf - right leaf
    Branch branch;      // of trees
  };
};
static_assert(sizeof(HaarNode) == 32);

// Offsets and weights of three rectangles; the third has weight 0 if there are only two.
struct GeneralFeature {
  std::uint16_t corner[3][4];
  float weight[3];
};

// Whether all f32 operations on this feature are exact, for all pixel values, so that integers give
// the same value.
bool is_exact(const HaarFeature& feature);

template <>
class NodeCompiler<HaarNode> {
 public:
  NodeCompiler(const Cascade& cascade, const PatchLayout& layout)
      : cascade_(cascade), layout_(layout) {}

  HaarNode operator()(const Node& node);
  static Runs sort(std::span<HaarNode> stumps, int first);  // one run per HaarKind
  void finish(CompiledCascade& compiled);

 private:
  // The offset of the corner (x, y), in 4-byte words.
  std::uint16_t word(int x, int y, bool tilted) const;
  HaarNode general_node(const HaarFeature& feature, float threshold);

  const Cascade& cascade_;
  const PatchLayout& layout_;
  std::vector<GeneralFeature> general_;
};

// ---- LBP features

struct alignas(16) LbpNode {
  static constexpr bool normalised = false;

  // The 4 x 4 corners of the 3 x 3 blocks, row by row: offsets from the window's first word, two in
  // each element, the first one in the lower half.
  std::uint32_t corners[4][2];
  std::uint32_t subset[8];  // one bit per code
  union {
    std::int64_t gain;  // of stumps: left leaf - right leaf
    Branch branch;      // of trees
  };
};

template <>
class NodeCompiler<LbpNode> {
 public:
  NodeCompiler(const Cascade& cascade, const PatchLayout& layout)
      : cascade_(cascade), layout_(layout) {}

  LbpNode operator()(const Node& node) const;
  static Runs sort(std::span<LbpNode> stumps, int first);  // one run
  void finish(CompiledCascade&) const {}  // an LBP cascade needs nothing besides its nodes

 private:
  const Cascade& cascade_;
  const PatchLayout& layout_;
};

}  // namespace facesat::gpu
