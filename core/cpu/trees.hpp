// Boosted trees, compiled for one layout of tables: the part of evaluation that Haar and LBP
// cascades share.
//
// A stage passes if the f64 sum of its trees' leaves, added in file order, is not below its
// threshold. Vectors add integers instead: leaves times a power of two, rounded, in whatever order
// is fast. Such a sum is off by at most half a unit per tree, so outside a margin of that width
// around the threshold it decides as the f64 sum does. Within the margin, which hardly ever
// happens, the stage is `unsure` and is evaluated again in f64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/tile.hpp"
#include "core/stop.hpp"

namespace facesat::cpu {

// `Test` is a compiled node test. It is constructed from (Cascade, Node, Layout) and has
//   bool goes_left(const std::uint32_t* window, float inverse_deviation) const
//   static int cost(const Cascade&, const facesat::Node&): tests of equal cost take the same path
//   through the code.
template <class Test>
struct Trees {
  // The most nodes that a tree and a stage may have to be evaluated in vectors. Trained cascades
  // are far below; with more nodes, a batch could not poll often enough whether to stop.
  static constexpr int vector_tree_nodes = 16, vector_stage_nodes = 1 << 13;

  // Element 0 is for the right, element 1 for the left, since goes_left() is the index. A child > 0
  // is that many nodes after the root; otherwise the walk ends with the leaf of the same index.
  struct Node {
    std::int32_t children[2];
    std::int32_t responses[2];  // leaves in fixed point
    float leaves[2];
  };
  struct Tree {
    int root, node_count;
  };
  // The trees of a stage are sorted by shape, so that branches are predicted; trees with fewer
  // nodes come first.
  struct Stage {
    int first_tree, tree_count;     // in file order
    int first_stump, last_stump;    // nodes [first_stump, last_stump)
    int first_larger, last_larger;  // elements of `larger`
    int node_count;                 // of all its trees
    bool walked;                    // too large for vectors: passes() takes one window at a time
    double threshold;
    std::int32_t right_responses;  // sum over all stumps
    // Sums of responses below the first are rejected, from the second on they pass; those in
    // between are unsure.
    std::int32_t reject_below, pass_from;
  };

  std::vector<Test> tests;          // one per node
  std::vector<std::int32_t> gains;  // of each stump: the response for left, less that for right
  std::vector<Node> nodes;
  std::vector<Tree> trees;   // in file order
  std::vector<Tree> larger;  // those of more than one node, sorted by shape
  std::vector<Stage> stages;

  Trees(const Cascade& cascade, const Layout& layout) {
    trees.resize(cascade.trees.size());
    for (const facesat::Stage& stage : cascade.stages) add_stage(cascade, stage, layout);
  }

  int stage_count() const { return static_cast<int>(stages.size()); }

  // The f64 sum of a stage. passes() tells whether it reaches the threshold.
  double sum(int stage, const std::uint32_t* window, float inverse_deviation) const {
    double result = 0;
    for (int i = 0; i < stages[stage].tree_count; ++i) {
      const Tree& tree = trees[stages[stage].first_tree + i];
      const auto [node, left] = walk(tree, window, inverse_deviation);
      result += node.leaves[left];
    }
    return result;
  }
  bool passes(int stage, const std::uint32_t* window, float inverse_deviation) const {
    return sum(stage, window, inverse_deviation) >= stages[stage].threshold;
  }

  // How many stages a window passes.
  int depth(const std::uint32_t* window, float inverse_deviation, StopMeter& meter) const {
    for (int stage = 0; stage < stage_count(); ++stage) {
      meter.spend(stages[stage].node_count);
      if (!passes(stage, window, inverse_deviation)) return stage;
    }
    return stage_count();
  }

 private:
  // The last node of a window's walk, and whether the walk leaves it to the left.
  std::pair<const Node&, bool> walk(const Tree& tree, const std::uint32_t* window,
                                    float inverse_deviation) const {
    for (int n = tree.root;;) {
      const bool left = tests[n].goes_left(window, inverse_deviation);
      const int child = nodes[n].children[left];
      if (child <= 0) return {nodes[n], left};
      n = tree.root + child;
    }
  }

  void add_stage(const Cascade& cascade, const facesat::Stage& from, const Layout& layout) {
    Stage stage{.first_tree = from.first_tree, .tree_count = from.tree_count};
    stage.first_stump = static_cast<int>(nodes.size());
    stage.first_larger = static_cast<int>(larger.size());
    for (const int t : by_shape(cascade, from)) {
      trees[t] = add_tree(cascade, cascade.trees[t], layout);
      if (trees[t].node_count > 1) larger.push_back(trees[t]);
    }
    stage.last_larger = static_cast<int>(larger.size());
    stage.last_stump =
        stage.first_stump + stage.tree_count - (stage.last_larger - stage.first_larger);
    stage.node_count = static_cast<int>(nodes.size()) - stage.first_stump;
    const bool has_large =
        stage.first_larger < stage.last_larger && larger.back().node_count > vector_tree_nodes;
    stage.walked = has_large || stage.node_count > vector_stage_nodes;
    round_leaves(stage, from.threshold);
    stages.push_back(stage);
  }

  // The trees of a stage in the order in which vectors evaluate them.
  static std::vector<int> by_shape(const Cascade& cascade, const facesat::Stage& stage) {
    std::vector<int> order(stage.tree_count);
    std::iota(order.begin(), order.end(), stage.first_tree);
    std::vector<std::vector<int>> shapes;
    for (const int t : order) {
      const facesat::Tree& tree = cascade.trees[t];
      std::vector<int>& shape = shapes.emplace_back(std::vector<int>{tree.node_count});
      for (int i = 0; i < tree.node_count; ++i) {
        const facesat::Node& node = cascade.nodes[tree.first_node + i];
        shape.insert(shape.end(), {node.left > 0, node.right > 0, Test::cost(cascade, node)});
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return shapes[a - stage.first_tree] < shapes[b - stage.first_tree];
    });
    return order;
  }

  Tree add_tree(const Cascade& cascade, const facesat::Tree& tree, const Layout& layout) {
    const int root = static_cast<int>(nodes.size());
    for (int i = 0; i < tree.node_count; ++i) {
      const facesat::Node& node = cascade.nodes[tree.first_node + i];
      const auto leaf = [&](int child) {
        return child > 0 ? 0 : cascade.leaves[tree.first_leaf - child];
      };
      tests.emplace_back(cascade, node, layout);
      nodes.push_back({{node.right, node.left}, {}, {leaf(node.right), leaf(node.left)}});
    }
    return {root, tree.node_count};
  }

  // An upper bound of the magnitude of a stage's sum.
  double largest_sum(const Stage& stage) const {
    double sum = 0;
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      float leaf = 0;
      for (int n = trees[t].root; n < trees[t].root + trees[t].node_count; ++n)
        for (const float l : nodes[n].leaves) leaf = std::max(leaf, std::abs(l));
      sum += leaf;
    }
    return sum;
  }

  // Converts the leaves and the threshold of a stage to fixed point.
  void round_leaves(Stage& stage, double threshold) {
    // Sums stay below 2^29, and sums of gains below twice that.
    const double largest = largest_sum(stage);
    const int exponent = largest > 0 ? 28 - std::ilogb(largest) : 0;
    for (std::size_t n = stage.first_stump; n < nodes.size(); ++n)
      for (int i = 0; i < 2; ++i)
        nodes[n].responses[i] =
            static_cast<std::int32_t>(std::lrint(std::ldexp(nodes[n].leaves[i], exponent)));
    gains.resize(nodes.size());
    for (int n = stage.first_stump; n < stage.last_stump; ++n) {
      stage.right_responses += nodes[n].responses[0];
      gains[n] = nodes[n].responses[1] - nodes[n].responses[0];
    }
    // Half a unit for each rounded leaf, and one for the roundings of the f64 sum.
    const double margin = stage.tree_count / 2.0 + 1;
    constexpr double beyond = 1 << 30;  // larger than every sum
    const double scaled = std::clamp(std::ldexp(threshold, exponent), -beyond, beyond);
    stage.threshold = threshold;
    stage.reject_below = static_cast<std::int32_t>(std::floor(scaled - margin));
    stage.pass_from = static_cast<std::int32_t>(std::ceil(scaled + margin));
  }
};

}  // namespace facesat::cpu
