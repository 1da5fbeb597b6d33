#include "kernels/cascade/lbp_node.hpp"

#include <algorithm>

namespace facesat::gpu {

// The 4 x 4 corners of a feature's 3 x 3 blocks, two offsets in each word, and the subset of codes
// that go left.
LbpNode NodeCompiler<LbpNode>::operator()(const Node& node) const {
  const Rect& block = cascade_.lbp[node.feature].block;
  LbpNode compiled{};
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) {
      const int word = layout_.word(block.x + i * block.width, block.y + j * block.height);
      compiled.corners[j][i / 2] |= static_cast<std::uint32_t>(word) << (i % 2 * 16);
    }
  std::copy(node.subset.begin(), node.subset.end(), compiled.subset);
  return compiled;
}

// All LBP stumps are of one kind, so they keep their order and are one run.
Runs NodeCompiler<LbpNode>::sort(std::span<LbpNode> stumps, int first) {
  return {{first, first + static_cast<int>(stumps.size())}};
}

}  // namespace facesat::gpu
