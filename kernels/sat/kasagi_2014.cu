// The six algorithms of Kasagi, Nakano and Ito, named by their accesses to global memory per
// element. C, R and S are the paper's: for a tile, the sums of all elements above it in each of its
// columns, of all elements to its left in each of its rows, and of all that are above and to the
// left.
//
// Ideas, reads and writes per element, launches, workspace:
//   2R2W (section IV): threads run down the columns and leave prefix sums; after a barrier, threads
//     run along the rows of the result. This half is strided: the lanes of a warp access 32 rows at
//     a time. The pixel read; the table written, read and written again. 2 launches.
//   4R4W (IV): the rows of a matrix are the columns of its transpose, so that both directions are
//     scanned by coalesced accesses, with a transpose after each; tiles are transposed through
//     shared memory, where neither rows nor columns have bank conflicts. 4 launches. Workspace: the
//     transposed table.
//   4R1W (VI): an element of the table is the pixel, plus the elements to the left and above, minus
//     the one above and to the left. These lie on the two previous anti-diagonals, so all elements
//     of an anti-diagonal are computed at the same time, and those of the next after a barrier. All
//     accesses are strided. The pixel and three elements of the table read; one written. One launch
//     for each anti-diagonal of elements, width + height - 1.
//   2R1W (V, after Nehab et al. 2011): step 1 sums up the columns, the rows and all of each tile;
//     step 2 makes prefix sums of them across tiles; step 3 reads the tiles again, adds what lies
//     above and to the left to their top rows and leftmost columns, and writes their SATs. The
//     pixel twice, the table once; 1/16 of that for C and R. 4 launches. Workspace: C, R and S,
//     1/16 of a table.
//   1R1W (VI): once the tiles above and to the left are in the table, differences of adjacent
//     elements in the row above and in the column to the left are the sums that a tile lacks; added
//     to its top row and its leftmost column, they turn its SAT into the table. The pixel and the
//     table once; 65 more elements are read per tile. One launch for each anti-diagonal of tiles.
//   Hybrid, (1 + r)R1W (VII): the first and the last launches of 1R1W have few tiles and are bound
//     by latency; 2R1W makes those tiles, in the top left and in the bottom right corner. The
//     parameter r, from 0 (1R1W) to 1 (2R1W), is the fraction of the picture that is then read
//     twice. 8 launches, and one for each anti-diagonal of tiles between the corners. Workspace:
//     that of 2R1W.
// Shapes: lines and single elements in blocks of 64 threads, one each; tiles of 32 x 32 in diagonal
//   arrangement (each row rotated by its index) in blocks of 32 x 4 threads, of which one warp
//   makes the SAT, or of 64 that transpose.
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
//   Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014. Formula (1) of
//   section VI has the signs of the neighbours reversed by mistake.
// Departs from it in: loads of the scans are issued eight at a time. Pictures need not be square:
//   they are transposed out of place, and the corners of the hybrid are not always triangles, but
//   each has the anti-diagonals that make up r / 2 of the picture. 2R1W makes the SAT of S by scans
//   of its columns, together with those of C, and of its rows, one warp per row, instead of
//   recursion (S has at most 1024 x 1024 elements; this takes one launch more than the paper
//   without recursion, one fewer than with it); two warps make the sums of columns and of rows at
//   the same time; prefix sums are exclusive. The scans of the hybrid's second corner, which the
//   paper leaves open, begin with differences of adjacent elements of the table.
#include <algorithm>
#include <cmath>

#include "kernels/sat/model.hpp"
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

// The paper's w, as many as a warp has lanes.
constexpr int side = 32;
// The threads of a block that handles lines or single elements, and of one that handles a tile. The
// paper "tested several configurations" and names the best of each; as SatTask::parameter they can
// be searched here, too.
constexpr int line_threads = 64, tile_threads = 128;
constexpr double line_choices[]{32, 64, 128, 256, 512, 1024}, tile_choices[]{64, 128, 256, 512};
constexpr SatParameter line_parameter{.name = "threads",
                                      .meaning = "the threads of a block",
                                      .least = 32,
                                      .greatest = 1024,
                                      .is_whole = true,
                                      .choices = line_choices};
constexpr SatParameter tile_parameter{.name = "threads",
                                      .meaning = "the threads of a block that has a tile",
                                      .least = 64,
                                      .greatest = 512,
                                      .is_whole = true,
                                      .choices = tile_choices};

// Calls launch(std::integral_constant<int, warps>()) for one of tile_choices.
template <class Launch>
void with_warps(int threads, Launch launch) {
  switch (threads) {
    case 64:
      return launch(std::integral_constant<int, 2>());
    case 256:
      return launch(std::integral_constant<int, 8>());
    case 512:
      return launch(std::integral_constant<int, 16>());
    default:
      return launch(std::integral_constant<int, 4>());
  }
}

// Calls visit(i, load(i)) for each i of [first, end), in order, by one thread. Eight loads are in
// flight at a time.
template <class Load, class Visit>
__device__ __forceinline__ void walk(int first, int end, Load load, Visit visit) {
  constexpr int ahead = 8;
  for (int begin = first; begin < end; begin += ahead) {
    decltype(load(0)) v[ahead];
    FACESAT_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (begin + k < end) v[k] = load(begin + k);
    FACESAT_UNROLL
    for (int k = 0; k < ahead; ++k)
      if (begin + k < end) visit(begin + k, v[k]);
  }
}

// Prefix sums of every column, one thread per column; the input may be the table.
template <class Pass>
__global__ void scan_columns_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= pass.size.width) return;
  Out sum{};
  walk(
      0, pass.size.height, [&](int y) { return pass.input_row(y)[x]; },
      [&](int y, typename Pass::In pixel) { pass.row(y)[x] = sum += Pass::value(pixel); });
}

// 32 x 32 values in shared memory. Each row is rotated by its index, so that accesses along a row
// or along a column have no bank conflicts.
template <class T>
class DiagonalTile {
 public:
  __device__ __forceinline__ decltype(auto) at(int row, int column) {
    return elements_[row * side + ((row + column) & (side - 1))];
  }

  // Called by all `warps` of the block: sets every element to load(row, column). The caller
  // provides the barriers.
  template <int warps, class Load>
  __device__ __forceinline__ void fill(Load load) {
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    T v[side / warps];
    FACESAT_UNROLL
    for (int k = 0; k < side / warps; ++k) v[k] = load(warp + k * warps, lane);
    FACESAT_UNROLL
    for (int k = 0; k < side / warps; ++k) at(warp + k * warps, lane) = v[k];
  }

  // By one warp: the sum of the lane's column or row.
  __device__ __forceinline__ T column_sum(int lane) {
    T sum{};
    FACESAT_UNROLL
    for (int i = 0; i < side; ++i) sum += at(i, lane);
    return sum;
  }
  __device__ __forceinline__ T row_sum(int lane) {
    T sum{};
    FACESAT_UNROLL
    for (int i = 0; i < side; ++i) sum += at(lane, i);
    return sum;
  }

  // By one warp: replaces the tile by its own SAT.
  __device__ __forceinline__ void make_sat(int lane) {
    scan_line([&](int i) -> decltype(auto) { return at(i, lane); });
    __syncwarp();
    scan_line([&](int i) -> decltype(auto) { return at(lane, i); });
  }

 private:
  // Eight elements are read at a time, so that few reads wait for a write. More would cost
  // registers, and thus occupancy.
  template <class At>
  __device__ __forceinline__ static void scan_line(At element) {
    constexpr int ahead = 8;
    T sum{};
    FACESAT_UNROLL
    for (int begin = 0; begin < side; begin += ahead) {
      T v[ahead];
      FACESAT_UNROLL
      for (int k = 0; k < ahead; ++k) v[k] = element(begin + k);
      FACESAT_UNROLL
      for (int k = 0; k < ahead; ++k) element(begin + k) = sum += v[k];
    }
  }
  SharedArray<T, side * side> elements_;
};

// ---- 2R2W ----

// Prefix sums of every row of the table, in place.
template <class Pass>
__global__ void scan_rows_kernel(Pass pass) {
  using Out = typename Pass::Out;
  const int y = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (y >= pass.size.height) return;
  Out* const row = pass.row(y);
  Out sum{};
  walk(
      0, pass.size.width, [&](int x) { return row[x]; },
      [&](int x, Out value) { row[x] = sum += value; });
}

template <class Pass>
void enqueue_column_scan(const Pass& pass, int threads, StreamHandle stream) {
  FACESAT_LAUNCH(scan_columns_kernel<Pass>, dim3(divide_up(pass.size.width, threads)),
                 dim3(threads), stream, pass);
}

void enqueue_2r2w(const SatTask& task, void*, StreamHandle stream) {
  const int threads = static_cast<int>(task.parameter);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    enqueue_column_scan(pass, threads, stream);
    FACESAT_LAUNCH(scan_rows_kernel<Pass>, dim3(divide_up(pass.size.height, threads)),
                   dim3(threads), stream, pass);
  });
}

// ---- 4R4W ----

constexpr int transpose_warps = 2;

// The transposed table, to be scanned in place.
template <class T>
using Transposed = Pass<T, T, false>;

// Writes the transpose of `from`, whose size is `size`, to `to`.
template <class T>
__global__ void transpose_kernel(const T* from, std::ptrdiff_t from_pitch, Size size, T* to,
                                 std::ptrdiff_t to_pitch) {
  __shared__ DiagonalTile<T> tile;
  const int x0 = static_cast<int>(blockIdx.x) * side, y0 = static_cast<int>(blockIdx.y) * side;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  tile.template fill<transpose_warps>([&](int row, int column) {
    const int x = x0 + column, y = y0 + row;
    return x < size.width && y < size.height ? from[y * from_pitch + x] : T{};
  });
  __syncthreads();
  FACESAT_UNROLL
  for (int column = warp; column < side; column += transpose_warps) {
    const int x = x0 + column, y = y0 + lane;
    if (x < size.width && y < size.height) to[x * to_pitch + y] = tile.at(lane, column);
  }
}

// Rows of the transposed table start on 256-byte boundaries.
std::ptrdiff_t transposed_pitch(Size size) {
  return divide_up(size.height, 64) * 64;
}

std::size_t transposed_bytes(SatType type, Size size) {
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(transposed_pitch(size)) *
         info_of(type).table_bytes;
}

template <class T>
void enqueue_transpose(const T* from, std::ptrdiff_t from_pitch, Size size, T* to,
                       std::ptrdiff_t to_pitch, StreamHandle stream) {
  FACESAT_LAUNCH(transpose_kernel<T>,
                 dim3(divide_up(size.width, side), divide_up(size.height, side)),
                 dim3(side, transpose_warps), stream, from, from_pitch, size, to, to_pitch);
}

void enqueue_4r4w(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    using Out = typename Pass::Out;
    auto* const transposed = static_cast<Out*>(workspace);
    const std::ptrdiff_t pitch = transposed_pitch(pass.size);
    const Size turned{pass.size.height, pass.size.width};
    const int threads = static_cast<int>(task.parameter);
    enqueue_column_scan(pass, threads, stream);
    enqueue_transpose<Out>(pass.table, pass.pitch, pass.size, transposed, pitch, stream);
    enqueue_column_scan(Transposed<Out>{turned, transposed, pitch, transposed, pitch}, threads,
                        stream);
    enqueue_transpose<Out>(transposed, pitch, turned, pass.table, pass.pitch, stream);
  });
}

// ---- 4R1W ----

// The elements of anti-diagonal `diagonal`, from column `first` to column `end` - 1.
template <class Pass>
__global__ void make_elements_kernel(Pass pass, int diagonal, int first, int end) {
  using Out = typename Pass::Out;
  const int x = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), y = diagonal - x;
  if (x >= end) return;
  Out* const row = pass.row(y);
  const Out* const above = pass.row(y - 1);
  row[x] = Pass::value(pass.input_row(y)[x]) + row[x - 1] + above[x] - above[x - 1];
}

void enqueue_4r1w(const SatTask& task, void*, StreamHandle stream) {
  const int threads = static_cast<int>(task.parameter);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    const auto [width, height] = pass.size;
    for (int diagonal = 0; diagonal < width + height - 1; ++diagonal) {
      const int first = diagonal < height ? 0 : diagonal - height + 1;
      const int end = diagonal < width ? diagonal + 1 : width;
      FACESAT_LAUNCH(make_elements_kernel<Pass>, dim3(divide_up(end - first, threads)),
                     dim3(threads), stream, pass, diagonal, first, end);
    }
  });
}

// ---- tiles, for 2R1W and 1R1W ----

// The tiles on anti-diagonals [first, end) of a picture of `across` x `down` tiles; never empty. An
// anti-diagonal is the tiles with the same sum of row and column, which is its number.
struct Region {
  int across, down, first, end;

  __host__ __device__ static int within(int i, int count) {
    return i < 0 ? 0 : i < count ? i : count;
  }
  __host__ __device__ int first_row(int column) const { return within(first - column, down); }
  __host__ __device__ int end_row(int column) const { return within(end - column, down); }
  __host__ __device__ int first_column(int row) const { return within(first - row, across); }
  __host__ __device__ int end_column(int row) const { return within(end - row, across); }
  // The bounding box, in tiles; right and bottom are one past its end.
  __host__ __device__ int top() const { return first_row(across - 1); }
  __host__ __device__ int bottom() const { return end_row(0); }
  __host__ __device__ int left() const { return first_column(down - 1); }
  __host__ __device__ int right() const { return end_column(0); }
  __device__ bool has(int row, int column) const {
    return row + column >= first && row + column < end;
  }
};

Region all_tiles(Size size) {
  const int across = divide_up(size.width, side), down = divide_up(size.height, side);
  return {across, down, 0, across + down - 1};
}

// C, R and S of one tile; lane i of the first warp has those of column i and of row i.
template <class T>
struct Edges {
  T column, row, corner;
};

// The value minus that of the previous lane; in lane 0, minus `first`.
template <class T>
__device__ __forceinline__ T difference(T value, T first) {
  const T before = __shfl_up_sync(full_warp, value, 1);
  return value - (threadIdx.x > 0 ? before : first);
}

// Computes the edges from the table's row above the tile and its column to the left; called by the
// first warp. In the picture's first tiles these are row and column -1, which are zero.
template <class Pass>
__device__ __forceinline__ auto edges_from_table(const Pass& pass, int tile_row, int tile_column) {
  using Out = typename Pass::Out;
  const int x0 = tile_column * side, y0 = tile_row * side, lane = static_cast<int>(threadIdx.x);
  const Out corner = pass.row(y0 - 1)[x0 - 1];
  const Out above = x0 + lane < pass.size.width ? pass.row(y0 - 1)[x0 + lane] : Out{};
  const Out left = y0 + lane < pass.size.height ? pass.row(y0 + lane)[x0 - 1] : Out{};
  return Edges<Out>{difference(above, corner), difference(left, corner), corner};
}

// Computes the table of one tile, by a block: adds C to the top row, R to the leftmost column and S
// to the corner of the tile's pixels, and writes the SAT of the result. The first warp calls
// edges_of().
template <int warps, class Pass, class EdgesOf>
__device__ __forceinline__ void make_tile(const Pass& pass, int tile_row, int tile_column,
                                          EdgesOf edges_of) {
  using Out = typename Pass::Out;
  __shared__ DiagonalTile<Out> tile;
  const int x0 = tile_column * side, y0 = tile_row * side;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  Edges<Out> edges{};
  if (warp == 0) edges = edges_of();
  tile.template fill<warps>(
      [&](int row, int column) { return pass.value_at(x0 + column, y0 + row); });
  __syncthreads();
  if (warp == 0) {
    tile.at(0, lane) += edges.column + (lane == 0 ? edges.corner : Out{});
    __syncwarp();
    tile.at(lane, 0) += edges.row;
    __syncwarp();
    tile.make_sat(lane);
  }
  __syncthreads();
  FACESAT_UNROLL
  for (int row = warp; row < side; row += warps)
    if (pass.has(x0 + lane, y0 + row)) pass.row(y0 + row)[x0 + lane] = tile.at(row, lane);
}

// ---- 2R1W ----

// C, R and S of all tiles of a region, for 2R1W. Tiles above or to the left of the region's tiles,
// if any, must be in the table already. C and S have one line per row of tiles; R is transposed and
// has one line per column of tiles, so that the scans of both C and R are coalesced.
template <class T>
struct Sums {
  T *columns, *rows, *corners;
  std::ptrdiff_t columns_pitch, rows_pitch, corners_pitch;

  __device__ T* columns_of(int tile_row) const { return columns + tile_row * columns_pitch; }
  __device__ T* rows_of(int tile_column) const { return rows + tile_column * rows_pitch; }
  __device__ T* corners_of(int tile_row) const { return corners + tile_row * corners_pitch; }
};

// Step 1 of 2R1W: the sums of each tile's own columns and rows, and of the whole tile.
template <int warps, class Pass>
__global__ void sum_tiles_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  __shared__ DiagonalTile<Out> tile;
  const int i = region.top() + static_cast<int>(blockIdx.y),
            j = region.left() + static_cast<int>(blockIdx.x);
  if (!region.has(i, j)) return;  // all threads of the block do, since they have the same tile
  tile.template fill<warps>(
      [&](int row, int column) { return pass.value_at(j * side + column, i * side + row); });
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x);
  if (threadIdx.y == 0) {
    const Out column = tile.column_sum(lane), total = warp_sum(column);
    sums.columns_of(i)[j * side + lane] = column;
    if (lane == 0) sums.corners_of(i)[j] = total;
  } else if (threadIdx.y == 1) {
    sums.rows_of(j)[i * side + lane] = tile.row_sum(lane);
  }
}

// Step 2 of 2R1W, first half: exclusive scans of C's columns, of R's rows and of S's columns, one
// thread per line. Each begins with the difference of two elements of the table: the part of the
// sum that lies outside the region.
enum ScanLines : unsigned { lines_of_columns, lines_of_rows, lines_of_corners, kinds_of_lines };

template <class Pass>
__global__ void scan_sums_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  const int line = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const auto scan = [](int first, int end, Out sum, auto element) {
    walk(
        first, end, [&](int i) { return *element(i); },
        [&](int i, Out own) {
          *element(i) = sum;
          sum += own;
        });
  };
  if (blockIdx.y == lines_of_columns) {
    const int x = region.left() * side + line, j = x / side;
    if (j >= region.right() || x >= pass.size.width) return;
    const int first = region.first_row(j);
    const Out* const above = pass.row(first * side - 1);
    scan(first, region.end_row(j), above[x] - above[x - 1],
         [&](int i) { return sums.columns_of(i) + x; });
  } else if (blockIdx.y == lines_of_rows) {
    const int y = region.top() * side + line, i = y / side;
    if (i >= region.bottom() || y >= pass.size.height) return;
    const int first = region.first_column(i), left = first * side - 1;
    scan(first, region.end_column(i), pass.row(y)[left] - pass.row(y - 1)[left],
         [&](int j) { return sums.rows_of(j) + y; });
  } else {
    const int j = region.left() + line;
    if (j >= region.right()) return;
    const int first = region.first_row(j);
    const Out* const above = pass.row(first * side - 1);
    const int last = min((j + 1) * side, pass.size.width) - 1;
    scan(first, region.end_row(j), above[last] - above[j * side - 1],
         [&](int i) { return sums.corners_of(i) + j; });
  }
}

// Step 2 of 2R1W, second half: exclusive scans of S's rows, one warp per row.
template <class Pass>
__global__ void scan_corners_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  const int i = region.top() + static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (i >= region.bottom()) return;  // all lanes of the warp do, since they have the same i
  const int first = region.first_column(i), end = region.end_column(i);
  Out carry = pass.row(i * side - 1)[first * side - 1];
  for (int begin = first; begin < end; begin += side) {
    const int j = begin + static_cast<int>(threadIdx.x);
    Out* const corner = sums.corners_of(i) + j;
    const Out scan = warp_inclusive_scan(j < end ? *corner : Out{});
    const Out before = __shfl_up_sync(full_warp, scan, 1);
    if (j < end) *corner = carry + (threadIdx.x > 0 ? before : Out{});
    carry += __shfl_sync(full_warp, scan, side - 1);
  }
}

// Step 3 of 2R1W: the tables of the tiles.
template <int warps, class Pass>
__global__ void make_tiles_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  const int i = region.top() + static_cast<int>(blockIdx.y),
            j = region.left() + static_cast<int>(blockIdx.x);
  if (!region.has(i, j)) return;  // all threads of the block do, since they have the same tile
  make_tile<warps>(pass, i, j, [&]() -> Edges<typename Pass::Out> {
    const int x = j * side + static_cast<int>(threadIdx.x),
              y = i * side + static_cast<int>(threadIdx.x);
    return {sums.columns_of(i)[x], sums.rows_of(j)[y], sums.corners_of(i)[j]};
  });
}

// Sizes of C, R and S in the workspace, each rounded up to 256 bytes. C has one line per 32 rows of
// the picture, R one per 32 columns.
struct SumsLayout {
  std::size_t columns, rows, corners;  // bytes
  SumsLayout(const Region& all, std::size_t element_bytes)
      : columns(section(all.down, side * all.across, element_bytes)),
        rows(section(all.across, side * all.down, element_bytes)),
        corners(section(all.down, all.across, element_bytes)) {}
  std::size_t bytes() const { return columns + rows + corners; }

 private:
  static std::size_t section(int lines, int length, std::size_t element_bytes) {
    const std::size_t bytes =
        static_cast<std::size_t>(lines) * static_cast<std::size_t>(length) * element_bytes;
    return round_up_256(bytes);
  }
};

std::size_t sums_bytes(SatType type, Size size) {
  return SumsLayout(all_tiles(size), info_of(type).table_bytes).bytes();
}

// Enqueues 2R1W of a region, in four launches.
template <int warps, class Pass>
void enqueue_2r1w(const Pass& pass, const Region& region, void* workspace, StreamHandle stream) {
  using Out = typename Pass::Out;
  const SumsLayout layout(region, sizeof(Out));
  auto* const bytes = static_cast<std::byte*>(workspace);
  const Sums<Out> sums{reinterpret_cast<Out*>(bytes),
                       reinterpret_cast<Out*>(bytes + layout.columns),
                       reinterpret_cast<Out*>(bytes + layout.columns + layout.rows),
                       side * region.across,
                       side * region.down,
                       region.across};
  const int width = region.right() - region.left(), height = region.bottom() - region.top();
  const dim3 tiles(width, height), threads(side, warps);
  const int lines = side * (width > height ? width : height);
  FACESAT_LAUNCH((sum_tiles_kernel<warps, Pass>), tiles, threads, stream, pass, region, sums);
  FACESAT_LAUNCH(scan_sums_kernel<Pass>, dim3(divide_up(lines, line_threads), kinds_of_lines),
                 dim3(line_threads), stream, pass, region, sums);
  FACESAT_LAUNCH(scan_corners_kernel<Pass>, dim3(divide_up(height, line_threads / side)),
                 dim3(side, line_threads / side), stream, pass, region, sums);
  FACESAT_LAUNCH((make_tiles_kernel<warps, Pass>), tiles, threads, stream, pass, region, sums);
}

void enqueue_all_2r1w(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    with_warps(static_cast<int>(task.parameter),
               [&]<int warps>(std::integral_constant<int, warps>) {
                 enqueue_2r1w<warps>(pass, all_tiles(pass.size), workspace, stream);
               });
  });
}

// ---- 1R1W ----

// A stage of 1R1W: the tiles of a region that is one anti-diagonal.
template <int warps, class Pass>
__global__ void make_diagonal_kernel(Pass pass, Region diagonal) {
  const int j = diagonal.left() + static_cast<int>(blockIdx.x), i = diagonal.first - j;
  make_tile<warps>(pass, i, j, [&] { return edges_from_table(pass, i, j); });
}

// Enqueues 1R1W of a region, with one launch for each of its anti-diagonals.
template <int warps, class Pass>
void enqueue_1r1w(const Pass& pass, Region region, StreamHandle stream) {
  for (const int end = region.end; region.first < end; ++region.first) {
    region.end = region.first + 1;
    FACESAT_LAUNCH((make_diagonal_kernel<warps, Pass>), dim3(region.right() - region.left()),
                   dim3(side, warps), stream, pass, region);
  }
}

void enqueue_all_1r1w(const SatTask& task, void*, StreamHandle stream) {
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    with_warps(static_cast<int>(task.parameter),
               [&]<int warps>(std::integral_constant<int, warps>) {
                 enqueue_1r1w<warps>(pass, all_tiles(pass.size), stream);
               });
  });
}

// ---- (1 + r)R1W ----

// As measured to be fastest. The paper's own search gave 0.17 to 0.07 on a GTX 780 Ti; on an H200,
// which reads twenty million pixels in the time of a launch, a larger r is faster.
constexpr double fastest = 0.99;
constexpr double published[]{0.25};

double hybrid_reads(double r) {
  return 1 + r;
}

// As in the paper, what every number of anti-diagonals gives, or a part of these values, evenly
// spaced in sqrt(r), which in a square is their number.
std::vector<double> candidates(Size size, std::size_t most) {
  const Region region = all_tiles(size);
  const Size tiles{region.across, region.down};
  const auto area = static_cast<double>(tiles.area());
  std::vector<double> all, chosen;
  double made = 2;  // tiles of both corners
  for (int count = 1; made < area; made += 2 * diagonal_length(tiles, count++))
    all.push_back(made / area);
  if (all.size() <= most) return all;
  const double least = std::sqrt(all.front()), greatest = std::sqrt(all.back());
  for (std::size_t i = 0; i < most; ++i) {
    const double root =
        least + (greatest - least) * static_cast<double>(i) / static_cast<double>(most - 1);
    const double r = *std::lower_bound(all.begin(), all.end() - 1, root * root);
    if (chosen.empty() || r > chosen.back()) chosen.push_back(r);
  }
  return chosen;
}

constexpr SatParameter r_parameter{.name = "r",
                                   .meaning = "the fraction of the picture that is read twice",
                                   .least = 0,
                                   .greatest = 1,
                                   .published = published,
                                   .reads = hybrid_reads,
                                   .candidates = candidates};

void enqueue_hybrid(const SatTask& task, void* workspace, StreamHandle stream) {
  const Region all = all_tiles(task.size);
  const int corner = corner_diagonals({all.across, all.down}, task.parameter);
  Region first = all, between = all, last = all;
  first.end = between.first = corner;
  between.end = last.first = std::max(corner, all.end - corner);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    constexpr int warps = tile_threads / side;
    if (first.first < first.end) enqueue_2r1w<warps>(pass, first, workspace, stream);
    enqueue_1r1w<warps>(pass, between, stream);
    if (last.first < last.end) enqueue_2r1w<warps>(pass, last, workspace, stream);
  });
}

// ---- the table of algorithms ----
constexpr int one_per_diagonal = 0;  // SatAlgorithm::launches

constexpr SatAlgorithm algorithm(std::string_view id, std::string_view title, int launches,
                                 double reads, double writes, const SatModel& model,
                                 std::size_t (*workspace_bytes)(SatType, Size),
                                 void (*enqueue)(const SatTask&, void*, StreamHandle)) {
  return {.id = id,
          .title = title,
          .source =
              "Kasagi, Nakano, Ito: Parallel Algorithms for the Summed Area Table on the "
              "Asynchronous Hierarchical Memory Machine, with GPU implementations, ICPP 2014",
          .year = 2014,
          .launches = launches,
          .reads = reads,
          .writes = writes,
          .model = model,
          .workspace_bytes = workspace_bytes,
          .enqueue = enqueue};
}

constexpr SatAlgorithm with(SatAlgorithm algorithm, const SatParameter& parameter, double value) {
  algorithm.parameter = &parameter;
  algorithm.value = value;
  return algorithm;
}
constexpr SatAlgorithm with_line_threads(SatAlgorithm algorithm) {
  return with(algorithm, line_parameter, line_threads);
}
constexpr SatAlgorithm with_tile_threads(SatAlgorithm algorithm) {
  return with(algorithm, tile_parameter, tile_threads);
}

}  // namespace

const SatAlgorithm kasagi_2014_2r2w = with_line_threads(
    algorithm("kasagi_2014_2r2w", "One thread per column, then one per row (2R2W)", 2, 2, 2,
              hmm_model<hmm_2r2w>, no_workspace, enqueue_2r2w));
const SatAlgorithm kasagi_2014_4r4w =
    with_line_threads(algorithm("kasagi_2014_4r4w", "Columns and transpose, twice (4R4W)", 4, 4, 4,
                                hmm_model<hmm_4r4w>, transposed_bytes, enqueue_4r4w));
const SatAlgorithm kasagi_2014_4r1w = with_line_threads(
    algorithm("kasagi_2014_4r1w", "Anti-diagonals of elements (4R1W)", one_per_diagonal, 4, 1,
              hmm_model<hmm_4r1w>, no_workspace, enqueue_4r1w));
const SatAlgorithm kasagi_2014_2r1w =
    with_tile_threads(algorithm("kasagi_2014_2r1w", "Sums of tiles, then their tables (2R1W)", 4, 2,
                                1, hmm_model<hmm_2r1w>, sums_bytes, enqueue_all_2r1w));
const SatAlgorithm kasagi_2014_1r1w = with_tile_threads(
    algorithm("kasagi_2014_1r1w", "Anti-diagonals of tiles (1R1W)", one_per_diagonal, 1, 1,
              hmm_model<hmm_1r1w>, no_workspace, enqueue_all_1r1w));
const SatAlgorithm kasagi_2014_hybrid = with(
    algorithm("kasagi_2014_hybrid", "2R1W in the corners, 1R1W between ((1+r)R1W)",
              one_per_diagonal, 1 + fastest, 1, hmm_model<hmm_hybrid>, sums_bytes, enqueue_hybrid),
    r_parameter, fastest);

}  // namespace facesat::gpu
