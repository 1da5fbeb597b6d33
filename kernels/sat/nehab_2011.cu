// Overlapped summed-area tables: sums of blocks first, then each block by itself (2R1W).
//
// Idea: a block of the table needs only what lies at its edges: the sums of the columns above it
//   (P) and the table's column to the left of it (V). Both are computed from the blocks' own sums,
//   which are small, so the picture is read twice and no intermediate of its size is stored.
// Stages: 1 computes the column sums of every block, and the last column of every block's own
//   table; 2 adds up the column sums downwards, which gives P, and the sum of each P; 3 adds up the
//   last columns from left to right, each with the sum of the P above it, which gives V; 4 computes
//   the blocks, adding P before rows are summed and V afterwards.
// Shapes: blocks of 32 x 32 in shared memory, 8 warps each in stages 1 and 4; a warp for each
//   column (row) of blocks in stage 2 (3).
// Reads and writes per element: the pixel twice, the table once (2R1W); P and V, a sixteenth of the
//   table, are written and read twice.
// Launches: 4.
// Workspace: P, V, and the sums of P.
// Source: Diego Nehab, Andre Maximo, Rodolfo S. Lima, Hugues Hoppe, "GPU-Efficient Recursive
//   Filtering and Summed-Area Tables", ACM Transactions on Graphics 30(6), 2011; written from a
//   description of the method, not from the text.
// Our own choices: the number of warps per block, all of which sum up parts of columns and rows;
//   shuffles, which GPUs then did not have, for the sums of P and of a block's last column.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

// A block has `side` columns and rows and `warps` warps. `length` is the part of a column or row
// that one thread sums up.
constexpr int side = 32, warps = 8, length = side / warps;
constexpr int block_pitch = side + 1;  // rows and columns without bank conflicts
constexpr int batch = 8;               // blocks whose sums a warp loads at once in stages 2 and 3

struct Blocks {
  int across, down;
};
constexpr Blocks blocks_of(Size size) {
  return {divide_up(size.width, side), divide_up(size.height, side)};
}

// P, V and the sums of P in the workspace. Stage 1 writes the sums of single blocks; stages 2 and 3
// replace them by the sums up to and including each block. No element is read before the same call
// has written it, so the workspace needs no clearing.
template <class Out>
struct Edges {
  Blocks blocks;
  Out *p, *v, *p_sum;

  __device__ Out* columns(int m, int n) const {  // of the block in row m, column n
    return p + (static_cast<std::ptrdiff_t>(m) * blocks.across + n) * side;
  }
  __device__ Out* rows(int m, int n) const {
    return v + (static_cast<std::ptrdiff_t>(n) * blocks.down + m) * side;
  }
  __device__ Out* sum(int m, int n) const {
    return p_sum + static_cast<std::ptrdiff_t>(m) * blocks.across + n;
  }
};

// The sum of the first `count` parts of a line.
template <class Out>
__device__ __forceinline__ Out sum_of_parts(SharedArray<Out, warps * side>& parts, int line,
                                            int count) {
  Out sum{};
  for (int i = 0; i < count; ++i) sum += parts[i * side + line];
  return sum;
}

// Stage 1. In stages 1 and 4 a thread sums up part of a column of its block, then part of a row:
// `length` elements of line `lane`, from `begin` on.
template <class Pass>
__global__ void __launch_bounds__(32 * warps)
    sum_blocks_kernel(Pass pass, Edges<typename Pass::Out> edges) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, side * block_pitch> block;
  __shared__ SharedArray<Out, warps * side> column_parts, row_parts;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int n = static_cast<int>(blockIdx.x), m = static_cast<int>(blockIdx.y);
  const int begin = warp * length, x = n * side + lane, y = m * side + begin;
  Out column{}, row{};
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    const Out value = pass.value_at(x, y + i);
    block[(begin + i) * block_pitch + lane] = value;
    column += value;
  }
  column_parts[warp * side + lane] = column;
  __syncthreads();
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) row += block[lane * block_pitch + begin + i];
  row_parts[warp * side + lane] = row;
  __syncthreads();
  if (warp == 0)
    edges.columns(m, n)[lane] = sum_of_parts(column_parts, lane, warps);
  else if (warp == 1)
    edges.rows(m, n)[lane] = warp_inclusive_scan(sum_of_parts(row_parts, lane, warps));
}

// Stage 2.
template <class Out>
__global__ void __launch_bounds__(32) add_up_columns_kernel(Edges<Out> edges) {
  const int lane = static_cast<int>(threadIdx.x), n = static_cast<int>(blockIdx.x);
  Out sum{};
  for (int begin = 0; begin < edges.blocks.down; begin += batch) {
    Out columns[batch];
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i)
      columns[i] = begin + i < edges.blocks.down ? edges.columns(begin + i, n)[lane] : Out{};
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      sum += columns[i];
      const Out total = warp_sum(sum);
      if (begin + i >= edges.blocks.down) continue;
      edges.columns(begin + i, n)[lane] = sum;
      if (lane == 0) *edges.sum(begin + i, n) = total;
    }
  }
}

// Stage 3.
template <class Out>
__global__ void __launch_bounds__(32) add_up_rows_kernel(Edges<Out> edges) {
  const int lane = static_cast<int>(threadIdx.x), m = static_cast<int>(blockIdx.x);
  Out sum{};
  for (int begin = 0; begin < edges.blocks.across; begin += batch) {
    Out rows[batch], above[batch];
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      const bool exists = begin + i < edges.blocks.across;
      rows[i] = exists ? edges.rows(m, begin + i)[lane] : Out{};
      above[i] = exists && m > 0 ? *edges.sum(m - 1, begin + i) : Out{};
    }
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      sum += rows[i] + above[i];
      if (begin + i < edges.blocks.across) edges.rows(m, begin + i)[lane] = sum;
    }
  }
}

// Stage 4.
template <class Pass>
__global__ void __launch_bounds__(32 * warps)
    complete_blocks_kernel(Pass pass, Edges<typename Pass::Out> edges) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, side * block_pitch> block;
  __shared__ SharedArray<Out, warps * side> column_parts, row_parts;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int n = static_cast<int>(blockIdx.x), m = static_cast<int>(blockIdx.y);
  const int begin = warp * length, x = n * side + lane, y = m * side + begin;
  Out base = m > 0 ? edges.columns(m - 1, n)[lane] : Out{};
  const Out left = n > 0 ? edges.rows(m, n - 1)[lane] : Out{};

  Out sums[length];  // down the column
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    sums[i] = pass.value_at(x, y + i);
    if (i > 0) sums[i] += sums[i - 1];
  }
  column_parts[warp * side + lane] = sums[length - 1];
  __syncthreads();
  base += sum_of_parts(column_parts, lane, warp);
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) block[(begin + i) * block_pitch + lane] = base + sums[i];
  __syncthreads();

  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {  // along the row
    sums[i] = block[lane * block_pitch + begin + i];
    if (i > 0) sums[i] += sums[i - 1];
  }
  row_parts[warp * side + lane] = sums[length - 1];
  __syncthreads();
  base = left + sum_of_parts(row_parts, lane, warp);
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) block[lane * block_pitch + begin + i] = base + sums[i];
  __syncthreads();
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i)
    if (pass.has(x, y + i)) pass.row(y + i)[x] = block[(begin + i) * block_pitch + lane];
}

// Byte offsets at which the sections of the workspace begin, and the end of the last one.
struct Layout {
  std::size_t v, p_sum, end;
};
constexpr Layout layout_of(Size size, std::size_t element) {
  const Blocks blocks = blocks_of(size);
  const std::size_t count = static_cast<std::size_t>(blocks.across) * blocks.down;
  const std::size_t edge = round_up_256(count * side * element);
  return {edge, 2 * edge, 2 * edge + round_up_256(count * element)};
}

std::size_t workspace_bytes(SatType type, Size size) {
  return layout_of(size, info_of(type).table_bytes).end;
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    auto* const memory = static_cast<std::byte*>(workspace);
    const Layout layout = layout_of(pass.size, sizeof(Out));
    const Blocks blocks = blocks_of(pass.size);
    const Edges<Out> edges{blocks, reinterpret_cast<Out*>(memory),
                           reinterpret_cast<Out*>(memory + layout.v),
                           reinterpret_cast<Out*>(memory + layout.p_sum)};
    const dim3 grid(blocks.across, blocks.down), block(32, warps);
    FACESAT_LAUNCH(sum_blocks_kernel<Pass>, grid, block, stream, pass, edges);
    FACESAT_LAUNCH(add_up_columns_kernel<Out>, dim3(blocks.across), dim3(32), stream, edges);
    FACESAT_LAUNCH(add_up_rows_kernel<Out>, dim3(blocks.down), dim3(32), stream, edges);
    FACESAT_LAUNCH(complete_blocks_kernel<Pass>, grid, block, stream, pass, edges);
  });
}

}  // namespace

const SatAlgorithm nehab_2011{
    .id = "nehab_2011",
    .title = "Overlapped summed-area tables: sums of blocks, then blocks (2R1W)",
    .source =
        "Nehab, Maximo, Lima, Hoppe: GPU-Efficient Recursive Filtering and Summed-Area "
        "Tables, ACM TOG 30(6), 2011",
    .year = 2011,
    .launches = 4,
    .reads = 2,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
