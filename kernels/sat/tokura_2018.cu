// Column-wise prefix sums in a single kernel with look-back, transposed on the way out, twice.
//
// Idea: a tile publishes the totals of its columns, adds up those of the tiles above it until one
//   has published its inclusive totals, and publishes its own inclusive totals. So the prefix sums
//   of all columns take one launch that reads every element once and writes every sum once, with
//   coalesced accesses, and tiles make enough blocks however few columns there are. A tile is
//   written transposed, through shared memory: the second run of the same kernel sums up what were
//   rows, and turns the table back.
// Shapes: tiles of 128 x 64 (128 x 32 for double), one block of 8 warps each: 8 (4) rows per warp,
//   four columns per lane, in registers; blocks draw tickets for tiles, row by row of tiles.
// Reads and writes per element: the pixel read; the intermediate written and read; the table
//   written (2R2W). Published words, 1/32 of the table's size (1/16 for double), are written once
//   or twice and read once or more by each launch.
// Launches: 2.
// Workspace: the intermediate table, transposed; a header, and a word for each 32 bits of a tile's
//   column totals.
// Source: Hiroki Tokura, Toru Fujita, Koji Nakano, Yasuaki Ito, Jacir L. Bordim, "Almost optimal
//   column-wise prefix-sum computation on the GPU", The Journal of Supercomputing 74, 2018; written
//   from its abstract, which has the problem, its use for the SAT (summed area table), and a time
//   2 to 6 % above that of a copy, and from the look-back of the same group's later SAT (see
//   emoto_2018_skss_lb.cu).
// Our own choices: all details, among them the transposition in the same kernel; the shapes;
//   {state, value} words in place of flags and fences.
#include <algorithm>

#include "kernels/sat/tile.cuh"
#include "kernels/sat/transposed.cuh"

namespace facesat::gpu {
namespace {

constexpr int warps = 8, threads = 32 * warps, tile_width = 128;
constexpr int window = 1;  // tiles that a look-back reads at once

template <class T>
constexpr int rows_per_warp = 32 / sizeof(T);
template <class T>
constexpr int tile_height = rows_per_warp<T>* warps;

// The place of column x of a tile in shared memory. A lane's four columns are 32 places apart, so
// that a warp writes to adjacent ones.
__device__ __forceinline__ int place_of(int x) {
  return x % 4 * 32 + x / 4;
}

// A tile in shared memory, a column after the other. The pitch is odd, so that neither rows nor
// columns have bank conflicts.
template <class T>
constexpr int tile_pitch = tile_height<T> + 1;
template <class T>
using ColumnsOfTile = SharedArray<T, tile_width * tile_pitch<T>>;

// Adds a row of four pixels to the sums of their columns.
template <class Pass>
__device__ __forceinline__ void add_row(Four<typename Pass::Out>& sums,
                                        Kept<typename Pass::In>& row) {
  const Four<typename Pass::In> four = row.get();
  FACESAT_UNROLL
  for (int k = 0; k < 4; ++k) sums.v[k] += Pass::value(four.v[k]);
}

// Stores the tile whose upper left element is (x, y): its columns become rows of the table.
template <class Pass, class T>
__device__ __forceinline__ void store_transposed(const Pass& pass, ColumnsOfTile<T>& columns, int x,
                                                 int y) {
  constexpr int columns_per_warp = tile_width / warps;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  FACESAT_UNROLL
  for (int i = 0; i < columns_per_warp; ++i) {
    const int column = warp * columns_per_warp + i;
    FACESAT_UNROLL
    for (int row = lane; row < tile_height<T>; row += 32)
      if (pass.has(x + column, y + row))
        pass.row(x + column)[y + row] = columns[place_of(column) * tile_pitch<T> + row];
  }
}

// The column whose total is the i-th of a tile.
__device__ __forceinline__ int column_at(int i) {
  return i % 32 * 4 + i / 32;
}

// After a look-back that gave up: stores the column from (x, y) on, `height` elements, as a row.
// before(total, total_of) looks back.
template <int height, class Pass, class Before>
FACESAT_NOINLINE __device__ void store_column_alone(const Pass& pass, int x, int y, Before before) {
  auto sum = before(pass.sum_of(x, x + 1, y, y + height), [&](int n) {
    return pass.sum_of(x, x + 1, y - n * height, y - n * height + height);
  });
  for (int i = y; i < y + height; ++i)
    if (pass.has(x, i)) {
      sum += Pass::value(pass.input_row(i)[x]);
      pass.row(x)[i] = sum;
    }
}

template <class Pass>
__global__ void __launch_bounds__(threads, sizeof(typename Pass::Out) == 8 ? 3 : 4)
    scan_columns_transpose_kernel(FACESAT_PARAMETER(Pass) pass, Tiles tiles, Header* header,
                                  Word* words) {
  using Out = typename Pass::Out;
  constexpr int words_per_tile = parts<Out> * tile_width, rows = rows_per_warp<Out>;
  __shared__ ColumnsOfTile<Out> columns;
  // Column totals over each warp's rows; after the look-back, the sums of all that is above them.
  __shared__ SharedArray<Out, warps * tile_width> base;
  __shared__ SharedArray<int, 1> gave_up;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const auto [tile, epoch] = draw_ticket(header);
  const int tile_y = tile / tiles.across;
  const int x = tile % tiles.across * tile_width, y = tile_y * tile_height<Out>;
  const int own_x = x + 4 * lane, own_y = y + warp * rows;

  Kept<typename Pass::In> pixels[rows];
  specialise(x + tile_width <= pass.size.width && y + tile_height<Out> <= pass.size.height,
             [&]<bool all_inside>() {
               load_rows<all_inside>(pass.input_row(own_y), pass.input_pitch, own_x,
                                     pass.size.width, pass.size.height - own_y, pixels);
             });
  Four<Out> sums{};
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i) add_row<Pass>(sums, pixels[i]);
  FACESAT_UNROLL
  for (int k = 0; k < 4; ++k) base[warp * tile_width + 32 * k + lane] = sums.v[k];
  if (thread == 0) gave_up[0] = 0;
  __syncthreads();
  Word* const own = words + static_cast<std::ptrdiff_t>(tile) * words_per_tile;
  const auto before = [&](Out total, auto total_of) {
    return look_back<window, Out>(own + thread, tile_width,
                                  -static_cast<std::ptrdiff_t>(tiles.across) * words_per_tile,
                                  tile_y, total, epoch, total_of);
  };
  if (thread < tile_width)
    look_back_from<warps>(base, tile_width, thread,
                          [&](Out total) { return before(total, GiveUp{gave_up}); });
  __syncthreads();
  if (gave_up[0] != 0) {
    if (thread < tile_width)
      store_column_alone<tile_height<Out>>(pass, x + column_at(thread), y, before);
    if (thread == 0) finish(header, tiles.count(), epoch);
    return;
  }
  FACESAT_UNROLL
  for (int k = 0; k < 4; ++k) sums.v[k] = base[warp * tile_width + 32 * k + lane];
  FACESAT_UNROLL
  for (int i = 0; i < rows; ++i) {
    add_row<Pass>(sums, pixels[i]);
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k)
      columns[place_of(4 * lane + k) * tile_pitch<Out> + warp * rows + i] = sums.v[k];
  }
  __syncthreads();
  store_transposed(pass, columns, x, y);
  if (thread == 0) finish(header, tiles.count(), epoch);
}

template <class T>
constexpr Tiles tiles_of(Size size) {
  return {divide_up(size.width, tile_width), divide_up(size.height, tile_height<T>)};
}

// The parts of the workspace: the transposed table, a header, words.
std::size_t header_at(SatType type, Size size) {
  return round_up_256(transposed_bytes(type, size));
}
std::size_t workspace_bytes(SatType type, Size size) {
  std::size_t words = 0;
  visit_types(type, [&]<class In, class Out>(In, Out) {
    const int tiles =
        std::max(tiles_of<Out>(size).count(), tiles_of<Out>({size.height, size.width}).count());
    words = static_cast<std::size_t>(tiles) * tile_width * parts<Out>;
  });
  return header_at(type, size) + header_bytes + words * sizeof(Word);
}

template <class Pass>
void scan_columns_transpose(const Pass& pass, void* header, StreamHandle stream) {
  const Tiles tiles = tiles_of<typename Pass::Out>(pass.size);
  auto* const words = reinterpret_cast<Word*>(static_cast<std::byte*>(header) + header_bytes);
  FACESAT_LAUNCH(scan_columns_transpose_kernel<Pass>, dim3(tiles.count()), dim3(threads), stream,
                 pass, tiles, static_cast<Header*>(header), words);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  void* const header = static_cast<std::byte*>(workspace) + header_at(task.type, task.size);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    scan_columns_transpose(to_transposed(pass, workspace), header, stream);
    scan_columns_transpose(from_transposed(pass, workspace), header, stream);
  });
}

}  // namespace

const SatAlgorithm tokura_2018{
    .id = "tokura_2018",
    .title = "Column sums with look-back and a transposition, twice (2R2W)",
    .source =
        "Tokura, Fujita, Nakano, Ito, Bordim: Almost optimal column-wise prefix-sum computation on "
        "the GPU, The Journal of Supercomputing 74, 2018",
    .year = 2018,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
