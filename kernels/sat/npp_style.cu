// One block per row, then one block per column, in the style of NVIDIA's NPP.
//
// Idea: a block scans a row 256 elements at a time, with a carry; then a block scans a column the
//   same way, in place. The elements of a column lie a pitch apart, so that each access of a thread
//   moves 32 bytes for one element; other algorithms avoid this.
// Shapes: blocks of 256 x 1 threads, a grid of 1 x height; blocks of 1 x 256 threads, a grid of
//   width x 1.
// Reads and writes per element: the pixel read; the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: NPP 9.0's nppiIntegral as Chen et al. 2018 list it (table II).
// Departs from it in: all types; NPP is closed, and the scan is a guess from its 2.25 KB of shared
//   memory: room for the 32 elements of each of 8 warps and for their totals, each after 32 zeros,
//   so that the five steps of Hillis and Steele's scan need no conditions.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int segment = 64;  // 32 zeros, and a warp's elements

// The inclusive sum of a warp's values, by Hillis and Steele's scan. memory[place] belongs to this
// lane; the 32 elements before lane 0's are zero.
template <class T, int n>
__device__ __forceinline__ T scan_segment(SharedArray<T, n>& memory, int place, T value) {
  memory[place] = value;
  FACESAT_UNROLL
  for (int d = 1; d < 32; d *= 2) {
    __syncwarp();
    value += memory[place - d];
    __syncwarp();
    memory[place] = value;
  }
  return value;
}

// Calls store(i, load(0) + ... + load(i)) for each i below `count`, by a whole block.
template <class T, class Load, class Store>
__device__ __forceinline__ void scan_line(int thread, int count, Load load, Store store) {
  __shared__ SharedArray<T, warps * segment> elements;
  __shared__ SharedArray<T, segment> totals;
  const int lane = thread % 32, warp = thread / 32;
  elements[warp * segment + lane] = T{};
  if (warp == 0) totals[lane] = T{};
  T carry{};
  for (int begin = 0; begin < count; begin += threads) {
    const int i = begin + thread;
    T sum{};
    if (begin + warp * 32 < count)  // the same for all lanes of a warp
      sum = scan_segment(elements, warp * segment + 32 + lane, i < count ? load(i) : T{});
    if (lane == 31) totals[32 + warp] = sum;
    __syncthreads();
    if (warp == 0)
      // The result is not needed here: all warps read it from `totals`.
      scan_segment(totals, 32 + lane, lane < warps ? static_cast<T>(totals[32 + lane]) : T{});
    __syncthreads();
    if (i < count) store(i, carry + totals[31 + warp] + sum);
    carry += totals[31 + warps];
    __syncthreads();  // the next elements overwrite the totals
  }
}

template <class Pass>
__global__ void __launch_bounds__(threads) scan_row_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const auto* const input = pass.input_row(static_cast<int>(blockIdx.y));
  auto* const row = pass.row(static_cast<int>(blockIdx.y));
  scan_line<Out>(
      static_cast<int>(threadIdx.x), pass.size.width, [&](int x) { return Pass::value(input[x]); },
      [&](int x, Out sum) { row[x] = sum; });
}

template <class Pass>
__global__ void __launch_bounds__(threads) scan_column_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int x = static_cast<int>(blockIdx.x);
  scan_line<Out>(
      static_cast<int>(threadIdx.y), pass.size.height, [&](int y) { return pass.row(y)[x]; },
      [&](int y, Out sum) { pass.row(y)[x] = sum; });
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(scan_row_kernel<Pass>, dim3(1, pass.size.height), dim3(threads), stream, pass);
    FACESAT_LAUNCH(scan_column_kernel<Pass>, dim3(pass.size.width), dim3(1, threads), stream, pass);
  });
}

}  // namespace

const SatAlgorithm npp_style{
    .id = "npp_style",
    .title = "One block per row, then one per column, in NPP's style (2R2W)",
    .source = "NPP 9.0, as Chen et al. 2018 describe it",
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
