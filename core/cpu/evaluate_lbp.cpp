#include <algorithm>
#include <array>

#include "core/cpu/scan.hpp"
#include "core/cpu/trees.hpp"

namespace facesat::cpu {
namespace {

class LbpDecision {
 public:
  LbpDecision(const Cascade& cascade, const Node& node, std::ptrdiff_t pitch)
      : subset_(node.subset) {
    const Rect& block = cascade.lbp[node.feature].block;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        offset_[j][i] = corner_offset(block.x + i * block.width, block.y + j * block.height, pitch);
  }

  bool goes_left(const Corner& at, float) const {
    const unsigned c = code(at.sum);
    return subset_[c >> 5] >> (c & 31) & 1;
  }

 private:
  // One bit for each of the blocks around the centre that is not below it: clockwise from the top
  // left, the highest bit first. Comparisons are added up, for branches would be mispredicted.
  unsigned code(const std::uint32_t* base) const {
    std::uint32_t p[4][4];
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i) p[j][i] = base[offset_[j][i]];
    const auto block = [&](int i, int j) {
      return p[j][i] - p[j][i + 1] - p[j + 1][i] + p[j + 1][i + 1];
    };
    const std::uint32_t centre = block(1, 1);
    const auto bit = [&](int i, int j, unsigned place) {
      return static_cast<unsigned>(block(i, j) >= centre) << place;
    };
    return bit(0, 0, 7) | bit(1, 0, 6) | bit(2, 0, 5) | bit(2, 1, 4) | bit(2, 2, 3) | bit(1, 2, 2) |
           bit(0, 2, 1) | bit(0, 1, 0);
  }

  std::int32_t offset_[4][4];  // corners of 3 x 3 equal blocks
  std::array<std::uint32_t, 8> subset_;
};

class CompiledLbp {
 public:
  CompiledLbp(const Cascade& cascade, std::ptrdiff_t pitch)
      : window_(cascade.window), trees_(cascade, pitch) {}

  Size window() const { return window_; }
  int stage_count() const { return trees_.stage_count(); }
  Verdict run(const Corner& at) const { return trees_.run(at, 1); }

 private:
  Size window_;
  Trees<LbpDecision> trees_;
};

}  // namespace

std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, std::ptrdiff_t pitch) {
  return std::make_unique<ScanningEvaluator<CompiledLbp>>(cascade, pitch);
}

}  // namespace facesat::cpu
