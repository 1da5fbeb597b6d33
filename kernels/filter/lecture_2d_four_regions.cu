// Two-dimensional convolution in shared memory; four regions of the block load the halo.
//
// Idea: each thread loads its own pixel; then each quarter of the block loads one side of the halo,
//   those above and below with the corners.
// Shapes: blocks of 16 x 16 threads with a tile (halo_tile.cuh); regions of 8 x 8 threads.
// Reads per pixel: (16 + 2 radius)^2 / 16^2.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "Main block is divided in 4".
// Departs from it in: its slide does not show the shape of the regions.
#include "kernels/filter/halo_tile.cuh"

namespace facesat::gpu {
namespace {

struct FourRegions {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int half = halo_block / 2, threads = half * half;
    const int thread = y % half * half + x % half, region = y / half * 2 + x / half;
    const int below = radius.y + halo_block, right = radius.x + halo_block;
    if (region < 2)
      tile.load_part_together(0, region == 0 ? 0 : below, right + radius.x, radius.y, thread,
                              threads);
    else
      tile.load_part_together(region == 2 ? 0 : right, radius.y, radius.x, halo_block, thread,
                              threads);
  }
};

}  // namespace

const FilterAlgorithm lecture_2d_four_regions{
    .id = "lecture_2d_four_regions",
    .title = "Shared memory; four regions load the halo",
    .source = "lecture",
    .why_not = why_no_halo_tile,
    .reads = reads_of_halo_tile,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue_halo<FourRegions>,
};

}  // namespace facesat::gpu
