// Boosted trees, compiled for one layout of tables: the part of evaluation that Haar and LBP
// cascades share.
//
// A stage passes if the f64 sum of its trees' leaves, added in file order, is not below its
// threshold. Vectors add integers instead: leaves times a power of two, rounded. Such a sum is
// wrong by at most half a unit a tree, so beyond a margin of that width it decides as the f64 sum
// does. Within, which hardly ever happens, the stage is evaluated again in f64: `unsure`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cascade.hpp"
#include "core/cpu/tile.hpp"

namespace facesat::cpu {

// `Question` is what a node asks, compiled. It is made from (Cascade, Node, Layout) and has
// bool goes_left(const std::uint32_t* window, float inverse_deviation) const.
template <class Question>
struct Trees {
  // Right before left: both are indexed by the answer. A child > 0 is that many nodes behind the
  // root; otherwise the walk ends with the leaf.
  struct Node {
    std::int32_t children[2];
    std::int32_t votes[2];  // leaves in fixed point
    float leaves[2];
  };
  struct Tree {
    std::uint32_t root, nodes;
  };
  struct Stage {
    std::size_t first_tree, last_tree;
    double threshold;
    std::int32_t reject_below, pass_from;  // sums of votes; in between: unsure
  };

  // Of a tree that is evaluated in vectors; larger ones are rare.
  static constexpr std::uint32_t max_nodes = 16;

  std::vector<Question> questions;  // one for each node
  std::vector<Node> nodes;
  std::vector<Tree> trees;
  std::vector<Stage> stages;

  Trees(const Cascade& cascade, const Layout& layout) {
    for (const facesat::Tree& tree : cascade.trees) {
      trees.push_back(
          {static_cast<std::uint32_t>(nodes.size()), static_cast<std::uint32_t>(tree.node_count)});
      for (int i = 0; i < tree.node_count; ++i) {
        const facesat::Node& node = cascade.nodes[tree.first_node + i];
        const auto leaf = [&](int child) {
          return child > 0 ? 0 : cascade.leaves[tree.first_leaf - child];
        };
        questions.emplace_back(cascade, node, layout);
        nodes.push_back({{node.right, node.left}, {}, {leaf(node.right), leaf(node.left)}});
      }
    }
    for (const facesat::Stage& s : cascade.stages) {
      const auto first = static_cast<std::size_t>(s.first_tree);
      add_stage({first, first + s.tree_count, s.threshold, 0, 0});
    }
  }

  int stage_count() const { return static_cast<int>(stages.size()); }

  // The f64 sum of a stage, and whether it is enough.
  double sum(int stage, const std::uint32_t* window, float inverse_deviation) const {
    double result = 0;
    for (std::size_t t = stages[stage].first_tree; t < stages[stage].last_tree; ++t)
      result += leaf(t, window, inverse_deviation);
    return result;
  }
  bool passes(int stage, const std::uint32_t* window, float inverse_deviation) const {
    return sum(stage, window, inverse_deviation) >= stages[stage].threshold;
  }

  // How many stages a window passes.
  int depth(const std::uint32_t* window, float inverse_deviation) const {
    int stage = 0;
    while (stage < stage_count() && passes(stage, window, inverse_deviation)) ++stage;
    return stage;
  }

  // Of one tree, in fixed point.
  std::int32_t vote(std::size_t tree, const std::uint32_t* window, float inverse_deviation) const {
    const auto [node, left] = walk(tree, window, inverse_deviation);
    return node.votes[left];
  }

 private:
  // The node that a window's walk ends in, and the side on which it leaves it.
  std::pair<const Node&, bool> walk(std::size_t tree, const std::uint32_t* window,
                                    float inverse_deviation) const {
    const std::size_t root = trees[tree].root;
    for (std::size_t n = root;;) {
      const bool left = questions[n].goes_left(window, inverse_deviation);
      const int child = nodes[n].children[left];
      if (child <= 0) return {nodes[n], left};
      n = root + child;
    }
  }

  float leaf(std::size_t tree, const std::uint32_t* window, float inverse_deviation) const {
    const auto [node, left] = walk(tree, window, inverse_deviation);
    return node.leaves[left];
  }

  void add_stage(Stage stage) {
    double largest = 0;  // sum that the leaves allow
    for (std::size_t t = stage.first_tree; t < stage.last_tree; ++t) {
      float leaf = 0;
      for (std::uint32_t n = 0; n < trees[t].nodes; ++n)
        for (const float l : nodes[trees[t].root + n].leaves) leaf = std::max(leaf, std::abs(l));
      largest += leaf;
    }
    // |sum| < 2^29, and twice that for the difference of two leaves.
    const int exponent = largest > 0 ? 28 - std::ilogb(largest) : 0;
    const auto scaled = [&](double v) { return std::ldexp(v, exponent); };
    for (std::size_t t = stage.first_tree; t < stage.last_tree; ++t)
      for (std::uint32_t n = 0; n < trees[t].nodes; ++n) {
        Node& node = nodes[trees[t].root + n];
        for (int i = 0; i < 2; ++i)
          node.votes[i] = static_cast<std::int32_t>(std::lrint(scaled(node.leaves[i])));
      }
    // Half a unit for each rounded leaf, and one for the roundings of the f64 sum.
    const double margin = static_cast<double>(stage.last_tree - stage.first_tree) / 2 + 1;
    constexpr double beyond = 1 << 30;  // every sum
    const double threshold = std::clamp(scaled(stage.threshold), -beyond, beyond);
    stage.reject_below = static_cast<std::int32_t>(std::floor(threshold - margin));
    stage.pass_from = static_cast<std::int32_t>(std::ceil(threshold + margin));
    stages.push_back(stage);
  }
};

}  // namespace facesat::cpu
