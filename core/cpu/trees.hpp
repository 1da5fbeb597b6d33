// Boosted trees, compiled: the part of evaluation that Haar and LBP cascades share.
#pragma once

#include <cstddef>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/scan.hpp"

namespace facesat::cpu {

// `Decision` is a node's question, compiled. It is made from (Cascade, Node, pitch) and has
// bool goes_left(const Corner&, float inverse_deviation) const.
template <class Decision>
class Trees {
 public:
  Trees(const Cascade& cascade, std::ptrdiff_t pitch) {
    for (const Tree& tree : cascade.trees) {
      roots_.push_back(nodes_.size());
      for (int i = 0; i < tree.node_count; ++i) {
        const facesat::Node& node = cascade.nodes[tree.first_node + i];
        const auto leaf = [&](int child) {
          return child > 0 ? 0 : cascade.leaves[tree.first_leaf - child];
        };
        nodes_.push_back({Decision(cascade, node, pitch),
                          {node.right, node.left},
                          {leaf(node.right), leaf(node.left)}});
      }
    }
    for (const facesat::Stage& s : cascade.stages) {
      const auto first = static_cast<std::size_t>(s.first_tree);
      stages_.push_back({first, first + s.tree_count, s.threshold});
    }
  }

  int stage_count() const { return static_cast<int>(stages_.size()); }

  // Stage by stage, until one rejects: f64 sums, leaves added in file order.
  Verdict run(const Corner& at, float inverse_deviation) const {
    double sum = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      sum = 0;
      for (std::size_t t = stages_[s].first; t < stages_[s].last; ++t)
        sum += vote(t, at, inverse_deviation);
      if (sum < stages_[s].threshold) return {static_cast<int>(s), sum};
    }
    return {stage_count(), sum};
  }

 private:
  // Right before left: both are indexed by the decision, for a branch would be mispredicted every
  // other time. A child > 0 is that many nodes behind the root; otherwise the walk ends with the
  // leaf.
  struct Node {
    Decision decision;
    int children[2];
    float leaves[2];
  };
  struct Stage {
    std::size_t first, last;  // trees
    double threshold;
  };

  float vote(std::size_t tree, const Corner& at, float inverse_deviation) const {
    const Node* root = &nodes_[roots_[tree]];
    for (const Node* node = root;;) {
      const bool left = node->decision.goes_left(at, inverse_deviation);
      const int child = node->children[left];
      if (child <= 0) return node->leaves[left];
      node = root + child;
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
  std::vector<Stage> stages_;
};

}  // namespace facesat::cpu
