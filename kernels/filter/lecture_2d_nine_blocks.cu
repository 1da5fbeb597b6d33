// Two-dimensional convolution in shared memory; each thread loads nine pixels.
//
// Idea: the block's own pixels and the eight blocks of as many pixels around it, whatever the
//   radius. More is loaded than needed, but without conditions, and all threads do the same.
// Shapes: blocks of B x B threads with a tile of 3B x 3B pixels; B is 16, and 32 for radii
// above 16. Reads per pixel: 9. Launches: 1. Workspace: none. Source: lecture on convolution and
// integral images, "Each thread fill 9 elements".
#include <algorithm>

#include "kernels/filter/halo_tile.cuh"

namespace facesat::gpu {
namespace {

template <int block, class Pass>
__global__ void __launch_bounds__(block* block) nine_blocks_kernel(Pass pass) {
  const DynamicShared<typename Pass::In> pixels;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const auto [column, row] = place_of_thread();
  for (int v = 0; v < 3; ++v)
    for (int u = 0; u < 3; ++u)
      pixels[(v * block + y) * (3 * block) + u * block + x] =
          pass.at(column + (u - 1) * block, row + (v - 1) * block);
  __syncthreads();
  if (pass.has(column, row))
    pass.store(
        column, row,
        convolved_in_tile(pass, block + x - pass.radius.x, block + y - pass.radius.y, 3 * block));
}

std::string why_no_nine_blocks(const FilterTask& task) {
  return std::max(task.mask.radius.x, task.mask.radius.y) > 32 ? "radii up to 32" : "";
}

double reads(const FilterTask&) {
  return 9;
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  const bool is_small = std::max(task.mask.radius.x, task.mask.radius.y) <= 16;
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    constexpr std::size_t element = sizeof(typename Pass::In);
    if (is_small)
      FACESAT_LAUNCH_SHARED((nine_blocks_kernel<16, Pass>), grid_of(pass.size, 16, 16),
                            dim3(16, 16), 48 * 48 * element, stream, pass);
    else
      FACESAT_LAUNCH_SHARED((nine_blocks_kernel<32, Pass>), grid_of(pass.size, 32, 32),
                            dim3(32, 32), 96 * 96 * element, stream, pass);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_nine_blocks{
    .id = "lecture_2d_nine_blocks",
    .title = "Shared memory; each thread loads nine pixels",
    .source = "lecture",
    .why_not = why_no_nine_blocks,
    .reads = reads,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
