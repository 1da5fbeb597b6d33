#include "kernels/cascade/compiled_products.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/cascade/compiled_cascade.hpp"
#include "kernels/cascade/pixel_weights.hpp"

namespace facesat::gpu {
namespace {

class Compiler {
 public:
  Compiler(const Cascade& cascade, int column_groups) : cascade_(cascade) {
    const std::optional<int> nodes = product_nodes(cascade);
    if (!nodes) throw std::logic_error("this cascade cannot be compiled for tensor cores");
    out_.window = window_bytes(cascade.window);
    out_.layout = {column_groups, *nodes, out_.window.steps};
    fraction_bits_ = *exact_fraction_bits(cascade);
  }

  CompiledProducts compile(const std::vector<int>& group_begins) {
    const auto stages = static_cast<int>(cascade_.stages.size());
    for (std::size_t g = 0; g < group_begins.size(); ++g) {
      const int begin = group_begins[g];
      const int end = g + 1 < group_begins.size() ? group_begins[g + 1] : stages;
      const int first_slice = slice_count_;
      bundle_ = out_.layout.bundles();  // a group begins a slice
      for (int s = begin; s < end; ++s) add_stage(cascade_.stages[s]);
      out_.groups.push_back({begin, end - begin, first_slice, slice_count_ - first_slice});
    }
    return std::move(out_);
  }

 private:
  void add_stage(const Stage& stage) {
    for (int t = 0; t < stage.tree_count; ++t) {
      if (t % column_group == 0) add_bundle();
      add_tree(cascade_.trees[stage.first_tree + t], t % column_group);
    }
    put(out_.layout.ends() + bundle_ * static_cast<int>(sizeof(BundleEnd)),
        BundleEnd{to_fixed_point(stage.threshold, fraction_bits_), 1});
  }

  void add_bundle() {
    if (++bundle_ < out_.layout.bundles()) return;
    bundle_ = 0;
    ++slice_count_;
    out_.slices.resize(out_.slices.size() + out_.layout.bytes());
  }

  void add_tree(const Tree& tree, int place) {
    const SliceLayout& layout = out_.layout;
    for (int j = 0; j < tree.node_count; ++j) {
      const Node& node = cascade_.nodes[tree.first_node + j];
      const int column = (bundle_ * layout.tree_nodes + j) * column_group + place;
      put(layout.thresholds() + column * 4, node.threshold);
      add_weights(cascade_.haar[node.feature], column);
    }
    for (int outcome = 0; outcome < layout.outcomes(); ++outcome) {
      const int index = (bundle_ * column_group + place) * layout.outcomes() + outcome;
      put(layout.leaves() + index * 8,
          to_fixed_point(cascade_.leaves[tree.first_leaf + leaf_of(tree, outcome)],
                         fraction_bits_));
    }
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

  void add_weights(const HaarFeature& feature, int column) {
    const std::vector<std::int8_t> weights = *pixel_weights(feature, cascade_.window);
    for (int y = 0; y < cascade_.window.height; ++y)
      for (int x = 0; x < cascade_.window.width; ++x) {
        const int pixel = y * out_.window.row_bytes + x;
        put(pixel / pixels_per_row * out_.layout.columns() * pixels_per_row +
                column * pixels_per_row + pixel % pixels_per_row,
            weights[static_cast<std::size_t>(y) * cascade_.window.width + x]);
      }
  }

  // Writes into the last slice.
  template <class T>
  void put(int offset, const T& value) {
    std::memcpy(out_.slices.data() + out_.slices.size() - out_.layout.bytes() + offset, &value,
                sizeof value);
  }

  const Cascade& cascade_;
  int fraction_bits_ = 0;
  int slice_count_ = 0, bundle_ = 0;  // the last bundle in the last slice
  CompiledProducts out_;
};

}  // namespace

WindowBytes window_bytes(Size window) {
  const int row_bytes = (window.width + 3) / 4 * 4;
  return {row_bytes, (row_bytes * window.height + pixels_per_step - 1) / pixels_per_step};
}

std::optional<int> product_nodes(const Cascade& cascade) {
  if (cascade.kind != FeatureKind::haar || !exact_fraction_bits(cascade)) return std::nullopt;
  int most = 1;
  for (const Tree& tree : cascade.trees) most = std::max(most, tree.node_count);
  if (most > most_product_nodes) return std::nullopt;
  for (const HaarFeature& feature : cascade.haar)
    if (!pixel_weights(feature, cascade.window)) return std::nullopt;
  return most;
}

CompiledProducts compile_products(const Cascade& cascade, const std::vector<int>& group_begins,
                                  int column_groups) {
  return Compiler(cascade, column_groups).compile(group_begins);
}

}  // namespace facesat::gpu
