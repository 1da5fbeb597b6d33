// Two-dimensional convolution in shared memory; four threads load the halo.
//
// Idea: each thread loads its own pixel; the four threads in the block's corners also load the
//   quarter of the halo that lies around their corner. Few conditions, but all others wait for
//   them.
// Shapes: blocks of 16 x 16 threads with a tile (halo_tile.cuh).
// Reads per pixel: (16 + 2 radius)^2 / 16^2.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "4 corner threads do a lot of work".
#include "kernels/filter/halo_tile.cuh"

namespace facesat::gpu {
namespace {

struct FourCorners {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int last = halo_block - 1, half = halo_block / 2;
    if ((x != 0 && x != last) || (y != 0 && y != last)) return;
    // The quarter is a corner of radius.x x radius.y, and half a side above or below and beside it.
    const bool right = x == last, below = y == last;
    const int column = right ? radius.x + halo_block : 0, row = below ? radius.y + halo_block : 0;
    tile.load_part(column, row, radius.x, radius.y);
    tile.load_part(radius.x + (right ? half : 0), row, half, radius.y);
    tile.load_part(column, radius.y + (below ? half : 0), radius.x, half);
  }
};

}  // namespace

const FilterAlgorithm lecture_2d_four_corners{
    .id = "lecture_2d_four_corners",
    .title = "Shared memory; four corner threads load the halo",
    .source = "lecture",
    .why_not = why_no_halo_tile,
    .reads = reads_of_halo_tile,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue_halo<FourCorners>,
};

}  // namespace facesat::gpu
