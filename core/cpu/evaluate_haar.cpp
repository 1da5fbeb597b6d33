#include <cmath>
#include <type_traits>

#include "core/cpu/scan.hpp"

namespace facesat::cpu {
namespace {

// Four corners of a rectangle: sum = p[0] - p[1] - p[2] + p[3].
struct Corners {
  std::int32_t offset[4];

  std::uint32_t sum(const std::uint32_t* base) const {
    return base[offset[0]] - base[offset[1]] - base[offset[2]] + base[offset[3]];
  }
};

Corners upright(const Rect& r, std::ptrdiff_t pitch) {
  return {{corner_offset(r.x, r.y, pitch), corner_offset(r.x + r.width, r.y, pitch),
           corner_offset(r.x, r.y + r.height, pitch),
           corner_offset(r.x + r.width, r.y + r.height, pitch)}};
}

Corners turned(const Rect& r, std::ptrdiff_t pitch) {
  return {{corner_offset(r.x, r.y, pitch), corner_offset(r.x - r.height, r.y + r.height, pitch),
           corner_offset(r.x + r.width, r.y + r.width, pitch),
           corner_offset(r.x + r.width - r.height, r.y + r.width + r.height, pitch)}};
}

struct Feature {
  Corners corners[3];
  float weight[3];
  bool tilted;

  Feature() = default;
  Feature(const HaarFeature& f, std::ptrdiff_t pitch) : tilted(f.tilted) {
    for (int i = 0; i < 3; ++i) {
      corners[i] = f.tilted ? turned(f.parts[i].rect, pitch) : upright(f.parts[i].rect, pitch);
      weight[i] = f.parts[i].weight;
    }
  }

  // The order of these f32 operations is part of the result.
  float value(const Corner& at, float inverse_deviation) const {
    const std::uint32_t* base = tilted ? at.tilted : at.sum;
    float v = weight[0] * part(0, base) + weight[1] * part(1, base);
    if (weight[2] != 0) v += weight[2] * part(2, base);
    return v * inverse_deviation;
  }

 private:
  float part(int i, const std::uint32_t* base) const {
    return static_cast<float>(static_cast<std::int32_t>(corners[i].sum(base)));
  }
};

// One decision and its leaves.
struct Stump {
  Feature feature;
  float threshold;
  float left, right;

  double vote(const Corner& at, float inverse_deviation) const {
    return feature.value(at, inverse_deviation) < threshold ? left : right;
  }
};

// A node of a deeper tree: a child > 0 is that many nodes further on, otherwise a leaf.
struct TreeNode {
  Feature feature;
  float threshold;
  int left, right;
  float left_leaf, right_leaf;
};

// Spread of a window's values, from its rectangle without the outermost pixels.
class Contrast {
 public:
  Contrast(Size window, std::ptrdiff_t pitch)
      : corners_(upright({1, 1, window.width - 2, window.height - 2}, pitch)),
        area_((window.width - 2) * (window.height - 2)) {}

  // 1 / (area * standard deviation), or 0 for a flat window.
  float inverse_deviation(const Corner& at) const {
    const auto sum = static_cast<std::int64_t>(corners_.sum(at.sum));
    const auto squares = static_cast<std::int64_t>(corners_.sum(at.squared_sum));
    const std::int64_t spread = area_ * squares - sum * sum;
    if (spread <= 0) return 0;
    const auto inverse = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spread)));
    return area_ * static_cast<double>(inverse) < 0.1 ? inverse : 0;
  }

 private:
  Corners corners_;
  std::int64_t area_;
};

struct CompiledStage {
  std::size_t first, last;  // stumps or trees
  double threshold;
};

// Stages of stumps, which nearly all cascades are.
class Stumps {
 public:
  Stumps(const Cascade& cascade, std::ptrdiff_t pitch) {
    for (const Tree& tree : cascade.trees) {
      const Node& node = cascade.nodes[tree.first_node];
      stumps_.push_back({{cascade.haar[node.feature], pitch},
                         node.threshold,
                         cascade.leaves[tree.first_leaf - node.left],
                         cascade.leaves[tree.first_leaf - node.right]});
    }
  }
  double vote(std::size_t tree, const Corner& at, float inverse_deviation) const {
    return stumps_[tree].vote(at, inverse_deviation);
  }

 private:
  std::vector<Stump> stumps_;
};

class Trees {
 public:
  Trees(const Cascade& cascade, std::ptrdiff_t pitch) {
    for (const Tree& tree : cascade.trees) {
      roots_.push_back(nodes_.size());
      for (int i = 0; i < tree.node_count; ++i) {
        const Node& node = cascade.nodes[tree.first_node + i];
        const auto leaf = [&](int child) {
          return child > 0 ? 0 : cascade.leaves[tree.first_leaf - child];
        };
        nodes_.push_back({{cascade.haar[node.feature], pitch},
                          node.threshold,
                          node.left,
                          node.right,
                          leaf(node.left),
                          leaf(node.right)});
      }
    }
  }
  double vote(std::size_t tree, const Corner& at, float inverse_deviation) const {
    const TreeNode* root = &nodes_[roots_[tree]];
    for (const TreeNode* node = root;;) {
      const bool go_left = node->feature.value(at, inverse_deviation) < node->threshold;
      const int child = go_left ? node->left : node->right;
      if (child <= 0) return go_left ? node->left_leaf : node->right_leaf;
      node = root + child;
    }
  }

 private:
  std::vector<TreeNode> nodes_;
  std::vector<std::size_t> roots_;
};

template <class Voters>
class CompiledHaar {
 public:
  CompiledHaar(const Cascade& cascade, std::ptrdiff_t pitch)
      : contrast_(cascade.window, pitch), voters_(cascade, pitch) {
    for (const Stage& s : cascade.stages) {
      const auto first = static_cast<std::size_t>(s.first_tree);
      stages_.push_back({first, first + s.tree_count, s.threshold});
    }
  }

  int stage_count() const { return static_cast<int>(stages_.size()); }

  Verdict run(const Corner& at) const {
    const float inverse_deviation = contrast_.inverse_deviation(at);
    if (inverse_deviation == 0) return {Verdict::flat, 0};
    double sum = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      sum = 0;  // f64, leaves added in file order
      for (std::size_t i = stages_[s].first; i < stages_[s].last; ++i)
        sum += voters_.vote(i, at, inverse_deviation);
      if (sum < stages_[s].threshold) return {static_cast<int>(s), sum};
    }
    return {stage_count(), sum};
  }

 private:
  Contrast contrast_;
  Voters voters_;
  std::vector<CompiledStage> stages_;
};

}  // namespace

std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, std::ptrdiff_t pitch) {
  if (cascade.is_stumps())
    return std::make_unique<ScanningEvaluator<CompiledHaar<Stumps>>>(cascade, pitch);
  return std::make_unique<ScanningEvaluator<CompiledHaar<Trees>>>(cascade, pitch);
}

}  // namespace facesat::cpu
