// The code that the six algorithms of Kasagi, Nakano and Ito share: a thread's walk along a line,
// the tile in diagonal arrangement, and the kernels of 2R1W and of 1R1W, which the hybrid combines.
//
// Source: A. Kasagi, K. Nakano, Y. Ito, "Parallel Algorithms for the Summed Area Table on the
// Asynchronous Hierarchical Memory Machine, with GPU implementations", ICPP 2014. C, R and S are
// the paper's: for a tile, the sums of all elements above it in each of its columns, of all
// elements to its left in each of its rows, and of all that are above and to the left.
#pragma once

#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu::kasagi {

inline constexpr const char* paper =
    "Kasagi, Nakano, Ito: Parallel Algorithms for the Summed Area Table on the Asynchronous "
    "Hierarchical Memory Machine, with GPU implementations, ICPP 2014";

// The paper's parameters. side: its w, as many as a warp has lanes; line_threads: threads of a
// block that handles lines or single elements; tile_warps: warps of a block that handles a tile.
constexpr int side = 32, line_threads = 64, tile_warps = 4;

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

inline Region all_tiles(Size size) {
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
template <class Pass, class EdgesOf>
__device__ __forceinline__ void make_tile(const Pass& pass, int tile_row, int tile_column,
                                          EdgesOf edges_of) {
  using Out = typename Pass::Out;
  __shared__ DiagonalTile<Out> tile;
  const int x0 = tile_column * side, y0 = tile_row * side;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  Edges<Out> edges{};
  if (warp == 0) edges = edges_of();
  tile.template fill<tile_warps>(
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
  for (int row = warp; row < side; row += tile_warps)
    if (pass.has(x0 + lane, y0 + row)) pass.row(y0 + row)[x0 + lane] = tile.at(row, lane);
}

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
template <class Pass>
__global__ void sum_tiles_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  using Out = typename Pass::Out;
  __shared__ DiagonalTile<Out> tile;
  const int i = region.top() + static_cast<int>(blockIdx.y),
            j = region.left() + static_cast<int>(blockIdx.x);
  if (!region.has(i, j)) return;  // all threads of the block do, since they have the same tile
  tile.template fill<tile_warps>(
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
template <class Pass>
__global__ void make_tiles_kernel(Pass pass, Region region, Sums<typename Pass::Out> sums) {
  const int i = region.top() + static_cast<int>(blockIdx.y),
            j = region.left() + static_cast<int>(blockIdx.x);
  if (!region.has(i, j)) return;  // all threads of the block do, since they have the same tile
  make_tile(pass, i, j, [&]() -> Edges<typename Pass::Out> {
    const int x = j * side + static_cast<int>(threadIdx.x),
              y = i * side + static_cast<int>(threadIdx.x);
    return {sums.columns_of(i)[x], sums.rows_of(j)[y], sums.corners_of(i)[j]};
  });
}

// A stage of 1R1W: the tiles of a region that is one anti-diagonal.
template <class Pass>
__global__ void make_diagonal_kernel(Pass pass, Region diagonal) {
  const int j = diagonal.left() + static_cast<int>(blockIdx.x), i = diagonal.first - j;
  make_tile(pass, i, j, [&] { return edges_from_table(pass, i, j); });
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
    return (bytes + 255) / 256 * 256;
  }
};

inline std::size_t sums_bytes(SatType type, Size size) {
  return SumsLayout(all_tiles(size), info_of(type).table_bytes).bytes();
}

// Enqueues 2R1W of a region, in four launches.
template <class Pass>
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
  const dim3 tiles(width, height), threads(side, tile_warps);
  const int lines = side * (width > height ? width : height);
  FACESAT_LAUNCH(sum_tiles_kernel<Pass>, tiles, threads, stream, pass, region, sums);
  FACESAT_LAUNCH(scan_sums_kernel<Pass>, dim3(divide_up(lines, line_threads), kinds_of_lines),
                 dim3(line_threads), stream, pass, region, sums);
  FACESAT_LAUNCH(scan_corners_kernel<Pass>, dim3(divide_up(height, line_threads / side)),
                 dim3(side, line_threads / side), stream, pass, region, sums);
  FACESAT_LAUNCH(make_tiles_kernel<Pass>, tiles, threads, stream, pass, region, sums);
}

// Enqueues 1R1W of a region, with one launch for each of its anti-diagonals.
template <class Pass>
void enqueue_1r1w(const Pass& pass, Region region, StreamHandle stream) {
  for (const int end = region.end; region.first < end; ++region.first) {
    region.end = region.first + 1;
    FACESAT_LAUNCH(make_diagonal_kernel<Pass>, dim3(region.right() - region.left()),
                   dim3(side, tile_warps), stream, pass, region);
  }
}

}  // namespace facesat::gpu::kasagi
