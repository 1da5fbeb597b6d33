// Integral histograms, and the search for a box by its histogram.
//
// Idea: the tables of all bins are scanned along rows and along columns; a pixel adds 1 to that of
//   its bin and 0 to all others. Cross-weave (CW) does the rows, then the columns; in wavefront
//   order (WF), both are done at once.
//   CW-B, the baseline, has a launch for each row of each bin, a block that scans it by a balanced
//   tree; it transposes each table, scans its columns, which are now rows, in the same way, and
//   transposes it back. CW-STS (scan, transpose, scan) has the same blocks, but one launch for all
//   rows of all bins, and one for all transpositions.
//   CW-TiS scans tiles of 32 x 32 elements, in two passes over strips of tiles: a strip needs the
//   last column, then the last row, of the strip before, so each strip has a launch. WF-TiS scans a
//   tile along rows and columns at once: it needs the tiles at its left and above it, so all tiles
//   of an anti-diagonal have a launch. What comes from the left into row y is the sum of that row
//   alone, which is the difference of two elements of the table: those at the tile's left in rows
//   y and y - 1.
//   The search has a thread for each place of the box, which reads four elements per bin.
// Shapes: with tiles, blocks of 32 x 8 threads, one per tile and bin; warps have four rows of the
//   tile. Without, blocks of 256 threads along a row, 512 elements at a time, and of 32 x 8 threads
//   for 32 x 32 elements that are transposed. In the search, blocks of 32 x 8 places.
// Reads and writes per element of the tables: CW-B and CW-STS read the pixel and write the element,
//   and then read and write it three times. WF-TiS reads the pixel, two elements to the left, which
//   are the same ones for 32 elements, and, for four elements, one above; it writes the element
//   once. CW-TiS reads the pixel and an element to the left and writes the element, then reads it,
//   and one above for four elements, and writes it again.
// Launches: CW-B for each bin one for each row and column, and two; CW-STS 4; CW-TiS as many as
//   rows and columns of tiles; WF-TiS as many as there are anti-diagonals of tiles. The search has
//   2.
// Workspace: CW-B one transposed table, CW-STS the transposed tables of all bins; none with tiles.
//   For the search, the best place of each block.
// Source: M. Poostchi, K. Palaniappan, F. Bunyak, M. Becchi, G. Seetharaman, "Efficient GPU
//   Implementation of the Integral Histogram", ACCV Workshops 2012; with the tiled scans, M.
//   Poostchi, K. Palaniappan, D. Li, M. Becchi, F. Bunyak, G. Seetharaman, "Fast Integral Histogram
//   Computations on GPU for Real-Time Video Analytics", arXiv:1711.01919, 2017.
// Departs from it in: no table of ones and zeros is made first: whether a pixel is in the bin is
//   found out where it is scanned. With tiles, a row is not added up but counted: a warp votes
//   which of its pixels are in the bin, and each lane counts the votes up to its own. Columns are
//   added up in registers and, between warps, in shared memory. CW-B and CW-STS end with a
//   transposition, which STS does not name, so that all four leave the same tables; CW-B finishes a
//   bin before the next, so that it needs only one transposed table; scan and transposition are
//   those of bilgic_2010_scan_transpose.cu of kernels/sat, for rows of any length.
#include "kernels/device/warp.cuh"
#include "kernels/filter/integral_histogram.hpp"
#include "kernels/filter/pass.cuh"
#include "kernels/sat/transposed.cuh"

namespace facesat::gpu {
namespace {

// ---- with tiles

constexpr int side = 32, warps = 8, rows = side / warps;  // rows per warp

constexpr Size tiles_of(Size size) {
  return {divide_up(size.width, side), divide_up(size.height, side)};
}

// What a thread has of its tile: a column of four elements, from (x, y) on.
struct Part {
  int bin, x, y;
  int left, top;  // of the tile
};
__device__ __forceinline__ Part part_of(int column, int row) {
  const int left = column * side, top = row * side;
  return {static_cast<int>(blockIdx.y), left + static_cast<int>(threadIdx.x),
          top + static_cast<int>(threadIdx.y) * rows, left, top};
}

// The number of pixels of the bin in row y of the tile, from its left edge to x.
__device__ __forceinline__ std::uint32_t count_in_row(View<const std::uint8_t> picture, int bins,
                                                      const Part& part, int y) {
  const bool is_inside = part.x < picture.size.width && y < picture.size.height;
  const unsigned votes =
      __ballot_sync(full_warp, is_inside && bin_of(picture.row(y)[part.x], bins) == part.bin);
  return static_cast<std::uint32_t>(__popc(votes & full_warp >> (31 - lane_of_thread())));
}

// Adds up the columns of a tile, from the table's row above it on, and stores them.
__device__ __forceinline__ void store_running_sums(Size size, const IntegralHistogram& tables,
                                                   const Part& part, std::uint32_t (&sums)[rows]) {
  __shared__ SharedArray<std::uint32_t, warps * side> totals;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  FACESAT_UNROLL
  for (int i = 1; i < rows; ++i) sums[i] += sums[i - 1];
  totals[warp * side + lane] = sums[rows - 1];
  __syncthreads();
  if (part.x >= size.width) return;
  std::uint32_t above = tables.row(part.bin, part.top - 1)[part.x];
  for (int i = 0; i < warp; ++i) above += totals[i * side + lane];
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i)
    if (part.y + i < size.height) tables.row(part.bin, part.y + i)[part.x] = above + sums[i];
}

// The tiles of an anti-diagonal, from this column on.
__global__ void __launch_bounds__(side* warps)
    wavefront_kernel(View<const std::uint8_t> picture, IntegralHistogram tables, int diagonal,
                     int first_column) {
  const int column = first_column + static_cast<int>(blockIdx.x);
  const Part part = part_of(column, diagonal - column);
  std::uint32_t sums[rows];
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i) {
    const int y = part.y + i;
    sums[i] = count_in_row(picture, tables.bins, part, y);
    if (y < picture.size.height) {
      const std::uint32_t* const left = tables.row(part.bin, y) + part.left - 1;
      sums[i] += left[0] - left[-tables.pitch];
    }
  }
  store_running_sums(picture.size, tables, part, sums);
}

// A column of tiles, along rows.
__global__ void __launch_bounds__(side* warps)
    scan_rows_kernel(View<const std::uint8_t> picture, IntegralHistogram tables, int column) {
  const Part part = part_of(column, static_cast<int>(blockIdx.x));
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i) {
    const int y = part.y + i;
    const std::uint32_t count = count_in_row(picture, tables.bins, part, y);
    if (part.x < picture.size.width && y < picture.size.height) {
      std::uint32_t* const row = tables.row(part.bin, y);
      row[part.x] = row[part.left - 1] + count;
    }
  }
}

// A row of tiles, along columns.
__global__ void __launch_bounds__(side* warps)
    scan_columns_kernel(Size size, IntegralHistogram tables, int row) {
  const Part part = part_of(static_cast<int>(blockIdx.x), row);
  std::uint32_t sums[rows];
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i)
    sums[i] = part.x < size.width && part.y + i < size.height
                  ? tables.row(part.bin, part.y + i)[part.x]
                  : 0;
  store_running_sums(size, tables, part, sums);
}

void enqueue_wavefront(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                       StreamHandle stream) {
  const Size tiles = tiles_of(picture.size);
  for (int diagonal = 0; diagonal < tiles.width + tiles.height - 1; ++diagonal) {
    const int first = std::max(0, diagonal - (tiles.height - 1));
    const int last = std::min(diagonal, tiles.width - 1);
    FACESAT_LAUNCH(wavefront_kernel, dim3(last - first + 1, tables.bins), dim3(side, warps), stream,
                   picture, tables, diagonal, first);
  }
}

void enqueue_strips(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                    StreamHandle stream) {
  const Size tiles = tiles_of(picture.size);
  for (int column = 0; column < tiles.width; ++column)
    FACESAT_LAUNCH(scan_rows_kernel, dim3(tiles.height, tables.bins), dim3(side, warps), stream,
                   picture, tables, column);
  for (int row = 0; row < tiles.height; ++row)
    FACESAT_LAUNCH(scan_columns_kernel, dim3(tiles.width, tables.bins), dim3(side, warps), stream,
                   picture.size, tables, row);
}

// ---- without tiles

// From the picture to a bin's table, as kernels/sat/transposed.cuh scans it.
struct BinPass {
  using Out = std::uint32_t;

  Size size;
  View<const std::uint8_t> picture;
  IntegralHistogram tables;
  int bin;

  __device__ Out value_at(int x, int y) const {
    return x < size.width && y < size.height && bin_of(picture.row(y)[x], tables.bins) == bin;
  }
  __device__ Out* row(int y) const { return tables.row(bin, y); }
};

// What a launch works on: the pass of each bin.
struct FromPicture {
  Size size;
  View<const std::uint8_t> picture;
  IntegralHistogram tables;

  __device__ BinPass of(int bin) const { return {size, picture, tables, bin}; }
};
struct BetweenTables {
  Size size;
  IntegralHistogram from, to;

  __device__ Pass<std::uint32_t, std::uint32_t, false> of(int bin) const {
    return {size, from.row(bin, 0), from.pitch, to.row(bin, 0), to.pitch};
  }
};

// Blocks scan rows of bins, from these on.
template <class Passes>
__global__ void __launch_bounds__(tree_threads)
    scan_rows_by_tree_kernel(Passes passes, int first_bin, int first_row) {
  scan_row_by_tree(passes.of(first_bin + static_cast<int>(blockIdx.y)),
                   first_row + static_cast<int>(blockIdx.x));
}

__global__ void __launch_bounds__(turning_side* turning_rows)
    transpose_kernel(BetweenTables passes, int first_bin) {
  transpose_tile(passes.of(first_bin + static_cast<int>(blockIdx.z)));
}

// At once: the launches of CW-STS; otherwise those of CW-B, whose workspace is one table.
void enqueue_cross_weave(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                         bool at_once, void* workspace, StreamHandle stream) {
  const Size size = picture.size, turned{size.height, size.width};
  const std::ptrdiff_t pitch = transposed_pitch(size);
  const IntegralHistogram columns{tables.bins, static_cast<std::uint32_t*>(workspace), pitch,
                                  at_once ? pitch * size.width : 0};
  const int bins_per_launch = at_once ? tables.bins : 1;
  const auto scan_rows = [&]<class Passes>(const Passes& passes, int bin) {
    const int rows_per_launch = at_once ? passes.size.height : 1;
    for (int row = 0; row < passes.size.height; row += rows_per_launch)
      FACESAT_LAUNCH(scan_rows_by_tree_kernel<Passes>, dim3(rows_per_launch, bins_per_launch),
                     dim3(tree_threads), stream, passes, bin, row);
  };
  const auto transpose = [&](const BetweenTables& passes, int bin) {
    const dim3 tiles = grid_of_turning(passes.size);
    FACESAT_LAUNCH(transpose_kernel, dim3(tiles.x, tiles.y, bins_per_launch),
                   dim3(turning_side, turning_rows), stream, passes, bin);
  };
  for (int bin = 0; bin < tables.bins; bin += bins_per_launch) {
    scan_rows(FromPicture{size, picture, tables}, bin);
    transpose({size, tables, columns}, bin);
    scan_rows(BetweenTables{turned, columns, columns}, bin);
    transpose({turned, columns, tables}, bin);
  }
}

// ---- the search

constexpr int block_width = 32, block_height = 8;
static_assert(divide_up(2 * greatest_reach + 1, block_width) *
                      divide_up(2 * greatest_reach + 1, block_height) <
                  static_cast<int>(box_search_words),
              "the place of each block has a word");

// For thread 0, the greatest rank of all threads of a block.
__device__ __forceinline__ std::uint64_t greatest_of_block(std::uint64_t rank) {
  __shared__ SharedArray<std::uint64_t, block_height> of_warp;
  for (unsigned d = 16; d > 0; d /= 2) rank = max(rank, __shfl_xor_sync(full_warp, rank, d));
  if (threadIdx.x == 0) of_warp[static_cast<int>(threadIdx.y)] = rank;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0)
    for (int i = 1; i < block_height; ++i) rank = max(rank, static_cast<std::uint64_t>(of_warp[i]));
  return rank;
}

// The histogram of the box that begins at (x, y) of the region, compared with the object's.
__device__ __forceinline__ std::uint32_t in_common_at(int x, int y, Size box,
                                                      const IntegralHistogram& tables,
                                                      const Histogram& object) {
  std::uint32_t pixels = 0;
  for (int bin = 0; bin < histogram_bins; ++bin) {
    const std::uint32_t* const top = tables.row(bin, y - 1) + x - 1;
    const std::uint32_t* const bottom = top + box.height * tables.pitch;
    const std::uint32_t count = bottom[box.width] - bottom[0] - (top[box.width] - top[0]);
    pixels += min(count, object[static_cast<std::size_t>(bin)]);
  }
  return pixels;
}

__global__ void __launch_bounds__(block_width* block_height)
    rank_kernel(IntegralHistogram tables, Histogram object, BoxPlaces places, std::uint64_t* best) {
  const auto [i, j] = pixel_of_thread();
  std::uint64_t rank = 0;
  if (i < places.count.width && j < places.count.height) {
    const Rect& box = places.box;
    rank = rank_of(in_common_at(i, j, {box.width, box.height}, tables, object),
                   places.x + i - box.x, places.y + j - box.y);
  }
  rank = greatest_of_block(rank);
  if (threadIdx.x == 0 && threadIdx.y == 0) best[1 + blockIdx.y * gridDim.x + blockIdx.x] = rank;
}

__global__ void __launch_bounds__(block_width* block_height)
    greatest_kernel(std::uint64_t* best, int blocks) {
  const int thread = static_cast<int>(threadIdx.y) * block_width + static_cast<int>(threadIdx.x);
  const std::uint64_t rank = greatest_of_block(thread < blocks ? best[1 + thread] : 0);
  if (thread == 0) best[0] = rank;
}

}  // namespace

int histogram_launches(HistogramScan scan, Size size, int bins) {
  const Size tiles = tiles_of(size);
  switch (scan) {
    case HistogramScan::wf_tis:
      return tiles.width + tiles.height - 1;
    case HistogramScan::cw_tis:
      return tiles.width + tiles.height;
    case HistogramScan::cw_sts:
      return 4;
    case HistogramScan::cw_b:
      return bins * (size.height + 1 + size.width + 1);
  }
  return 0;
}

std::size_t histogram_workspace_bytes(HistogramScan scan, Size size, int bins) {
  const std::size_t table = transposed_bytes(SatType::u8_u32, size);
  return scan == HistogramScan::cw_sts ? static_cast<std::size_t>(bins) * table
         : scan == HistogramScan::cw_b ? table
                                       : 0;
}

void enqueue_integral_histogram(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                                HistogramScan scan, void* workspace, StreamHandle stream) {
  switch (scan) {
    case HistogramScan::wf_tis:
      return enqueue_wavefront(picture, tables, stream);
    case HistogramScan::cw_tis:
      return enqueue_strips(picture, tables, stream);
    case HistogramScan::cw_sts:
      return enqueue_cross_weave(picture, tables, true, workspace, stream);
    case HistogramScan::cw_b:
      return enqueue_cross_weave(picture, tables, false, workspace, stream);
  }
}

void enqueue_box_search(const IntegralHistogram& tables, const Histogram& object,
                        const BoxPlaces& places, std::uint64_t* best, StreamHandle stream) {
  const dim3 grid = grid_of(places.count, block_width, block_height);
  const dim3 block(block_width, block_height);
  FACESAT_LAUNCH(rank_kernel, grid, block, stream, tables, object, places, best);
  FACESAT_LAUNCH(greatest_kernel, dim3(1), block, stream, best, static_cast<int>(grid.x * grid.y));
}

}  // namespace facesat::gpu
