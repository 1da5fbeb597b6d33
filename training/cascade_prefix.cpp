#include "training/cascade_prefix.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace facesat::training {

bool are_equal(const HaarFeature& a, const HaarFeature& b) {
  return a.tilted == b.tilted &&
         std::ranges::equal(a.parts, b.parts, [](const auto& p, const auto& q) {
           return p.rect == q.rect && p.weight == q.weight;
         });
}

namespace {

// Whether two stages are the same, whatever the numbers of their features.
bool are_equal_stages(const Cascade& a, const Cascade& b, std::size_t stage) {
  const auto are_equal_features = [&](int i, int j) {
    if (a.kind == FeatureKind::lbp) return a.lbp[i].block == b.lbp[j].block;
    return are_equal(a.haar[i], b.haar[j]);
  };
  const auto are_equal_trees = [&](const Tree& s, const Tree& t) {
    if (s.node_count != t.node_count) return false;
    for (int i = 0; i < s.node_count; ++i) {
      const Node &m = a.nodes[s.first_node + i], &n = b.nodes[t.first_node + i];
      if (m.threshold != n.threshold || m.subset != n.subset || m.left != n.left ||
          m.right != n.right || !are_equal_features(m.feature, n.feature))
        return false;
    }
    return std::equal(&a.leaves[s.first_leaf], &a.leaves[s.first_leaf] + s.node_count + 1,
                      &b.leaves[t.first_leaf]);
  };
  const Stage &s = a.stages[stage], &t = b.stages[stage];
  if (s.threshold != t.threshold || s.tree_count != t.tree_count) return false;
  for (int i = 0; i < s.tree_count; ++i)
    if (!are_equal_trees(a.trees[s.first_tree + i], b.trees[t.first_tree + i])) return false;
  return true;
}

}  // namespace

bool begins_with(const Cascade& cascade, const Cascade& part) {
  if (cascade.kind != part.kind || cascade.window != part.window ||
      cascade.stages.size() < part.stages.size())
    return false;
  for (std::size_t stage = 0; stage < part.stages.size(); ++stage)
    if (!are_equal_stages(cascade, part, stage)) return false;
  return true;
}

Cascade without_unused(const Cascade& cascade) {
  Cascade result;
  result.name = cascade.name;
  result.kind = cascade.kind;
  result.window = cascade.window;
  std::vector<int> numbers(cascade.feature_count(), -1);  // the new ones
  const auto number_of = [&](int feature) {
    int& number = numbers[feature];
    if (number >= 0) return number;
    number = static_cast<int>(result.feature_count());
    if (cascade.kind == FeatureKind::haar)
      result.haar.push_back(cascade.haar[feature]);
    else
      result.lbp.push_back(cascade.lbp[feature]);
    return number;
  };
  for (Stage stage : cascade.stages) {
    const int first_tree = std::exchange(stage.first_tree, static_cast<int>(result.trees.size()));
    for (int i = 0; i < stage.tree_count; ++i) {
      const Tree& tree = cascade.trees[first_tree + i];
      result.trees.push_back({.first_node = static_cast<int>(result.nodes.size()),
                              .node_count = tree.node_count,
                              .first_leaf = static_cast<int>(result.leaves.size())});
      for (int n = 0; n < tree.node_count; ++n) {
        Node node = cascade.nodes[tree.first_node + n];
        node.feature = number_of(node.feature);
        result.nodes.push_back(node);
      }
      const auto leaves = cascade.leaves.begin() + tree.first_leaf;
      result.leaves.insert(result.leaves.end(), leaves, leaves + tree.node_count + 1);
    }
    result.stages.push_back(stage);
  }
  return result;
}

}  // namespace facesat::training
