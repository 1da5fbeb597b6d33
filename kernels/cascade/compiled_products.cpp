#include "kernels/cascade/compiled_products.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/rules.hpp"
#include "kernels/cascade/compiled_cascade.hpp"
#include "kernels/cascade/node.hpp"

namespace facesat::gpu {
namespace {

using rules::Corner;

// Is pixel (x, y) inside a tilted rectangle, whose corners these are? In the tilted integral image,
// a sum is over the cone above its corner: see cpu::tilted_integral().
bool is_inside_tilted(const std::array<Corner, 4>& corners, int x, int y) {
  int count = 0;
  for (int i = 0; i < 4; ++i)
    if (std::abs(x + 1 - corners[i].x) < corners[i].y - y) count += rules::corner_signs[i];
  return count == 1;
}

}  // namespace

std::optional<std::vector<std::int8_t>> pixel_weights(const HaarFeature& feature, Size window) {
  if (!is_exact(feature)) return std::nullopt;
  std::vector<int> weights(window.area());
  for (const HaarFeature::Part& part : feature.parts) {
    const auto weight = static_cast<int>(part.weight);
    if (weight == 0) continue;
    const Rect& r = part.rect;
    const auto corners = rules::corners_of(r, feature.tilted);
    // The rows and columns that the rectangle reaches.
    const int left = feature.tilted ? r.x - r.height : r.x, top = r.y;
    const int right = r.x + r.width, bottom = r.y + r.height + (feature.tilted ? r.width : 0);
    if (left < 0 || top < 0 || right > window.width || bottom > window.height)
      throw std::logic_error("a feature reaches outside its window");
    for (int y = top; y < bottom; ++y)
      for (int x = left; x < right; ++x)
        if (!feature.tilted || is_inside_tilted(corners, x, y))
          weights[static_cast<std::size_t>(y) * window.width + x] += weight;
  }
  std::vector<std::int8_t> bytes;
  for (const int weight : weights) {
    if (weight < INT8_MIN || weight > INT8_MAX) return std::nullopt;
    bytes.push_back(static_cast<std::int8_t>(weight));
  }
  return bytes;
}

namespace {

// The high part of a difference of two such leaves is at most 2^24, and most_added of them 2^30.
constexpr std::int64_t most_leaf = std::int64_t{1} << (low_bits + 23);

SplitValue split(std::int64_t value) {
  return {static_cast<std::uint32_t>(value & ((1 << low_bits) - 1)),
          static_cast<std::int32_t>(value >> low_bits)};
}

class Compiler {
 public:
  explicit Compiler(const Cascade& cascade) : cascade_(cascade) {
    const std::optional<int> nodes = product_nodes(cascade);
    if (!nodes) throw std::logic_error("this cascade cannot be compiled for tensor cores");
    out_.window = window_bytes(cascade.window);
    out_.layout = {*nodes, out_.window.steps};
    fraction_bits_ = *exact_fraction_bits(cascade);
  }

  CompiledProducts compile() {
    out_.first_bundle.push_back(0);
    for (const Stage& stage : cascade_.stages) {
      base_ = 0;
      for (int t = 0; t < stage.tree_count; ++t) {
        if (t % column_group == 0) add_bundles(1);
        add_tree(cascade_.trees[stage.first_tree + t], t % column_group);
      }
      put_into_trees(out_.layout.end(),
                     BundleEnd{to_fixed_point(stage.threshold, fraction_bits_), base_, 1});
      out_.first_bundle.push_back(bundles_);
    }
    add_bundles(spare_bundles);
    return std::move(out_);
  }

 private:
  void add_bundles(int count) {
    bundles_ += count;
    const auto all = static_cast<std::size_t>(bundles_);
    out_.weights.resize(all * out_.layout.weight_bytes());
    out_.trees.resize(all * out_.layout.tree_bytes());
  }

  // Adds a tree to the last bundle.
  void add_tree(const Tree& tree, int place) {
    const BundleLayout& layout = out_.layout;
    for (int j = 0; j < tree.node_count; ++j) {
      const Node& node = cascade_.nodes[tree.first_node + j];
      put_into_trees((j * column_group + place) * 4, node.threshold);
      put_weights(cascade_.haar[node.feature], j, place);
    }
    const std::int64_t first = leaf_value(tree, 0);
    for (int outcome = layout.first_outcome(); outcome < layout.outcomes(); ++outcome)
      put_into_trees(layout.leaf(place, outcome), split(leaf_value(tree, outcome) - first));
    base_ += first;
  }

  std::int64_t leaf_value(const Tree& tree, int outcome) const {
    return to_fixed_point(cascade_.leaves[tree.first_leaf + leaf_of(tree, outcome)],
                          fraction_bits_);
  }

  // The leaf of a tree that a window reaches. Bit j of `outcome`: node j goes left.
  int leaf_of(const Tree& tree, int outcome) const {
    for (int j = 0;;) {
      const Node& node = cascade_.nodes[tree.first_node + j];
      const int child = outcome >> j & 1 ? node.left : node.right;
      if (child <= 0) return -child;
      j = child;
    }
  }

  void put_weights(const HaarFeature& feature, int group, int column) {
    const std::vector<std::int8_t> weights = *pixel_weights(feature, cascade_.window);
    std::byte* const to = out_.weights.data() + out_.weights.size() - out_.layout.weight_bytes() +
                          group * out_.layout.column_group_bytes();
    for (int y = 0; y < cascade_.window.height; ++y)
      for (int x = 0; x < cascade_.window.width; ++x) {
        const int pixel = out_.window.at(x, y);
        const int row = pixel / pixels_per_row * column_group + column;
        to[row * pixels_per_row + pixel % pixels_per_row] = static_cast<std::byte>(
            weights[static_cast<std::size_t>(y) * cascade_.window.width + x]);
      }
  }

  // `offset`: in the last bundle.
  template <class T>
  void put_into_trees(int offset, const T& value) {
    std::memcpy(out_.trees.data() + out_.trees.size() - out_.layout.tree_bytes() + offset, &value,
                sizeof value);
  }

  const Cascade& cascade_;
  int fraction_bits_ = 0;
  int bundles_ = 0;
  std::int64_t base_ = 0;  // of the stage
  CompiledProducts out_;
};

}  // namespace

std::optional<int> product_nodes(const Cascade& cascade) {
  const std::optional<int> fraction_bits = exact_fraction_bits(cascade);
  if (cascade.haar.empty() || !fraction_bits) return std::nullopt;
  for (const float leaf : cascade.leaves)
    if (std::abs(to_fixed_point(leaf, *fraction_bits)) >= most_leaf) return std::nullopt;
  for (const Stage& stage : cascade.stages)
    if (stage.tree_count > most_stage_trees) return std::nullopt;
  int most = 1;
  for (const Tree& tree : cascade.trees) most = std::max(most, tree.node_count);
  if (most > most_product_nodes) return std::nullopt;
  for (const HaarFeature& feature : cascade.haar)
    if (!pixel_weights(feature, cascade.window)) return std::nullopt;
  return most;
}

CompiledProducts compile_products(const Cascade& cascade) {
  return Compiler(cascade).compile();
}

}  // namespace facesat::gpu
