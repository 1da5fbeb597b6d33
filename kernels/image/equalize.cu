// There are two launches. In the first, blocks count the values in shared memory and add their
// counts to the workspace. In the second, each block derives the map from old to new values from
// the total counts, which is cheaper than a separate launch, and applies the map.
#include "core/rules.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/image/equalize.hpp"

namespace facesat::gpu {
namespace {

constexpr int values = 256, threads = values, rows_per_block = 8;  // one thread per value

__global__ void count_values_kernel(View<std::uint8_t> gray, std::uint32_t* histogram) {
  __shared__ SharedArray<unsigned, values> counts;
  const int thread = static_cast<int>(threadIdx.x);
  counts[thread] = 0;
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * rows_per_block;
  for (int y = first; y < min(first + rows_per_block, gray.size.height); ++y)
    for (int x = thread; x < gray.size.width; x += threads) atomic_add(counts, gray.row(y)[x], 1);
  __syncthreads();
  if (counts[thread] > 0) atomicAdd(histogram + thread, static_cast<std::uint32_t>(counts[thread]));
}

__global__ void apply_map_kernel(View<std::uint8_t> gray, std::uint32_t* histogram,
                                 unsigned* finished) {
  __shared__ SharedArray<std::uint32_t, values / 32> warp_sums;
  __shared__ SharedArray<std::uint32_t, values / 32> warp_darkest;
  __shared__ SharedArray<std::uint8_t, values> map;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const std::uint32_t count = histogram[thread];
  const std::uint32_t scan = warp_inclusive_scan(count);
  const unsigned present = __ballot_sync(full_warp, count > 0);
  if (thread % 32 == 31) {
    warp_sums[warp] = scan;
    warp_darkest[warp] = static_cast<std::uint32_t>(
        present != 0 ? warp * 32 + __ffs(static_cast<int>(present)) - 1 : values);
  }
  __syncthreads();
  std::uint32_t up_to_here = scan;
  int darkest = values;
  for (int w = 0; w < values / 32; ++w) {
    if (w < warp) up_to_here += warp_sums[w];
    darkest = min(darkest, static_cast<int>(warp_darkest[w]));
  }
  const std::uint32_t darkest_count = histogram[darkest];
  map[thread] = rules::equalized(thread, up_to_here, darkest, darkest_count, gray.size.area());
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * rows_per_block;
  for (int y = first; y < min(first + rows_per_block, gray.size.height); ++y)
    for (int x = thread; x < gray.size.width; x += threads) gray.row(y)[x] = map[gray.row(y)[x]];

  // The last block to finish clears the workspace for the next frame.
  __shared__ SharedArray<unsigned, 1> is_last;
  __syncthreads();
  if (thread == 0) is_last[0] = atomicAdd(finished, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (is_last[0] == 0) return;
  histogram[thread] = 0;
  if (thread == 0) *finished = 0;
}

}  // namespace

void enqueue_equalize(View<std::uint8_t> gray, std::uint32_t* workspace, StreamHandle stream) {
  const dim3 grid(divide_up(gray.size.height, rows_per_block));
  FACESAT_LAUNCH(count_values_kernel, grid, dim3(threads), stream, gray, workspace);
  FACESAT_LAUNCH(apply_map_kernel, grid, dim3(threads), stream, gray, workspace,
                 workspace + values);
}

}  // namespace facesat::gpu
