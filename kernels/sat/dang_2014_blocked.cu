// Blocks are reduced to sums, the sums are scanned, and blocks are scanned (2R1W).
//
// Idea: the sums of the columns and of the rows of each block, which are small, hold all that a
//   block needs from its outside. The scan of the column sums in both directions is the table's row
//   above each block; the scan of the row sums from left to right is what each row of a block has
//   to its left. No block waits for another one, and nothing of the picture's size is stored
//   between the stages.
// Stages: 1 reduces every block to its column sums and row sums; 2 scans the two matrices of sums,
//   down the columns and along the rows, and then the column sums along the rows; 3 reads the
//   blocks again, scans their rows, and adds them up downwards from the row above.
// Parameter: the rows of a block.
// Shapes: blocks of 128 columns and 32 rows, one warp each, four columns per lane, 8 rows at a
//   time; rows are summed and scanned by shuffles, columns by each lane, without barriers. Stage 2:
//   a thread for each line, then 256 threads for each row of column sums.
// Reads and writes per element: the pixel twice, the table once (2R1W); the column sums, 1/32 of
//   the table, are written three times and read three times, the row sums, 1/128, twice each.
// Launches: 4.
// Workspace: both matrices of sums.
// Source: Q. Dang, S. Yan, R. Wu, "A Fast Integral Image Generation Algorithm on GPUs", ICPADS
//   2014; written from its abstract, which has the three stages (intra-block reduction, scan of
//   auxiliary matrices, intra-block scan), coalesced accesses, few local synchronisations, and
//   block sizes found by measuring. What the matrices hold, and all details, are ours.
// Differs from nehab_2011.cu and kasagi_2014.cu's 2R1W, which have the same counts, in: blocks have
//   no totals, since the column sums themselves become a table; blocks stay in registers.
#include <algorithm>

#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int block_width = 128, warps = 4;  // of stages 1 and 3; a warp has a block
constexpr int batch = 8;                     // rows, or elements of a line, that are loaded at once
constexpr int line_threads = 128, row_threads = 256, row_warps = row_threads / 32;  // of stage 2

constexpr SatParameter rows_parameter{
    .name = "rows",
    .meaning = "the rows of a block",
    .least = 8,
    .greatest = 256,
    .is_whole = true,
    .candidates = [](Size, std::size_t) { return std::vector<double>{8, 16, 32, 64, 128, 256}; }};

// A matrix of sums: rows of `pitch` elements.
template <class Out>
struct Matrix {
  Out* data;
  int rows;
  std::ptrdiff_t pitch;

  __device__ Out* row(int i) const { return data + i * pitch; }
};

// The blocks' sums: one row of column sums for each row of blocks, and (transposed, so that threads
// access them side by side) one row of row sums for each column of blocks. After stage 2, the row
// of the table above each block, and for each row of a block the sum of all pixels to its left.
template <class Out>
struct Sums {
  Matrix<Out> columns, rows;
};

// The block of a warp. Lane i has the four columns from x on.
struct Block {
  int m, n, x, y, height;  // row and column of blocks; in the picture
  bool is_inside;          // reaches no edge, and has whole batches of rows

  __device__ Block(Size size, int rows)
      : m(static_cast<int>(blockIdx.y * warps + threadIdx.y)),
        n(static_cast<int>(blockIdx.x)),
        x(n * block_width + 4 * static_cast<int>(threadIdx.x)),
        y(m * rows),
        height(min(rows, size.height - y)),
        is_inside((n + 1) * block_width <= size.width && height % batch == 0) {}
};

// Stage 1.
template <class Pass>
__global__ void __launch_bounds__(32 * warps)
    reduce_blocks_kernel(Pass pass, int rows, Sums<typename Pass::Out> sums) {
  using In = typename Pass::In;
  using Out = typename Pass::Out;
  const Block block(pass.size, rows);
  if (block.height <= 0) return;  // all lanes of the warp do
  const int lane = static_cast<int>(threadIdx.x);
  Four<Out> columns{};
  specialise(block.is_inside, [&]<bool is_inside>() {
    for (int begin = 0; begin < block.height; begin += batch) {
      const int y = block.y + begin, rows_left = block.height - begin;
      Kept<In> pixels[batch];
      load_rows<is_inside>(pass.input_row(y), pass.input_pitch, block.x, pass.size.width, rows_left,
                           pixels);
      Out row_sum{};  // of row `lane` of the batch
      FACESAT_UNROLL
      for (int i = 0; i < batch; ++i) {
        const Four<In> four = pixels[i].get();
        Out sum{};
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k) {
          const Out value = Pass::value(four.v[k]);
          columns.v[k] += value;
          sum += value;
        }
        sum = warp_sum(sum);
        if (lane == i) row_sum = sum;
      }
      if (lane < min(batch, rows_left)) sums.rows.row(block.n)[y + lane] = row_sum;
    }
  });
  store_four<true>(sums.columns.row(block.m), block.x, 0, columns);
}

// Stage 2, first half: replaces every element by the sum of those above it, one thread for each
// column. The first blocks have the column sums, the others the row sums.
template <class Out>
__global__ void __launch_bounds__(line_threads) scan_down_kernel(Sums<Out> sums) {
  const Matrix<Out>& matrix = blockIdx.y == 0 ? sums.columns : sums.rows;
  const auto x = static_cast<std::ptrdiff_t>(blockIdx.x * line_threads + threadIdx.x);
  if (x >= matrix.pitch) return;
  Out sum{};
  for (int begin = 0; begin < matrix.rows; begin += batch) {
    Out own[batch];
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i)
      own[i] = begin + i < matrix.rows ? matrix.row(begin + i)[x] : Out{};
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      if (begin + i < matrix.rows) matrix.row(begin + i)[x] = sum;
      sum += own[i];
    }
  }
}

// Stage 2, second half: prefix sums of a row of column sums, by one block.
template <class Out>
__global__ void __launch_bounds__(row_threads) scan_along_kernel(Matrix<Out> columns) {
  __shared__ SharedArray<Out, row_warps> totals;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int width = static_cast<int>(columns.pitch);
  Out* const row = columns.row(static_cast<int>(blockIdx.x));
  Out carry{};
  for (int begin = 0; begin < width; begin += 4 * row_threads) {
    const int x = begin + 4 * thread;
    Four<Out> four = load_four(row, x, width);
    FACESAT_UNROLL
    for (int k = 1; k < 4; ++k) four.v[k] += four.v[k - 1];
    const Out scan = warp_inclusive_scan(four.v[3]);
    const Out lanes_before = __shfl_up_sync(full_warp, scan, 1);
    if (lane == 31) totals[warp] = scan;
    __syncthreads();
    Out base = carry;
    FACESAT_UNROLL
    for (int i = 0; i < row_warps; ++i) {
      if (i == warp) base = carry;
      carry += totals[i];
    }
    if (lane > 0) base += lanes_before;
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) four.v[k] += base;
    store_four(row, x, width, four);
    __syncthreads();  // the next columns overwrite the totals
  }
}

// Stage 3.
template <class Pass>
__global__ void __launch_bounds__(32 * warps)
    scan_blocks_kernel(Pass pass, int rows, Sums<typename Pass::Out> sums) {
  using In = typename Pass::In;
  using Out = typename Pass::Out;
  const Block block(pass.size, rows);
  if (block.height <= 0) return;  // all lanes of the warp do
  const int lane = static_cast<int>(threadIdx.x);
  Four<Out> table = load_four<true>(sums.columns.row(block.m), block.x, 0);
  specialise(block.is_inside, [&]<bool is_inside>() {
    for (int begin = 0; begin < block.height; begin += batch) {
      const int y = block.y + begin, rows_left = block.height - begin;
      Kept<In> pixels[batch];
      load_rows<is_inside>(pass.input_row(y), pass.input_pitch, block.x, pass.size.width, rows_left,
                           pixels);
      const Out left_of_lane =
          lane < min(batch, rows_left) ? sums.rows.row(block.n)[y + lane] : Out{};
      FACESAT_UNROLL
      for (int i = 0; i < batch; ++i) {
        const Four<Out> running = running_sums<Pass>(pixels[i].get());
        const Out scan = warp_inclusive_scan(running.v[3]);
        const Out lanes_before = __shfl_up_sync(full_warp, scan, 1);
        Out left = __shfl_sync(full_warp, left_of_lane, i);
        if (lane > 0) left += lanes_before;
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k) table.v[k] += left + running.v[k];
        if (is_inside || (i < rows_left && block.x < pass.size.width))
          store_four<is_inside>(pass.row(y + i), block.x, pass.size.width, table);
      }
    }
  });
}

// The matrices' shapes in the workspace, and the bytes of the column sums.
struct Layout {
  int across, down;
  std::ptrdiff_t columns_pitch, rows_pitch;
  std::size_t columns_bytes, bytes;

  Layout(Size size, int rows, std::size_t element)
      : across(divide_up(size.width, block_width)),
        down(divide_up(size.height, rows)),
        columns_pitch(across * block_width),
        rows_pitch(size.height),
        columns_bytes(static_cast<std::size_t>(down * columns_pitch) * element),
        bytes(columns_bytes + static_cast<std::size_t>(across * rows_pitch) * element) {}
};

std::size_t workspace_bytes(SatType type, Size size) {
  constexpr int least_rows = static_cast<int>(rows_parameter.least);
  return Layout(size, least_rows, info_of(type).table_bytes).bytes;
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  const int rows = static_cast<int>(task.parameter);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    const Layout layout(pass.size, rows, sizeof(Out));
    auto* const memory = static_cast<std::byte*>(workspace);
    const Sums<Out> sums{
        {reinterpret_cast<Out*>(memory), layout.down, layout.columns_pitch},
        {reinterpret_cast<Out*>(memory + layout.columns_bytes), layout.across, layout.rows_pitch}};
    const dim3 blocks(layout.across, divide_up(layout.down, warps)), threads(32, warps);
    const auto longest = static_cast<int>(std::max(layout.columns_pitch, layout.rows_pitch));
    FACESAT_LAUNCH(reduce_blocks_kernel<Pass>, blocks, threads, stream, pass, rows, sums);
    FACESAT_LAUNCH(scan_down_kernel<Out>, dim3(divide_up(longest, line_threads), 2),
                   dim3(line_threads), stream, sums);
    FACESAT_LAUNCH(scan_along_kernel<Out>, dim3(layout.down), dim3(row_threads), stream,
                   sums.columns);
    FACESAT_LAUNCH(scan_blocks_kernel<Pass>, blocks, threads, stream, pass, rows, sums);
  });
}

}  // namespace

const SatAlgorithm dang_2014_blocked{
    .id = "dang_2014_blocked",
    .title = "Blocks reduced to sums, sums scanned, blocks scanned (2R1W)",
    .source =
        "Dang, Yan, Wu: A Fast Integral Image Generation Algorithm on GPUs, ICPADS 2014 "
        "(its abstract)",
    .year = 2014,
    .launches = 4,
    .reads = 2,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
    .parameter = &rows_parameter,
    .value = 32,
};

}  // namespace facesat::gpu
