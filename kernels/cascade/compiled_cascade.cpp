#include "kernels/cascade/compiled_cascade.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>

#include "kernels/cascade/evaluate.hpp"

namespace facesat::gpu {
namespace {

template <class CompiledNode>
class Compiler {
 public:
  Compiler(const Cascade& cascade, const PatchLayout& layout)
      : cascade_(cascade), compile_node_(cascade, layout) {
    const std::optional<int> bits = exact_fraction_bits(cascade);
    out_.fixed_point = bits.has_value();
    out_.fraction_bits = bits.value_or(0);
    out_.stumps = out_.fixed_point && cascade.is_stumps();
  }

  CompiledCascade compile() {
    for (const Stage& stage : cascade_.stages) {
      out_.stages.push_back(out_.stumps ? stage_of_stumps(stage) : stage_of_trees(stage));
      out_.stage_ends.push_back(static_cast<int>(nodes_.size()));
    }
    compile_node_.finish(out_);
    out_.nodes = std::move(nodes_);
    return std::move(out_);
  }

 private:
  std::int64_t fixed(double value) const { return to_fixed_point(value, out_.fraction_bits); }
  std::int64_t leaf(int index) const {
    const double value = cascade_.leaves[index];
    return out_.fixed_point ? fixed(value) : std::bit_cast<std::int64_t>(value);
  }

  CompiledStage begin_stage(const Stage& stage) const {
    CompiledStage compiled{};
    compiled.threshold = out_.fixed_point ? fixed(stage.threshold) : 0;
    compiled.threshold_f64 = stage.threshold;
    return compiled;
  }

  CompiledStage stage_of_stumps(const Stage& stage) {
    CompiledStage compiled = begin_stage(stage);
    const std::size_t first = nodes_.size();
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      const Tree& tree = cascade_.trees[t];
      const Node& node = cascade_.nodes[tree.first_node];
      const std::int64_t left = leaf(tree.first_leaf - node.left),
                         right = leaf(tree.first_leaf - node.right);
      nodes_.push_back(compile_node_(node));
      nodes_.back().gain = left - right;
      compiled.base += right;
    }
    compiled.runs =
        NodeCompiler<CompiledNode>::sort(std::span(nodes_).subspan(first), static_cast<int>(first));
    return compiled;
  }

  CompiledStage stage_of_trees(const Stage& stage) {
    CompiledStage compiled = begin_stage(stage);
    compiled.runs.begin[0] = static_cast<int>(out_.roots.size());
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      const Tree& tree = cascade_.trees[t];
      out_.roots.push_back(static_cast<int>(nodes_.size()));
      const int first_leaf = static_cast<int>(out_.leaves.size());
      for (int i = 0; i <= tree.node_count; ++i) out_.leaves.push_back(leaf(tree.first_leaf + i));
      for (int i = 0; i < tree.node_count; ++i) {
        const Node& node = cascade_.nodes[tree.first_node + i];
        nodes_.push_back(compile_node_(node));
        nodes_.back().branch = {static_cast<std::int16_t>(node.left),
                                static_cast<std::int16_t>(node.right), first_leaf};
      }
    }
    compiled.runs.begin[1] = static_cast<int>(out_.roots.size());
    return compiled;
  }

  const Cascade& cascade_;
  NodeCompiler<CompiledNode> compile_node_;
  std::vector<CompiledNode> nodes_;
  CompiledCascade out_;
};

}  // namespace

std::optional<int> exact_fraction_bits(const Cascade& cascade) {
  int bits = 0;
  for (const float leaf : cascade.leaves)
    while (bits < 60 && std::ldexp(leaf, bits) != std::nearbyint(std::ldexp(leaf, bits))) ++bits;
  if (bits == 60) return std::nullopt;
  for (const Stage& stage : cascade.stages) {
    // An upper bound of all partial sums and of the threshold rounded up.
    double most = std::abs(static_cast<double>(stage.threshold)) + 1;
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      const Tree& tree = cascade.trees[t];
      float largest = 0;
      for (int i = 0; i <= tree.node_count; ++i)
        largest = std::max(largest, std::abs(cascade.leaves[tree.first_leaf + i]));
      most += largest;
    }
    if (std::ldexp(most, bits) >= 0x1p53) return std::nullopt;
  }
  return bits;
}

std::int64_t to_fixed_point(double value, int fraction_bits) {
  return static_cast<std::int64_t>(std::ceil(std::ldexp(value, fraction_bits)));
}

CompiledCascade compile_cascade(const Cascade& cascade, const PatchLayout& layout) {
  switch (cascade.kind) {
    case FeatureKind::haar:
      return Compiler<HaarNode>(cascade, layout).compile();
    case FeatureKind::lbp:
      return Compiler<LbpNode>(cascade, layout).compile();
  }
  throw std::logic_error("unknown kind of feature");
}

double score_of(const CompiledCascade& cascade, std::int64_t sum) {
  if (cascade.fixed_point) return std::ldexp(static_cast<double>(sum), -cascade.fraction_bits);
  // See OrderedSum::bits().
  return std::bit_cast<double>(sum < 0 ? sum ^ std::numeric_limits<std::int64_t>::max() : sum);
}

// ---- what evaluation needs to know before its first launch: layouts, tiles, the cascade's
// description

int min_shared_bytes(const Cascade& cascade) {
  const int planes = cascade.has_tilted() ? 2 : 1;
  return std::max(make_patch_layout(cascade.window, 1, planes, 0).bytes(),
                  make_patch_layout(cascade.window, 2, planes, 0).bytes());
}

StepCascade describe(const CompiledCascade& compiled, const PatchLayout& layout) {
  StepCascade step{};
  step.layout = layout;
  step.stage_count = static_cast<std::int32_t>(compiled.stages.size());
  step.normalised_area = compiled.normalised_area;
  step.min_spread = compiled.min_spread;
  std::ranges::copy(compiled.normalised_corners, step.normalised_corners);
  std::visit(
      [&](const auto& nodes) {
        constexpr std::size_t room = parameter_bytes / sizeof nodes[0];
        const std::size_t count = std::min(nodes.size(), room);
        if (count > 0) std::memcpy(step.first_nodes, nodes.data(), count * sizeof nodes[0]);
        for (const std::int32_t end : compiled.stage_ends)
          step.parameter_stages += end <= static_cast<int>(room);
      },
      compiled.nodes);
  return step;
}

EvaluatePlan plan_evaluate(const Pyramid& pyramid, const AtlasPlan& atlas, const Cascade& cascade) {
  EvaluatePlan plan;
  for (const int step : {1, 2})
    plan.layout[step - 1] =
        make_patch_layout(cascade.window, step, cascade.has_tilted() ? 2 : 1, target_patch_bytes);
  for (int i = 0; i < static_cast<int>(pyramid.levels.size()); ++i) {
    const Level& level = pyramid.levels[i];
    const int rows = plan.layout[level.step - 1].rows_of_windows;
    const int across = divide_up(level.grid.width, tile_columns);
    plan.first_tile.push_back(static_cast<int>(plan.tiles.size()));
    for (int row = 0; row * rows < level.grid.height; ++row)
      for (int column = 0; column < across; ++column)
        plan.tiles.push_back({static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(column),
                              static_cast<std::uint64_t>(row)});
    plan.levels.push_back({atlas.places[i].x, atlas.places[i].y, level.step, level.grid.width,
                           level.grid.height, across, static_cast<std::int32_t>(plan.words)});
    plan.words += static_cast<std::size_t>(across) * level.grid.height;
  }
  plan.first_tile.push_back(static_cast<int>(plan.tiles.size()));
  return plan;
}

}  // namespace facesat::gpu
