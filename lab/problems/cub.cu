// What a user of CUB, NVIDIA's library of device-wide and block-wide algorithms, would write: an
// integral image, and a prefix scan.
#include <cstddef>
#include <type_traits>

#include <cub/block/block_load.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>

#include "kernels/device/platform.hpp"
#include "kernels/sat/pass.cuh"
#include "kernels/scan/operators.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/scan.hpp"

namespace facesat::gpu {
namespace {

// ---- the integral image: block-wide scans of rows, then scans of columns.
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

// ---- the prefix scan: DeviceScan, with look-back in a single pass.
//
// Shapes: CUB's own choice for the device, the type and the operator.
// Reads and writes per element: 1 / 1.
// Launches: 2; the first one initialises the tiles' states.
// Workspace: CUB's temporary storage.
namespace {

template <ScanOperator op>
struct Combine {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return combine(op, a, b);
  }
};

// Integers are added as unsigned ones, which give the same bits and may overflow.
template <class T>
auto summand(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  else
    return value;
}

// Calls visit(T{}, operator). CUB has a kernel of its own for sums of its users' plus.
template <class Visit>
void visit_elements(const ScanTask& task, Visit visit) {
  visit_type(task.type, [&]<class T>(T zero) {
    if constexpr (is_affine<T>) {
      visit(zero, Combine<ScanOperator::compose>{});
    } else {
      switch (task.op) {
        case ScanOperator::sum:
          return visit(summand(zero), cuda::std::plus<>{});
        case ScanOperator::product:
          return visit(zero, Combine<ScanOperator::product>{});
        case ScanOperator::minimum:
          return visit(zero, Combine<ScanOperator::minimum>{});
        case ScanOperator::maximum:
          return visit(zero, Combine<ScanOperator::maximum>{});
        case ScanOperator::compose:
          return;
      }
    }
  });
}

// As CUB's functions: without `storage`, only sets `bytes` to its size.
void scan(const ScanTask& task, void* storage, std::size_t& bytes, cudaStream_t stream) {
  visit_elements(task, [&]<class T, class Op>(T, Op op) {
    const T* const input = static_cast<const T*>(task.input);
    T* const output = static_cast<T*>(task.output);
    if (task.is_inclusive)
      FACESAT_CUDA(
          cub::DeviceScan::InclusiveScan(storage, bytes, input, output, op, task.n, stream));
    else
      FACESAT_CUDA(cub::DeviceScan::ExclusiveScan(storage, bytes, input, output, op,
                                                  identity_of<T>(task.op), task.n, stream));
  });
}

std::size_t storage_bytes(const ScanTask& task) {
  std::size_t bytes = 0;
  scan(task, nullptr, bytes, nullptr);
  return bytes;
}

}  // namespace

const ScanAlgorithm peer_cub_scan{
    .id = "peer_cub",
    .title = "CUB's DeviceScan",
    .source = "NVIDIA CUB",
    .year = 2025,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 2, .reads = 1, .writes = 1}; },
    .workspace_bytes = storage_bytes,
    .enqueue =
        [](const ScanTask& task, void* workspace, StreamHandle stream) {
          std::size_t bytes = storage_bytes(task);
          scan(task, workspace, bytes, stream);
        },
};

}  // namespace facesat::gpu
