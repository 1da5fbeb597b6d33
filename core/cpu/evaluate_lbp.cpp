#include "core/cpu/scan.hpp"

namespace facesat::cpu {
namespace {

// The 4 x 4 corners of 3 x 3 equal blocks.
struct Blocks {
  std::int32_t offset[4][4];

  Blocks(const Rect& block, std::ptrdiff_t pitch) {
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        offset[j][i] = corner_offset(block.x + i * block.width, block.y + j * block.height, pitch);
  }

  // One bit for each neighbour that is not below the centre: clockwise from the top left, 128
  // first.
  unsigned code(const std::uint32_t* base) const {
    std::uint32_t p[4][4];
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i) p[j][i] = base[offset[j][i]];
    const auto block = [&](int i, int j) {
      return p[j][i] - p[j][i + 1] - p[j + 1][i] + p[j + 1][i + 1];
    };
    const std::uint32_t centre = block(1, 1);
    const auto bit = [&](int i, int j, unsigned value) {
      return block(i, j) >= centre ? value : 0;
    };
    return bit(0, 0, 128) | bit(1, 0, 64) | bit(2, 0, 32) | bit(2, 1, 16) | bit(2, 2, 8) |
           bit(1, 2, 4) | bit(0, 2, 2) | bit(0, 1, 1);
  }
};

class CompiledLbp {
 public:
  CompiledLbp(const Cascade& cascade, std::ptrdiff_t pitch)
      : stages_(cascade.stages),
        trees_(cascade.trees),
        nodes_(cascade.nodes),
        leaves_(cascade.leaves) {
    for (const LbpFeature& feature : cascade.lbp) blocks_.emplace_back(feature.block, pitch);
  }

  int stage_count() const { return static_cast<int>(stages_.size()); }

  Verdict run(const Corner& at) const {
    double sum = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const Stage& stage = stages_[s];
      sum = 0;  // f64, leaves added in file order
      for (int i = stage.first_tree; i < stage.first_tree + stage.tree_count; ++i)
        sum += vote(trees_[i], at.sum);
      if (sum < stage.threshold) return {static_cast<int>(s), sum};
    }
    return {stage_count(), sum};
  }

 private:
  float vote(const Tree& tree, const std::uint32_t* base) const {
    for (int i = 0;;) {
      const Node& node = nodes_[tree.first_node + i];
      const unsigned code = blocks_[node.feature].code(base);
      const int child = node.subset[code >> 5] >> (code & 31) & 1 ? node.left : node.right;
      if (child <= 0) return leaves_[tree.first_leaf - child];
      i = child;
    }
  }

  std::vector<Stage> stages_;
  std::vector<Tree> trees_;
  std::vector<Node> nodes_;
  std::vector<float> leaves_;
  std::vector<Blocks> blocks_;
};

}  // namespace

std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, std::ptrdiff_t pitch) {
  return std::make_unique<ScanningEvaluator<CompiledLbp>>(cascade, pitch);
}

}  // namespace facesat::cpu
