// Nodes of LBP cascades, compiled for the GPU. Features become offsets into a patch: the part of
// the integral image that a block keeps in shared memory (see patch_layout.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cascade/node.hpp"
#include "kernels/cascade/patch_layout.hpp"

namespace facesat::gpu {

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
