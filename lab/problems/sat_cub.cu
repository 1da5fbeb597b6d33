// The integral image as a user of CUB, NVIDIA's library of device-wide and block-wide algorithms,
// would write it: block-wide scans of rows, then scans of columns.
//
// Idea: a block scans a row, four adjacent elements per thread, with a running prefix from tile to
//   tile; then a block scans 32 columns, with the lanes of a warp along a row, so that accesses are
//   coalesced. In that second kernel a thread sums up eight rows of its column, and a warp scans
//   the sums of one column.
// Shapes: one block of 256 threads per row; one block of 32 x 32 threads per 32 columns.
// Reads and writes per element: the pixel read, the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: the running prefix is that of CUB's documentation of BlockScan.
#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_scan.cuh>

#include "kernels/sat/pass.cuh"
#include "lab/problems/sat.hpp"

namespace facesat::gpu {
namespace {

constexpr int row_threads = 256, items = 4;  // items: elements per thread
constexpr int row_tile = row_threads * items;

// The callback from which BlockScan gets the sum of all previous tiles, once per tile.
template <class T>
struct RunningPrefix {
  T sum{};
  __device__ T operator()(T tile_sum) {
    const T before = sum;
    sum += tile_sum;
    return before;
  }
};

template <class Pass>
__global__ void __launch_bounds__(row_threads) scan_row_kernel(Pass pass) {
  using In = typename Pass::In;
  using Out = typename Pass::Out;
  using Load = cub::BlockLoad<In, row_threads, items, cub::BLOCK_LOAD_VECTORIZE>;
  using Scan = cub::BlockScan<Out, row_threads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Store = cub::BlockStore<Out, row_threads, items, cub::BLOCK_STORE_VECTORIZE>;
  __shared__ typename Scan::TempStorage storage;
  const In* const input = pass.input_row(static_cast<int>(blockIdx.x));
  Out* const row = pass.row(static_cast<int>(blockIdx.x));
  RunningPrefix<Out> prefix;
  for (int begin = 0; begin < pass.size.width; begin += row_tile) {
    const int left = pass.size.width - begin;
    In pixels[items];
    if (left >= row_tile)
      Load().Load(input + begin, pixels);
    else
      Load().Load(input + begin, pixels, left, In{});
    Out sums[items];
    FACESAT_UNROLL
    for (int i = 0; i < items; ++i) sums[i] = Pass::value(pixels[i]);
    Scan(storage).InclusiveSum(sums, sums, prefix);
    if (left >= row_tile)
      Store().Store(row + begin, sums);
    else
      Store().Store(row + begin, sums, left);
    __syncthreads();  // the next scan uses the same memory
  }
}

constexpr int strip = 32;           // columns of a block; also the number of its warps
constexpr int rows_per_thread = 8;  // per step
constexpr int column_threads = strip * strip, column_tile = strip * rows_per_thread;

template <class Pass>
__global__ void __launch_bounds__(column_threads) scan_columns_kernel(Pass pass) {
  using Out = typename Pass::Out;
  using Scan = cub::WarpScan<Out>;
  __shared__ typename Scan::TempStorage storage[strip];
  // sums_of[column][warp]: the sum of the warp's rows in that column. Padded by one element against
  // bank conflicts.
  __shared__ Out sums_of[strip][strip + 1];
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * strip + lane;
  Out above{};  // the sum of column `warp` in all previous tiles
  for (int begin = 0; begin < pass.size.height; begin += column_tile) {
    const int y = begin + warp * rows_per_thread;
    Out sums[rows_per_thread];
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_thread; ++i)
      sums[i] = pass.has(x, y + i) ? pass.row(y + i)[x] : Out{};
    FACESAT_UNROLL
    for (int i = 1; i < rows_per_thread; ++i) sums[i] += sums[i - 1];
    sums_of[lane][warp] = sums[rows_per_thread - 1];
    __syncthreads();
    Out before, of_tile;
    Scan(storage[warp]).ExclusiveSum(sums_of[warp][lane], before, of_tile);
    sums_of[warp][lane] = above + before;
    above += of_tile;
    __syncthreads();
    const Out here = sums_of[lane][warp];  // the next tile's sum overwrites it
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_thread; ++i)
      if (pass.has(x, y + i)) pass.row(y + i)[x] = here + sums[i];
  }
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(scan_row_kernel<Pass>, dim3(pass.size.height), dim3(row_threads), stream, pass);
    FACESAT_LAUNCH(scan_columns_kernel<Pass>, dim3(divide_up(pass.size.width, strip)),
                   dim3(strip, strip), stream, pass);
  });
}

}  // namespace

const SatAlgorithm peer_cub{
    .id = "peer_cub",
    .title = "Block-wide scans of CUB: rows, then columns (2R2W)",
    .source = "NVIDIA CUB",
    .year = 2025,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
