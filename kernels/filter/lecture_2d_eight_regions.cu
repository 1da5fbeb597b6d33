// Two-dimensional convolution in shared memory; eight regions of the block load the halo.
//
// Idea: each thread loads its own pixel; then the four outer regions of the block load the sides of
//   the halo, and the four central ones its corners.
// Shapes: blocks of 16 x 16 threads with a tile (halo_tile.cuh); regions of 4 x 8 threads: two rows
//   of four regions.
// Reads per pixel: (16 + 2 radius)^2 / 16^2.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "Main block is divided in 8".
// Departs from it in: its slide does not show the shape of the regions.
#include "kernels/filter/halo_tile.cuh"

namespace facesat::gpu {
namespace {

struct EightRegions {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int width = halo_block / 4, height = halo_block / 2, threads = width * height;
    const int thread = y % height * width + x % width, column = x / width, row = y / height;
    const int right = radius.x + halo_block, below = radius.y + halo_block;
    if (column == 0)  // above and below
      tile.load_part_together(radius.x, row == 0 ? 0 : below, halo_block, radius.y, thread,
                              threads);
    else if (column == 3)  // left and right
      tile.load_part_together(row == 0 ? 0 : right, radius.y, radius.x, halo_block, thread,
                              threads);
    else
      tile.load_part_together(column == 1 ? 0 : right, row == 0 ? 0 : below, radius.x, radius.y,
                              thread, threads);
  }
};

}  // namespace

const FilterAlgorithm lecture_2d_eight_regions{
    .id = "lecture_2d_eight_regions",
    .title = "Shared memory; eight regions load the halo",
    .source = "lecture",
    .why_not = why_no_halo_tile,
    .reads = reads_of_halo_tile,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue_halo<EightRegions>,
};

}  // namespace facesat::gpu
