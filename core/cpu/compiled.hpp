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
#include <tuple>
#include <utility>
#include <vector>

#include "core/cpu/evaluate.hpp"

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
    bool too_large_for_vectors;     // passes() takes one window at a time
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
    Stage stage{};
    stage.first_tree = from.first_tree;
    stage.tree_count = from.tree_count;
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
    stage.too_large_for_vectors = has_large || stage.node_count > vector_stage_nodes;
    round_leaves(stage, from.threshold);
    stages.push_back(stage);
  }

  // The trees of a stage in the order in which vectors evaluate them.
  static std::vector<int> by_shape(const Cascade& cascade, const facesat::Stage& stage) {
    std::vector<int> order(stage.tree_count);
    std::iota(order.begin(), order.end(), stage.first_tree);
    const auto shape_at = [&](const facesat::Tree& tree, int i) {
      const facesat::Node& node = cascade.nodes[tree.first_node + i];
      return std::tuple(node.left > 0, node.right > 0, Test::cost(cascade, node));
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const facesat::Tree &first = cascade.trees[a], &second = cascade.trees[b];
      if (first.node_count != second.node_count) return first.node_count < second.node_count;
      for (int i = 0; i < first.node_count; ++i)
        if (const auto x = shape_at(first, i), y = shape_at(second, i); x != y) return x < y;
      return false;
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

// ---- a cascade compiled for the three layouts of integral images from which its windows are read:
// tiles with a window at every pixel, tiles with a window at every second pixel, and gathered
// windows

// Windows from anywhere in a tile are gathered: the parts of the tables that they read are copied,
// interleaved, for `gathered_windows` of them at a time. Corner (x, y) of a window lies at
// offset(x, y) + window.
inline constexpr int gathered_windows = 16;
inline Layout gathered_layout(Size window, bool tilted) {
  Layout layout{.column = gathered_windows};
  layout.row = (window.width + 1) * layout.column;
  layout.tilted = tilted ? (window.height + 1) * layout.row : 0;
  return layout;
}

// Normalisation computes the inverse standard deviations of windows, and rejects low-variance
// windows; see evaluate_haar.cpp.
template <class Test, class Normalisation>
struct Compiled {
  // Survivors are gathered after about `nodes_before_gathering` nodes, and again after every
  // further `nodes_between`. By then so few are left that copying costs less than the lanes lost to
  // rejected windows.
  static constexpr int nodes_before_gathering = 190, nodes_between = 500;
  // Copies of larger windows (in pixels) are not in any cache, and would cost more than they save.
  static constexpr std::size_t largest_gathered = 1 << 16;

  Size window;
  Trees<Test> every_pixel, every_second, gathered;  // step 1; step 2; gathered windows
  Normalisation normalisation[2];                   // indexed by step - 1
  // A leg is the stages from one gathering to the next; leg_ends[k] is the stage after the last one
  // of leg k.
  std::vector<int> leg_ends;
  int first_leg_nodes = 0;  // of the first leg's stages, except those too large for vectors

  Compiled(const Cascade& cascade, const TileShape& shape)
      : window(cascade.window),
        every_pixel(cascade, shape.layout(1)),
        every_second(cascade, shape.layout(2)),
        gathered(cascade, gathered_layout(cascade.window, shape.tilted)),
        normalisation{{cascade.window, shape.layout(1)}, {cascade.window, shape.layout(2)}} {
    int nodes = 0, limit = nodes_before_gathering;
    for (int s = 0; s < gathered.stage_count(); ++s) {
      const auto& stage = gathered.stages[s];
      if (s > 0 && nodes >= limit && window.area() <= largest_gathered) {
        leg_ends.push_back(s);
        limit = nodes + nodes_between;
      }
      nodes += stage.node_count;
      if (leg_ends.empty() && !stage.too_large_for_vectors) first_leg_nodes += stage.node_count;
    }
    leg_ends.push_back(gathered.stage_count());
  }

  const Trees<Test>& trees(const Tile& tile) const {
    return tile.step == 1 ? every_pixel : every_second;
  }

  // Evaluator::depths(), one window after the other.
  void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const {
    for (int column = 0; column < tile.grid.width; ++column) {
      const std::uint32_t* const at = tile.window(column, row);
      const float inverse = normalisation[tile.step - 1].inverse_deviation(at, tile.squares);
      depths[column] = inverse == 0 ? 0 : trees(tile).depth(at, inverse, meter);
    }
  }
};

// `find_in_tile` is Evaluator::find_windows() with the cascade as its first argument, dispatched to
// the processor's instruction set.
template <class Model, auto find_in_tile>
class CompiledEvaluator final : public Evaluator {
 public:
  CompiledEvaluator(const Cascade& cascade, const TileShape& shape) : cascade_(cascade, shape) {}

  void find_windows(const Tile& tile, bool skip_rule, std::uint8_t* skips, EvaluationMemory& memory,
                    std::vector<Survivor>& windows, StopMeter& meter) const override {
    find_in_tile(cascade_, tile, skip_rule, skips, memory, windows, meter);
  }
  void depths(const Tile& tile, int row, std::uint32_t* depths, StopMeter& meter) const override {
    cascade_.depths(tile, row, depths, meter);
  }

 private:
  Model cascade_;
};

}  // namespace facesat::cpu
