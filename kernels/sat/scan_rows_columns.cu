// The plain two passes: scan every row, then every column.
//
// Idea: a warp scans a row, 128 pixels at a time with a carry; then blocks scan strips of 32
//   columns in place, 128 rows at a time.
// Reads and writes per element: the pixel read; the table written, read and written again (2R2W).
// Launches: 2.
// Workspace: none.
// Source: the definition; the method that every paper compares with.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int rows_per_block = 4;  // of the first kernel: a warp has one row
// The second kernel has these columns and warps per block, and these rows per thread and step.
constexpr int strip_width = 32, strip_warps = 32, rows_per_thread = 4;

template <class Pass>
__global__ void scan_rows_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int y = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (y >= pass.size.height) return;  // all lanes of the warp do, since they have the same y
  Out carry{};
  for (int begin = 0; begin < pass.size.width; begin += 128) {  // four pixels per lane
    const int x = begin + 4 * static_cast<int>(threadIdx.x);
    Four<Out> v = running_sums<Pass>(load_four(pass.input_row(y), x, pass.size.width));
    const Out scan = warp_inclusive_scan(v.v[3]);
    const Out before = __shfl_up_sync(full_warp, scan, 1);
    const Out base = carry + (threadIdx.x > 0 ? before : Out{});
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) v.v[i] += base;
    store_four(pass.row(y), x, pass.size.width, v);
    carry += __shfl_sync(full_warp, scan, 31);
  }
}

template <class Pass>
__global__ void scan_columns_kernel(Pass pass) {
  using Out = typename Pass::Out;
  // For each warp and column, the sum of the warp's rows.
  __shared__ SharedArray<Out, strip_warps * strip_width> totals;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * strip_width + lane;
  Out carry{};  // the sum of the column in all previous steps
  for (int begin = 0; begin < pass.size.height; begin += strip_warps * rows_per_thread) {
    const int first = begin + warp * rows_per_thread;
    Out v[rows_per_thread];
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_thread; ++i) {
      v[i] = pass.has(x, first + i) ? pass.row(first + i)[x] : Out{};
      if (i > 0) v[i] += v[i - 1];
    }
    totals[warp * strip_width + lane] = v[rows_per_thread - 1];
    __syncthreads();
    Out base = carry;
    for (int w = 0; w < strip_warps; ++w) {
      const Out total = totals[w * strip_width + lane];
      if (w < warp) base += total;
      carry += total;
    }
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_thread; ++i)
      if (pass.has(x, first + i)) pass.row(first + i)[x] = base + v[i];
    __syncthreads();  // the next rows overwrite the totals
  }
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(scan_rows_kernel<Pass>, dim3(divide_up(pass.size.height, rows_per_block)),
                   dim3(32, rows_per_block), stream, pass);
    FACESAT_LAUNCH(scan_columns_kernel<Pass>, dim3(divide_up(pass.size.width, strip_width)),
                   dim3(strip_width, strip_warps), stream, pass);
  });
}

}  // namespace

const SatAlgorithm scan_rows_columns{
    .id = "scan_rows_columns",
    .title = "Scan rows, then columns (2R2W)",
    .source = "the definition",
    .year = 0,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = no_workspace,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
