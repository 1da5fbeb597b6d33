// Evaluates the late stages of a Haar cascade on tensor cores, for the windows that passed the
// early ones: from pixels to candidates, without integral images. See compiled_products.hpp.
// While tiles have many windows left, that is done tile by tile, afterwards window by window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/cascade/compiled_products.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/patch_layout.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// ---- window by window

// How much a block multiplies at once. A slice is as many bundles as column_groups hold.
struct WindowShape {
  int column_groups;  // of a slice; a multiple of a tree's nodes
  int warpgroups;     // of a block; a warpgroup is 4 warps
  int slots;  // for slices in shared memory: for all of a group, or 2, which they pass through
};

// The shape for a group with this number of bundles, on a device whose blocks have at most
// `shared_bytes` of shared memory. No warpgroups: that is too little.
WindowShape choose_window_shape(const BundleLayout& layout, int bundles, int shared_bytes);

struct WindowTask {
  View<const std::uint8_t> atlas;         // rows begin on 4-byte boundaries
  const EvaluateLevel* levels;            // of the pyramid
  std::int32_t first_level, level_count;  // that are in the atlas
  WindowQueue in;
  WindowQueue out;                 // of the next group; without memory if this is the last one
  Candidate* candidates;           // of the last group
  std::uint32_t* candidate_count;  // may exceed the capacity
  std::uint32_t capacity;
  // The group's bundles, and spare ones after them: see CompiledProducts.
  const uint4 *weights, *trees;
  std::int32_t bundles;
  BundleLayout layout;
  WindowBytes bytes;
  Size window;
  WindowShape shape;
  bool by_warpgroup;  // multiply_by_warpgroup(): see can_multiply_by_warpgroup()
};

// A task that evaluates the stages from `first_stage` up to, but not including, `end_stage`, with
// the members that describe them. `weights` and `trees` are those of `products`, in device memory,
// on 16-byte boundaries.
WindowTask products_task(const CompiledProducts& products, const std::byte* weights,
                         const std::byte* trees, int first_stage, int end_stage);

// Whether the current device can, and this build has the code.
bool can_multiply_by_warpgroup();

// Enqueues one launch, for one group of stages. Survivors are appended in no particular order.
void enqueue_window_stages(const WindowTask& task, StreamHandle stream);

// ---- tile by tile

// The pixels under a tile of windows, as they lie in shared memory. A lane reads four pixels of a
// window at once, and windows begin at any pixel; so there are copies that are shifted by a pixel
// each (at step 2, by two), and every window begins with a word of one of them.
struct TilePixels {
  int step = 1;
  int rows_of_windows = 0;
  int rows = 0, words = 0;  // of pixels, and of 4 pixels in a row of a copy

  // Words from row to row. A product reads a column of 4 words for each of 8 windows; with this and
  // the distance of copies, all 32 are in different banks if the windows are those of 8
  // neighbouring columns of the grid, from one whose copy is the first.
  static constexpr int pitch = 72;

  // Words from a copy of a row to the next.
  constexpr int copy_words() const { return pitch / 4 * step; }
  constexpr int bytes() const { return rows * pitch * 4; }
  // The word of the first pixel of the window in a column and row of the tile.
  constexpr int word(unsigned column, unsigned row) const {
    const unsigned shift = static_cast<unsigned>(step) - 1, x = column << shift;
    const unsigned copy = (x & 3) >> shift;
    return static_cast<int>((row << shift) * pitch + x / 4) + static_cast<int>(copy) * copy_words();
  }
};

// For a tile as its patch has it, and windows whose pixels are multiplied as squares. No rows: a
// copy's row would be longer than its place.
constexpr TilePixels make_tile_pixels(const WindowBytes& window, const PatchLayout& tile) {
  TilePixels pixels{tile.step, tile.rows_of_windows};
  pixels.words = (tile_columns - 1) * tile.step / 4 + window.squares_across;
  if (pixels.words <= pixels.copy_words())
    pixels.rows = (tile.rows_of_windows - 1) * tile.step + 4 * window.squares_down;
  return pixels;
}

// How much a block multiplies at once.
struct TileShape {
  int column_groups;  // of a slice; a multiple of a tree's nodes
  int warpgroups;     // of a block, each with a tile of its own
};

// Tiles that are taken, and blocks that have finished. Zero before the first use; the kernel leaves
// it so.
struct TileTickets {
  std::uint32_t next, finished;
};

struct TileTask {
  View<const std::uint8_t> atlas;  // rows begin on 4-byte boundaries, and levels, too
  const EvaluateLevel* levels;     // of the pyramid
  const EvaluateTile* tiles;       // of the launch that filled the lists
  std::uint32_t tile_count;
  TileLists lists;  // survivors stay there
  WindowQueue out;  // of the last group: survivors go there instead. Has room for all windows
  TileTickets* tickets;
  // The group's bundles, and spare ones after them: see CompiledProducts.
  const uint4 *weights, *trees;
  std::int32_t bundles;
  BundleLayout layout;
  WindowBytes bytes;
  TilePixels pixels[2];  // for step 1 and 2
  TileShape shape;
  bool by_warpgroup;  // see can_multiply_by_warpgroup()
};

// A task that evaluates the stages from `first_stage` up to, but not including, `end_stage`, which
// is not the last one, with the members that describe them and the shape for a device whose blocks
// have at most `shared_bytes` of shared memory. No warpgroups: the group cannot be evaluated so,
// because it has too many features, or because the window's squares are neither 5 x 5 nor 6 x 6
// (sides of 17 to 20 or of 21 to 24 pixels, as those of most cascades).
// `weights` and `trees` are those of `products`, in device memory, on 16-byte boundaries.
TileTask tile_task(const CompiledProducts& products, const PatchLayout (&tiles)[2],
                   const std::byte* weights, const std::byte* trees, int first_stage, int end_stage,
                   int shared_bytes);

// Enqueues one launch, for one group of stages.
void enqueue_tile_stages(const TileTask& task, StreamHandle stream);

}  // namespace facesat::gpu
