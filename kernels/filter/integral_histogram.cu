// Integral histograms, and the search for a box by its histogram.
//
// Idea: the tables of all bins are computed in the same launches; a pixel adds 1 to the table of
//   its bin and 0 to all others. Tiles of 32 x 32 elements are scanned along rows and along
//   columns. CW-TiS (cross-weave) does this in two passes over strips of tiles: a strip needs the
//   last column, then the last row, of the strip before, so each strip has a launch. WF-TiS
//   (wavefront) does both at once: a tile needs the tiles at its left and above it, so all tiles of
//   an anti-diagonal have a launch. What comes from the left into row y is the sum of that row
//   alone, which is the difference of two elements of the table: those at the tile's left in rows
//   y and y - 1.
//   The search has a thread for each place of the box, which reads four elements per bin.
// Shapes: blocks of 32 x 8 threads, one per tile and bin; warps have four rows of the tile. In the
//   search, blocks of 32 x 8 places.
// Reads and writes per element of the tables: WF-TiS reads the pixel, two elements to the left,
//   which are the same ones for 32 elements, and, for four elements, one above; it writes the
//   element once. CW-TiS reads the pixel and an element to the left and writes the element, then
//   reads it, and one above for four elements, and writes it again.
// Launches: WF-TiS as many as there are anti-diagonals of tiles; CW-TiS as many as rows and columns
//   of tiles. The search has 2.
// Workspace: none besides the tables and, for the search, the best place of each block.
// Source: M. Poostchi, K. Palaniappan, F. Bunyak, M. Becchi, G. Seetharaman, "Efficient GPU
//   Implementation of the Integral Histogram", ACCV Workshops 2012; with the tiled scans, M.
//   Poostchi, K. Palaniappan, D. Li, M. Becchi, F. Bunyak, G. Seetharaman, "Fast Integral Histogram
//   Computations on GPU for Real-Time Video Analytics", arXiv:1711.01919, 2017.
// Departs from it in: a row of a tile is not added up but counted: a warp votes which of its pixels
//   are in the bin, and each lane counts the votes up to its own. Columns are added up in registers
//   and, between warps, in shared memory. The methods without tiles, CW-B and CW-STS, which scan,
//   transpose and scan whole tables, are left out; bilgic_2010_scan_transpose.cu of kernels/sat is
//   such an algorithm for a single table.
#include "kernels/device/warp.cuh"
#include "kernels/filter/integral_histogram.hpp"
#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 32, warps = 8, rows = side / warps;  // rows per warp

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
  const auto [i, j] = place_of_thread();
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

constexpr int table_border = 64;  // elements to the left, so that rows start on 256 bytes

std::ptrdiff_t pitch_of(Size size) {
  return divide_up(size.width, table_border) * table_border + table_border;
}

}  // namespace

std::size_t integral_histogram_bytes(Size size, int bins) {
  return static_cast<std::size_t>(bins) * static_cast<std::size_t>(size.height + 1) *
         static_cast<std::size_t>(pitch_of(size)) * sizeof(std::uint32_t);
}

IntegralHistogram integral_histogram_in(void* memory, Size size, int bins) {
  const std::ptrdiff_t pitch = pitch_of(size);
  return {bins, static_cast<std::uint32_t*>(memory) + pitch + table_border, pitch,
          pitch * (size.height + 1)};
}

void enqueue_integral_histogram(View<const std::uint8_t> picture, const IntegralHistogram& tables,
                                HistogramScan scan, StreamHandle stream) {
  const int across = divide_up(picture.size.width, side);
  const int down = divide_up(picture.size.height, side);
  const auto tiles = [&](int count) { return dim3(count, tables.bins); };
  const dim3 block(side, warps);
  if (scan == HistogramScan::wf_tis) {
    for (int diagonal = 0; diagonal < across + down - 1; ++diagonal) {
      const int first = std::max(0, diagonal - (down - 1)), last = std::min(diagonal, across - 1);
      FACESAT_LAUNCH(wavefront_kernel, tiles(last - first + 1), block, stream, picture, tables,
                     diagonal, first);
    }
    return;
  }
  for (int column = 0; column < across; ++column)
    FACESAT_LAUNCH(scan_rows_kernel, tiles(down), block, stream, picture, tables, column);
  for (int row = 0; row < down; ++row)
    FACESAT_LAUNCH(scan_columns_kernel, tiles(across), block, stream, picture.size, tables, row);
}

void enqueue_box_search(const IntegralHistogram& tables, const Histogram& object,
                        const BoxPlaces& places, std::uint64_t* best, StreamHandle stream) {
  const dim3 grid = grid_of(places.count, block_width, block_height);
  const dim3 block(block_width, block_height);
  FACESAT_LAUNCH(rank_kernel, grid, block, stream, tables, object, places, best);
  FACESAT_LAUNCH(greatest_kernel, dim3(1), block, stream, best, static_cast<int>(grid.x * grid.y));
}

}  // namespace facesat::gpu
