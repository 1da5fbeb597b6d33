// A Haar cascade compiled for tensor cores: the values of many features of many windows are one
// product of two matrices of bytes, windows x pixels and pixels x features. Made on the host,
// without CUDA.
//
// The product's columns are nodes. Eight trees of the same stage are a bundle. If the cascade's
// trees have up to n nodes, a bundle has n groups of eight columns: group j has node j of every
// tree. So one thread has all nodes of a tree (see multiply_add() in device/matrix.hpp), and looks
// up the leaf by the nodes' outcomes, one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::gpu {

constexpr int column_group = 8;        // columns of one multiplication, and trees of a bundle
constexpr int most_product_nodes = 3;  // of a tree
constexpr int pixels_per_step = 32;    // of one multiplication
constexpr int pixels_per_row = 16;     // of a core matrix: see device/matrix.hpp

// Where the pixels of a window lie in a row of the first matrix: as squares of 4 x 4 pixels, in the
// order of reading, and so are the pixels of a square. A square is a row of a core matrix. Bytes
// of squares beyond the window's edges have weight 0, as have those after the last square.
struct WindowBytes {
  int squares_across = 0, squares_down = 0;
  int steps = 0;  // multiplications for all of them

  constexpr int at(int x, int y) const {
    return (y / 4 * squares_across + x / 4) * pixels_per_row + y % 4 * 4 + x % 4;
  }
  constexpr int squares() const { return squares_across * squares_down; }
  constexpr int core_matrices() const { return steps * (pixels_per_step / pixels_per_row); }
};
constexpr WindowBytes window_bytes(Size window) {
  const int across = (window.width + 3) / 4, down = (window.height + 3) / 4;
  const int bytes = across * down * pixels_per_row;
  return {across, down, (bytes + pixels_per_step - 1) / pixels_per_step};
}

// What ends a bundle.
struct alignas(16) BundleEnd {
  std::int64_t threshold;    // of the stage: rejected if its sum < threshold
  std::int64_t base;         // of the stage's sum: see BundleLayout::leaves()
  std::uint32_t ends_stage;  // whether this is the last bundle of its stage
};

// A leaf, or what sums exceed each other by: high * 2^low_bits + low. Up to 64 of them can be added
// part by part, without carry.
struct alignas(8) SplitValue {
  std::uint32_t low;
  std::int32_t high;
};
constexpr int low_bits = 26, most_added = 64;
// The most trees that a stage may have: a thread adds the leaves of two of the eight in a bundle.
constexpr int most_stage_trees = most_added / 2 * column_group;

// The two parts of a bundle, in bytes. All of these are multiples of 16.
struct BundleLayout {
  int tree_nodes = 0, steps = 0;

  constexpr int outcomes() const { return 1 << tree_nodes; }

  // Weights. A group of columns is a row of tiles, each for 16 pixels; a column is a row of them.
  constexpr int column_group_bytes() const { return column_group * steps * pixels_per_step; }
  constexpr int weight_bytes() const { return tree_nodes * column_group_bytes(); }

  // Trees: the thresholds of their nodes (f32, one per column), their leaves (SplitValue in fixed
  // point, one for each outcome of the tree's nodes, where bit j is set if node j goes left), and a
  // BundleEnd. Leaves are what they exceed that of outcome 0 by; the stage's base is the sum of
  // those. Of stumps there is only outcome 1.
  constexpr int first_outcome() const { return tree_nodes == 1 ? 1 : 0; }
  constexpr int leaves() const { return tree_nodes * column_group * 4; }
  constexpr int leaf(int tree, int outcome) const {
    const int place = tree * (outcomes() - first_outcome()) + outcome - first_outcome();
    return leaves() + place * static_cast<int>(sizeof(SplitValue));
  }
  constexpr int end() const { return leaf(column_group, first_outcome()); }
  constexpr int tree_bytes() const { return end() + static_cast<int>(sizeof(BundleEnd)); }
};

// Bundles without weights that follow the last one, so that readers may take several at once.
constexpr int spare_bundles = 12;

struct CompiledProducts {
  WindowBytes window;
  BundleLayout layout;
  std::vector<int> first_bundle;          // of each stage, and one past the last
  std::vector<std::byte> weights, trees;  // of all bundles
};

// The nodes of the largest tree if the cascade can be compiled: a Haar cascade whose trees have at
// most 3 nodes, with exact integer weights of 8 bits (pixel_weights()) and sums in fixed point,
// whose leaves fit into SplitValue.
std::optional<int> product_nodes(const Cascade& cascade);

// Throws std::logic_error if the cascade cannot be compiled.
CompiledProducts compile_products(const Cascade& cascade);

// A Haar feature as a weighted sum of its window's pixels, whose weights are small integers. Many
// features of many windows are then a product of two matrices of bytes (see late_stages.hpp).

// One weight per pixel of the window, row by row. For every picture, the weighted sum of the pixels
// is the integer that the feature's corners in the integral image give, and its f32 value is
// OpenCV's. nullopt if no such weights exist: see is_exact() in node.hpp; or if a weight does
// not fit into 8 bits. Throws std::logic_error if the feature reaches outside the window.
std::optional<std::vector<std::int8_t>> pixel_weights(const HaarFeature& feature, Size window);

}  // namespace facesat::gpu
