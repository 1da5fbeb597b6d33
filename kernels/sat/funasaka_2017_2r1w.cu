// Sums of groups first, then each group by itself (2R1W), as Funasaka et al. describe what Nehab et
// al. propose: the rival of their SKSS in table II. nehab_2011.cu follows Nehab et al. more
// closely.
//
// Idea: the table of a group of 32 x 32 elements needs the sums of its rows up to its left edge
//   (R), of its columns up to its upper edge (C), and of all groups above and to the left (S).
// Stages: 1 computes R, C and S of every group; 2 replaces R by prefix sums along the rows of
//   groups, C by those down the columns, and S by its summed area table; 3 reads the picture again
//   and completes every group.
// Shapes: in stages 1 and 3 one warp per group, in shared memory; in stage 2 a thread for each row
//   and for each column of the picture, and one block for S, with a thread per column and then a
//   warp per row of it.
// Reads and writes per element: the pixel twice, the table once (2R1W); R and C, a sixteenth of the
//   table, are written twice and read twice.
// Launches: 3.
// Workspace: R, C and S.
// Source: Shunji Funasaka, Koji Nakano, Yasuaki Ito, "Single Kernel Soft Synchronization Technique
//   for Task Arrays on CUDA-enabled GPUs, with Applications", CANDAR 2017, section V-B.
// Our own choices: how stage 2 is divided, of which the paper says what it computes, not how.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 32, pitch = side + 1;  // rows and columns without bank conflicts
constexpr int groups_per_block = 4;         // in stages 1 and 3
constexpr int line_threads = 128;           // of the blocks for R and C in stage 2
constexpr int square_threads = 1024;        // of the block for S
constexpr int batch = 8;                    // elements that a thread loads at once in stage 2

template <class Out>
struct Sums {
  int across, down;  // groups
  Out *r, *c, *s;

  // Of row m, column n of the groups: one element for each row, or for each column.
  __device__ Out* rows(int m, int n) const {
    return r + (static_cast<std::ptrdiff_t>(n) * down + m) * side;
  }
  __device__ Out* columns(int m, int n) const {
    return c + (static_cast<std::ptrdiff_t>(m) * across + n) * side;
  }
  __device__ Out* total(int m, int n) const {
    return s + static_cast<std::ptrdiff_t>(m) * across + n;
  }
};

// The group of the calling warp, and its part of the block's shared memory.
struct Group {
  int m, n, begin, lane;
  __device__ int at(int row, int column) const { return begin + row * pitch + column; }
};
__device__ __forceinline__ Group group_of_warp() {
  const int warp = static_cast<int>(threadIdx.y);
  return {static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x) * groups_per_block + warp,
          warp * side * pitch, static_cast<int>(threadIdx.x)};
}

// Stage 1.
template <class Pass>
__global__ void __launch_bounds__(32 * groups_per_block)
    sum_groups_kernel(Pass pass, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, groups_per_block * side * pitch> shared;
  const Group group = group_of_warp();
  if (group.n >= sums.across) return;
  Out column{}, row{};
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k) {
    const Out value = pass.value_at(group.n * side + group.lane, group.m * side + k);
    shared[group.at(k, group.lane)] = value;
    column += value;
  }
  __syncwarp();
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k) row += shared[group.at(group.lane, k)];
  sums.rows(group.m, group.n)[group.lane] = row;
  sums.columns(group.m, group.n)[group.lane] = column;
  const Out total = warp_sum(column);
  if (group.lane == 0) *sums.total(group.m, group.n) = total;
}

// Replaces `count` elements, `stride` apart, by their prefix sums.
template <class Out>
__device__ __forceinline__ void add_up(Out* elements, std::ptrdiff_t stride, int count) {
  Out sum{};
  for (int begin = 0; begin < count; begin += batch) {
    Out values[batch];
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i)
      values[i] = begin + i < count ? elements[(begin + i) * stride] : Out{};
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      sum += values[i];
      if (begin + i < count) elements[(begin + i) * stride] = sum;
    }
  }
}

// Stage 2 for S, by all threads of a block: columns, then rows.
template <class Out>
__device__ __forceinline__ void sum_square(const Sums<Out>& sums) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int n = thread; n < sums.across; n += threads)
    add_up(sums.total(0, n), sums.across, sums.down);
  __syncthreads();
  const int lane = thread % 32;
  for (int m = thread / 32; m < sums.down; m += threads / 32) {
    Out before{};
    for (int begin = 0; begin < sums.across; begin += 32) {
      const int n = begin + lane;
      const Out scanned = warp_inclusive_scan(n < sums.across ? *sums.total(m, n) : Out{});
      if (n < sums.across) *sums.total(m, n) = before + scanned;
      before += __shfl_sync(full_warp, scanned, 31);
    }
  }
}

// Stage 2: block 0 for S, then `row_blocks` blocks for R, the others for C.
template <class Out>
__global__ void __launch_bounds__(square_threads) add_up_kernel(Sums<Out> sums, int row_blocks) {
  const int block = static_cast<int>(blockIdx.x) - 1;
  if (block < 0) return sum_square(sums);
  const bool is_row = block < row_blocks;
  const int thread = static_cast<int>(threadIdx.x);
  const int line = (is_row ? block : block - row_blocks) * static_cast<int>(blockDim.x) + thread;
  const std::ptrdiff_t height = static_cast<std::ptrdiff_t>(sums.down) * side;
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(sums.across) * side;
  if (is_row && line < height)
    add_up(sums.r + line, height, sums.across);
  else if (!is_row && line < width)
    add_up(sums.c + line, width, sums.down);
}

// Stage 3: columns are summed from the top of the picture, then rows from its left edge.
template <class Pass>
__global__ void __launch_bounds__(32 * groups_per_block)
    complete_groups_kernel(Pass pass, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, groups_per_block * side * pitch> shared;
  const Group group = group_of_warp();
  const auto [m, n, begin, lane] = group;
  if (n >= sums.across) return;
  const int x = n * side + lane, y = m * side;
  const Out corner = m > 0 && n > 0 ? *sums.total(m - 1, n - 1) : Out{};
  const Out left = n > 0 ? sums.rows(m, n - 1)[lane] : Out{};  // of the row of this lane
  Out column = m > 0 ? sums.columns(m - 1, n)[lane] : Out{};
  Out values[side];
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k) values[k] = pass.value_at(x, y + k);
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k) shared[group.at(k, lane)] = column += values[k];
  __syncwarp();
  Out row = corner + warp_inclusive_scan(left);
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k) {
    row += shared[group.at(lane, k)];
    shared[group.at(lane, k)] = row;
  }
  __syncwarp();
  FACESAT_UNROLL
  for (int k = 0; k < side; ++k)
    if (pass.has(x, y + k)) pass.row(y + k)[x] = shared[group.at(k, lane)];
}

// Byte offsets at which C and S begin in the workspace, and the end.
struct Layout {
  std::size_t c, s, end;
};
constexpr Layout layout_of(Size size, std::size_t element) {
  const std::size_t groups = static_cast<std::size_t>(divide_up(size.width, side)) *
                             static_cast<std::size_t>(divide_up(size.height, side));
  const std::size_t edge = round_up_256(groups * side * element);
  return {edge, 2 * edge, 2 * edge + round_up_256(groups * element)};
}

std::size_t workspace_bytes(SatType type, Size size) {
  return layout_of(size, info_of(type).table_bytes).end;
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    auto* const memory = static_cast<std::byte*>(workspace);
    const Layout layout = layout_of(pass.size, sizeof(Out));
    const Sums<Out> sums{divide_up(pass.size.width, side), divide_up(pass.size.height, side),
                         reinterpret_cast<Out*>(memory), reinterpret_cast<Out*>(memory + layout.c),
                         reinterpret_cast<Out*>(memory + layout.s)};
    const dim3 grid(divide_up(sums.across, groups_per_block), sums.down),
        block(32, groups_per_block);
    // A block for S needs many threads where there are many groups.
    const bool is_large = std::max(sums.across, sums.down) > line_threads;
    const int threads = is_large && !on_host ? square_threads : line_threads;
    const int row_blocks = divide_up(sums.down * side, threads),
              column_blocks = divide_up(sums.across * side, threads);
    FACESAT_LAUNCH(sum_groups_kernel<Pass>, grid, block, stream, pass, sums);
    FACESAT_LAUNCH(add_up_kernel<Out>, dim3(1 + row_blocks + column_blocks), dim3(threads), stream,
                   sums, row_blocks);
    FACESAT_LAUNCH(complete_groups_kernel<Pass>, grid, block, stream, pass, sums);
  });
}

}  // namespace

const SatAlgorithm funasaka_2017_2r1w{
    .id = "funasaka_2017_2r1w",
    .title = "Sums of groups, their prefix sums, then groups by a warp each (2R1W)",
    .source =
        "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays on "
        "CUDA-enabled GPUs, with Applications, CANDAR 2017, after Nehab et al. 2011",
    .year = 2017,
    .launches = 3,
    .reads = 2,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
