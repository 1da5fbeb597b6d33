// Evaluates stages of a Haar cascade on tensor cores while tiles have many windows left: from
// pixels, tile by tile. What is left goes on in late_stages.hpp.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/cascade/compiled_products.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/tile_pixels.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

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
