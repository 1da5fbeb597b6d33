// The late stages of a Haar cascade, compiled for tensor cores: the values of many features of many
// windows are one product of two matrices of bytes, windows x pixels and pixels x features. Made on
// the host, without CUDA.
//
// The product's columns are nodes. Eight trees of the same stage are a bundle. If the cascade's
// trees have up to n nodes, a bundle has n groups of eight columns: group j has node j of every
// tree. So one thread has all nodes of a tree (see multiply_add() in device/matrix.hpp), and looks
// up the leaf by the nodes' outcomes, one bit each.
//
// Bundles are gathered in slices, which are multiplied one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::gpu {

constexpr int column_group = 8;        // columns of one multiplication, and trees of a bundle
constexpr int most_product_nodes = 3;  // of a tree
constexpr int pixels_per_step = 32;    // of one multiplication
constexpr int pixels_per_row = 16;     // of a tile: see device/matrix.hpp

// Where the pixels of a window lie in a row of the first matrix. A row of the window begins at a
// multiple of 4 bytes; the bytes between have weight 0, as have those at the end.
struct WindowBytes {
  int row_bytes = 0;  // from a row of the window to the next
  int steps = 0;      // multiplications for all of them

  constexpr int total() const { return steps * pixels_per_step; }
};
WindowBytes window_bytes(Size window);

// Ends a bundle in a slice.
struct alignas(16) BundleEnd {
  std::int64_t threshold;    // of the stage: rejected if its sum < threshold
  std::uint32_t ends_stage;  // whether this is the last bundle of its stage
};

// The parts of a slice, in bytes from its beginning. All begin at multiples of 16.
struct SliceLayout {
  int column_groups = 0, tree_nodes = 0, steps = 0;

  constexpr int columns() const { return column_groups * column_group; }
  constexpr int bundles() const { return column_groups / tree_nodes; }
  constexpr int outcomes() const { return 1 << tree_nodes; }

  // Weights: for each 16 pixels, for each column, 16 bytes.
  constexpr int thresholds() const { return steps * pixels_per_step * columns(); }
  // f32, one per column.
  constexpr int leaves() const { return thresholds() + columns() * 4; }
  // Fixed point: for each bundle, for each of its trees, for each outcome of the tree's nodes. Bit
  // j is set if node j goes left.
  constexpr int ends() const { return leaves() + bundles() * column_group * outcomes() * 8; }
  constexpr int bytes() const { return ends() + bundles() * static_cast<int>(sizeof(BundleEnd)); }
};

// Some stages in sequence. Windows that pass them all go to the next group.
struct StageGroup {
  int first_stage, stages;
  int first_slice, slices;
};

struct CompiledProducts {
  WindowBytes window;
  SliceLayout layout;
  std::vector<StageGroup> groups;
  std::vector<std::byte> slices;  // layout.bytes() each
};

// The nodes of the largest tree if the cascade can be compiled: a Haar cascade whose trees have at
// most 3 nodes, with exact integer weights of 8 bits (pixel_weights()) and sums in fixed point.
std::optional<int> product_nodes(const Cascade& cascade);

// `group_begins`: the first stage of each group, rising. Slices have `column_groups` groups of
// columns, a multiple of product_nodes(). Throws std::logic_error if the cascade cannot be
// compiled.
CompiledProducts compile_products(const Cascade& cascade, const std::vector<int>& group_begins,
                                  int column_groups);

}  // namespace facesat::gpu
