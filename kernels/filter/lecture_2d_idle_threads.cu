// Two-dimensional convolution in shared memory; a thread per pixel of the tile.
//
// Idea: the block is as large as its tile: each thread loads one pixel, then those around the edge
//   are idle while the others compute. The conditions are simple.
// Shapes: blocks of 32 x 32 threads, which compute (32 - 2 radius.x) x (32 - 2 radius.y) pixels.
// Reads per pixel: 32^2 / (32 - 2 radius)^2.
// Launches: 1.
// Workspace: none.
// Source: lecture on convolution and integral images, "Change the grid".
// Departs from it in: it writes B + radius for the block's side where it must be B + 2 radius.
#include <algorithm>

#include "kernels/filter/halo_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int block = 32;

Size computed(Radius radius) {
  return {block - 2 * radius.x, block - 2 * radius.y};
}

template <class Pass>
__global__ void __launch_bounds__(block* block) idle_threads_kernel(Pass pass) {
  const DynamicShared<typename Pass::In> pixels;
  const auto [rx, ry] = pass.radius;
  const int i = static_cast<int>(threadIdx.x), j = static_cast<int>(threadIdx.y);
  const int width = block - 2 * rx, height = block - 2 * ry;
  const int x = static_cast<int>(blockIdx.x) * width + i - rx;
  const int y = static_cast<int>(blockIdx.y) * height + j - ry;
  pixels[j * block + i] = pass.at(x, y);
  __syncthreads();
  if (i < rx || i >= rx + width || j < ry || j >= ry + height || !pass.has(x, y)) return;
  pass.store(x, y, convolved_in_tile(pass, i - rx, j - ry, block));
}

std::string why_no_idle_threads(const FilterTask& task) {
  return std::max(task.mask.radius.x, task.mask.radius.y) > block / 2 - 1
             ? "radii up to 15: a block has at most 1024 threads"
             : "";
}

double reads(const FilterTask& task) {
  return static_cast<double>(block * block) /
         static_cast<double>(computed(task.mask.radius).area());
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const Size size = computed(pass.radius);
    FACESAT_LAUNCH_SHARED(idle_threads_kernel<Pass>, grid_of(pass.size, size.width, size.height),
                          dim3(block, block), block * block * sizeof(typename Pass::In), stream,
                          pass);
  });
}

}  // namespace

const FilterAlgorithm lecture_2d_idle_threads{
    .id = "lecture_2d_idle_threads",
    .title = "Shared memory; a thread per pixel of the tile",
    .source = "lecture",
    .why_not = why_no_idle_threads,
    .reads = reads,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
