#include "kernels/cascade/compiled_cascade.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "core/rules.hpp"

namespace facesat::gpu {
namespace {

// ---- features

using rules::Corner;

// Are all f32 operations on this feature exact, whatever the pixels?
bool is_exact(const HaarFeature& feature) {
  constexpr double f32_integers = 1 << 24;
  double most = 0;
  for (const HaarFeature::Part& part : feature.parts) {
    if (part.weight != std::nearbyint(part.weight)) return false;
    const double pixels =
        static_cast<double>(part.rect.width) * part.rect.height * (feature.tilted ? 2 : 1);
    most += std::abs(static_cast<double>(part.weight)) * 255 * pixels;
  }
  return most < f32_integers;
}

// The coefficient of every table element that the feature asks for.
std::map<Corner, int> merged_corners(const HaarFeature& feature) {
  std::map<Corner, int> corners;
  for (const HaarFeature::Part& part : feature.parts)
    for (int i = 0; i < 4; ++i)
      corners[rules::corners_of(part.rect, feature.tilted)[i]] +=
          rules::corner_signs[i] * static_cast<int>(part.weight);
  std::erase_if(corners, [](const auto& corner) { return corner.second == 0; });
  return corners;
}

// A kind as the kernel sums it up: coefficients in the order of HaarNode::corner.
struct Pattern {
  HaarKind kind;
  int weight;
  std::vector<int> coefficients;
};

std::vector<Pattern> patterns_for(const std::map<Corner, int>& corners) {
  int largest = 0;
  for (const auto& [point, coefficient] : corners) largest = std::max(largest, coefficient);
  const int w = largest;
  return {{HaarKind::edge, w, {1, 1, -1, -1, w, -w}},
          {HaarKind::line, w, {1, 1, -1, -1, w, w, -w, -w}},
          {HaarKind::quad, 1, {1, 1, 1, 1, -2, -2, -2, -2, 4}},
          {HaarKind::quad, -1, {-1, -1, -1, -1, 2, 2, 2, 2, -4}}};
}

// The corners in the pattern's order, if the feature has exactly its coefficients.
std::optional<std::vector<Corner>> matched(std::map<Corner, int> corners, const Pattern& pattern) {
  if (corners.size() != pattern.coefficients.size() || pattern.weight > 127) return std::nullopt;
  std::vector<Corner> order;
  for (const int coefficient : pattern.coefficients) {
    const auto found = std::find_if(corners.begin(), corners.end(), [&](const auto& corner) {
      return corner.second == coefficient;
    });
    if (found == corners.end()) return std::nullopt;
    order.push_back(found->first);
    corners.erase(found);
  }
  return order;
}

class Compiler {
 public:
  Compiler(const Cascade& cascade, const PatchLayout& layout)
      : cascade_(cascade), layout_(layout) {}

  CompiledCascade compile() {
    choose_form();
    for (const Stage& stage : cascade_.stages) {
      add_stage(stage);
      out_.stage_ends.push_back(static_cast<int>(out_.nodes.size() + out_.lbp_nodes.size()));
    }
    return std::move(out_);
  }

 private:
  // ---- sums

  // The least number of fraction bits that holds all leaves; nothing if a stage's sums could then
  // leave the 53 bits in which f64 is exact.
  std::optional<int> exact_fraction_bits() const {
    int bits = 0;
    for (const float leaf : cascade_.leaves) {
      while (bits < 60 && std::ldexp(leaf, bits) != std::nearbyint(std::ldexp(leaf, bits))) ++bits;
    }
    if (bits == 60) return std::nullopt;
    for (const Stage& stage : cascade_.stages) {
      double most = std::abs(static_cast<double>(stage.threshold)) + 1;
      for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
        const Tree& tree = cascade_.trees[t];
        float largest = 0;
        for (int i = 0; i <= tree.node_count; ++i)
          largest = std::max(largest, std::abs(cascade_.leaves[tree.first_leaf + i]));
        most += largest;
      }
      if (std::ldexp(most, bits) >= 0x1p53) return std::nullopt;
    }
    return bits;
  }

  std::int64_t fixed(double value) const {
    return static_cast<std::int64_t>(std::ceil(std::ldexp(value, out_.fraction_bits)));
  }
  std::int64_t leaf(int index) const {
    const double value = cascade_.leaves[index];
    return out_.fixed_point ? fixed(value) : std::bit_cast<std::int64_t>(value);
  }

  void choose_form() {
    using Form = CompiledCascade::Form;
    const std::optional<int> bits = exact_fraction_bits();
    out_.fixed_point = bits.has_value();
    out_.fraction_bits = bits.value_or(0);
    const bool stumps = out_.fixed_point && cascade_.is_stumps();
    switch (cascade_.kind) {
      case FeatureKind::haar:
        out_.form = stumps ? Form::haar_stumps : Form::haar_trees;
        add_normalisation();
        return;
      case FeatureKind::lbp:
        out_.form = stumps ? Form::lbp_stumps : Form::lbp_trees;
        return;
    }
  }

  void add_stage(const Stage& stage) {
    switch (out_.form) {
      case CompiledCascade::Form::haar_stumps:
        return add_haar_stumps(stage);
      case CompiledCascade::Form::lbp_stumps:
        return add_lbp_stumps(stage);
      case CompiledCascade::Form::haar_trees:
        return add_trees(stage, out_.nodes, [&](const Node& node) { return haar_node(node); });
      case CompiledCascade::Form::lbp_trees:
        return add_trees(stage, out_.lbp_nodes, [&](const Node& node) { return lbp_node(node); });
    }
  }

  CompiledStage begin_stage(const Stage& stage) const {
    CompiledStage compiled{};
    compiled.threshold = out_.fixed_point ? fixed(stage.threshold) : 0;
    compiled.threshold_f64 = stage.threshold;
    return compiled;
  }

  // Adds the stumps' nodes through `add`, which gives the one added.
  template <class Add>
  CompiledStage stage_of_stumps(const Stage& stage, Add add) const {
    CompiledStage compiled = begin_stage(stage);
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      const Tree& tree = cascade_.trees[t];
      const Node& node = cascade_.nodes[tree.first_node];
      const std::int64_t left = leaf(tree.first_leaf - node.left),
                         right = leaf(tree.first_leaf - node.right);
      add(node).gain = left - right;
      compiled.base += right;
    }
    return compiled;
  }

  void add_lbp_stumps(const Stage& stage) {
    const int first = static_cast<int>(out_.lbp_nodes.size());
    CompiledStage compiled = stage_of_stumps(stage, [this](const Node& node) -> LbpNode& {
      return out_.lbp_nodes.emplace_back(lbp_node(node));
    });
    compiled.run[0] = first;
    compiled.run[1] = static_cast<int>(out_.lbp_nodes.size());
    out_.stages.push_back(compiled);
  }

  void add_haar_stumps(const Stage& stage) {
    const int first = static_cast<int>(out_.nodes.size());
    CompiledStage compiled = stage_of_stumps(stage, [this](const Node& node) -> HaarNode& {
      return out_.nodes.emplace_back(haar_node(node));
    });
    std::stable_sort(out_.nodes.begin() + first, out_.nodes.end(),
                     [](const HaarNode& a, const HaarNode& b) { return a.kind < b.kind; });
    compiled.run[0] = first;
    for (int kind = 0; kind < haar_kinds; ++kind)
      compiled.run[kind + 1] =
          compiled.run[kind] +
          static_cast<int>(std::count_if(
              out_.nodes.begin() + first, out_.nodes.end(),
              [kind](const HaarNode& n) { return static_cast<int>(n.kind) == kind; }));
    out_.stages.push_back(compiled);
  }

  template <class Compiled, class Compile>
  void add_trees(const Stage& stage, std::vector<Compiled>& nodes, Compile compile_node) {
    CompiledStage compiled = begin_stage(stage);
    compiled.run[0] = static_cast<int>(out_.roots.size());
    for (int t = stage.first_tree; t < stage.first_tree + stage.tree_count; ++t) {
      const Tree& tree = cascade_.trees[t];
      out_.roots.push_back(static_cast<int>(nodes.size()));
      const int first_leaf = static_cast<int>(out_.leaves.size());
      for (int i = 0; i <= tree.node_count; ++i) out_.leaves.push_back(leaf(tree.first_leaf + i));
      for (int i = 0; i < tree.node_count; ++i) {
        const Node& node = cascade_.nodes[tree.first_node + i];
        nodes.push_back(compile_node(node));
        nodes.back().branch = {static_cast<std::int16_t>(node.left),
                               static_cast<std::int16_t>(node.right), first_leaf};
      }
    }
    compiled.run[1] = static_cast<int>(out_.roots.size());
    out_.stages.push_back(compiled);
  }

  // ---- nodes

  std::uint16_t word(Corner p, bool tilted) const {
    return static_cast<std::uint16_t>(layout_.word(p.x, p.y) +
                                      (tilted ? layout_.plane_words() : 0));
  }

  HaarNode haar_node(const Node& node) {
    const HaarFeature& feature = cascade_.haar[node.feature];
    HaarNode compiled{};
    compiled.threshold = node.threshold;
    if (is_exact(feature)) {
      const std::map<Corner, int> corners = merged_corners(feature);
      for (const Pattern& pattern : patterns_for(corners)) {
        const auto order = matched(corners, pattern);
        if (!order) continue;
        compiled.kind = pattern.kind;
        compiled.weight = static_cast<std::int8_t>(pattern.weight);
        for (std::size_t i = 0; i < order->size(); ++i) {
          const std::uint32_t corner = word((*order)[i], feature.tilted);
          if (i < 8)
            compiled.corners[i / 2] |= corner << (i % 2 * 16);
          else
            compiled.last_corner = static_cast<std::uint16_t>(corner);
        }
        return compiled;
      }
    }
    compiled.kind = HaarKind::general;
    compiled.corners[0] = static_cast<std::uint32_t>(out_.general.size());
    GeneralFeature& general = out_.general.emplace_back();
    for (int p = 0; p < 3; ++p) {
      const auto corners = rules::corners_of(feature.parts[p].rect, feature.tilted);
      for (int i = 0; i < 4; ++i) general.corner[p][i] = word(corners[i], feature.tilted);
      general.weight[p] = feature.parts[p].weight;
    }
    return compiled;
  }

  LbpNode lbp_node(const Node& node) const {
    const Rect& block = cascade_.lbp[node.feature].block;
    LbpNode compiled{};
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        compiled.corners[j][i / 2] |=
            std::uint32_t{word({block.x + i * block.width, block.y + j * block.height}, false)}
            << (i % 2 * 16);
    std::copy(node.subset.begin(), node.subset.end(), compiled.subset);
    return compiled;
  }

  // What rules::normalisation() lets pass, as a least spread: it passes all above one that passes.
  void add_normalisation() {
    const Rect inner = rules::normalised_rectangle(cascade_.window);
    const std::int64_t area = static_cast<std::int64_t>(inner.width) * inner.height;
    out_.normalised_area = area;
    std::int64_t too_low = 0, enough = std::int64_t{1} << 62;
    while (enough - too_low > 1) {
      const std::int64_t middle = too_low + (enough - too_low) / 2;
      (rules::normalisation(static_cast<double>(area), middle) != 0 ? enough : too_low) = middle;
    }
    out_.min_spread = enough;
  }

  const Cascade& cascade_;
  const PatchLayout& layout_;
  CompiledCascade out_;
};

}  // namespace

PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes) {
  PatchLayout layout;
  layout.step = step;
  layout.planes = planes;
  layout.columns = (tile_columns - 1) * step + window.width + 1;
  layout.pitch = step == 1 ? layout.columns : (layout.columns + 1) / 2 * 2;
  for (layout.rows_of_windows = max_tile_rows;; layout.rows_of_windows /= 2) {
    layout.rows = (layout.rows_of_windows - 1) * step + window.height + 1;
    if (layout.rows_of_windows == 1 || layout.bytes() <= most_bytes) return layout;
  }
}

CompiledCascade compile_cascade(const Cascade& cascade, const PatchLayout& layout) {
  return Compiler(cascade, layout).compile();
}

double score_of(const CompiledCascade& cascade, std::int64_t sum) {
  return cascade.fixed_point ? std::ldexp(static_cast<double>(sum), -cascade.fraction_bits)
                             : std::bit_cast<double>(sum);
}

}  // namespace facesat::gpu
