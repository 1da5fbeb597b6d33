// One pass with soft synchronisation and decoupled look-back: sum and squared sum from a single
// read.
//
// Idea: tiles take tickets along anti-diagonals. A tile publishes the totals of its rows at once,
// adds up those of the tiles to its left until one has published its inclusive totals, and
// publishes its own; then the same with the totals of its columns and the tiles above. No tile
// waits for another's write-out. Shapes: tiles of 64 x 128; 8 warps of 8 rows each, four columns a
// lane; all values stay in registers. Reads and writes an element: the byte once, each table once
// (1R1W); 6 % of that for published words. Launches: 1. Workspace: a header and 768 words of 64
// bits a tile. Source: our own form of Emoto et al.'s 1R1W-SKSS-LB (2018), after Merrill and
// Garland's look-back (2016). Departs from it in: no corner sums (column totals already contain
// what lies to the left); {state, value} words that need no fence; an epoch in the state, so that
// nothing is reset between launches.
#include "kernels/sat/algorithm.hpp"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int tile_width = 128, tile_height = 64;
constexpr int warps = 8, rows_a_warp = tile_height / warps, threads = 32 * warps;
constexpr int tables = 2;  // sum and squared sum

// Shared by all blocks of a launch; zero before the first launch, and ready for the next after
// each.
struct Header {
  unsigned ticket, finished, epoch;
};

// A published word: the state above, the value below.
using Word = unsigned long long;
enum State : unsigned { none, own_total, inclusive_total };
constexpr unsigned states = 4;  // an epoch has room for this many

__device__ __forceinline__ Word to_word(unsigned epoch, State state, std::uint32_t value) {
  return static_cast<Word>(epoch * states + state) << 32 | value;
}
__device__ __forceinline__ State state_of(Word word, unsigned epoch) {
  const unsigned state = static_cast<unsigned>(word >> 32) - epoch * states;
  return state <= inclusive_total ? static_cast<State>(state) : none;
}

// Row totals of a tile, then its column totals; for both tables each.
constexpr int row_words = tables * tile_height, column_words = tables * tile_width;
constexpr int words_a_tile = row_words + column_words;

struct Tiles {
  int across, down;
  __host__ __device__ int count() const { return across * down; }
};

// How many tiles lie on the first `diagonals` anti-diagonals.
__device__ __forceinline__ int tiles_before(Tiles t, int diagonals) {
  const int shorter = min(t.across, t.down), longer = max(t.across, t.down);
  const int growing = min(diagonals, shorter);
  const int full = max(0, min(diagonals, longer) - shorter);
  const int shrinking = max(0, diagonals - longer);
  return growing * (growing + 1) / 2 + full * shorter + shrinking * shorter -
         shrinking * (shrinking + 1) / 2;
}

// The column of the tile with that ticket; its row is the diagonal less the column.
__device__ __forceinline__ int2 tile_of(Tiles t, int ticket) {
  int low = 0;
  for (int high = t.across + t.down - 1; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (tiles_before(t, middle) <= ticket)
      low = middle;
    else
      high = middle;
  }
  const int first_column = max(0, low - (t.down - 1));
  const int column = first_column + ticket - tiles_before(t, low);
  return {column, low - column};
}

// Publishes this tile's total, adds up those of the tiles before it, and publishes the inclusive
// total. `word` is this tile's; that of the tile before lies `stride` words further on, `before`
// tiles exist. Returns the sum of all tiles before.
__device__ __forceinline__ std::uint32_t look_back(Word* word, std::ptrdiff_t stride, int before,
                                                   std::uint32_t total, unsigned epoch) {
  if (before > 0) store_relaxed(word, to_word(epoch, own_total, total));
  std::uint32_t sum = 0;
  const Word* other = word + stride;
  while (before > 0) {
    const Word seen = load_relaxed(other);
    const State state = state_of(seen, epoch);
    if (state == none) {
      pause();
      continue;
    }
    sum += static_cast<std::uint32_t>(seen);
    if (state == inclusive_total) break;
    other += stride;
    --before;
  }
  store_relaxed(word, to_word(epoch, inclusive_total, sum + total));
  return sum;
}

struct Task {
  const std::uint8_t* picture;
  int picture_pitch;
  Size size;
  std::uint32_t* table[tables];
  int pitch[tables];
};

__device__ __forceinline__ Four values_of(std::uint32_t word, int pixels_left, int table) {
  const Four four = unpack(word, pixels_left);
  return table == 0 ? four : squares(four);
}

__global__ void __launch_bounds__(threads, 2)
    lookback_kernel(Task task, Tiles tiles, Header* header, Word* words) {
  __shared__ SharedArray<unsigned, 2> drawn;                  // ticket and epoch
  __shared__ SharedArray<std::uint32_t, row_words> row_base;  // totals, then sums of all tiles left
  __shared__ SharedArray<std::uint32_t, warps * tile_width>
      warp_totals;  // column totals of each warp's rows
  __shared__ SharedArray<std::uint32_t, tile_width> column_base;  // sums of all tiles above
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  if (thread == 0) {
    drawn[1] = header->epoch;
    drawn[0] = atomicAdd(&header->ticket, 1u);
  }
  __syncthreads();
  const unsigned epoch = drawn[1];
  const int2 tile = tile_of(tiles, static_cast<int>(static_cast<unsigned>(drawn[0])));
  Word* const own =
      words + static_cast<std::ptrdiff_t>(tile.y * tiles.across + tile.x) * words_a_tile;
  const int x = tile.x * tile_width + 4 * lane, left = task.size.width - x;
  const int y = tile.y * tile_height + warp * rows_a_warp;

  std::uint32_t pixels[rows_a_warp];
  for (int i = 0; i < rows_a_warp; ++i)
    pixels[i] =
        y + i < task.size.height && left > 0
            ? *reinterpret_cast<const std::uint32_t*>(
                  task.picture + static_cast<std::ptrdiff_t>(y + i) * task.picture_pitch + x)
            : 0;

  for (int i = 0; i < rows_a_warp; ++i)
    for (int table = 0; table < tables; ++table) {
      const Four v = values_of(pixels[i], left, table);
      std::uint32_t total = v.v[0] + v.v[1] + v.v[2] + v.v[3];
      for (unsigned d = 16; d > 0; d /= 2) total += __shfl_xor_sync(full_warp, total, d);
      if (lane == 0) row_base[table * tile_height + warp * rows_a_warp + i] = total;
    }
  __syncthreads();
  if (thread < row_words)
    row_base[thread] = look_back(own + thread, -words_a_tile, tile.x, row_base[thread], epoch);
  __syncthreads();

  FACESAT_UNROLL
  for (int table = 0; table < tables; ++table) {
    Four out[rows_a_warp];
    for (int i = 0; i < rows_a_warp; ++i) {
      Four v = values_of(pixels[i], left, table);
      prefix(v);
      const std::uint32_t base = warp_inclusive_scan(v.v[3]) - v.v[3] +
                                 row_base[table * tile_height + warp * rows_a_warp + i];
      for (int k = 0; k < 4; ++k) out[i].v[k] = v.v[k] + base + (i > 0 ? out[i - 1].v[k] : 0);
    }
    for (int k = 0; k < 4; ++k)
      warp_totals[warp * tile_width + 4 * lane + k] = out[rows_a_warp - 1].v[k];
    __syncthreads();
    if (thread < tile_width) {
      std::uint32_t total = 0;
      for (int w = 0; w < warps; ++w) {  // the warps above each
        const std::uint32_t rows = warp_totals[w * tile_width + thread];
        warp_totals[w * tile_width + thread] = total;
        total += rows;
      }
      column_base[thread] = look_back(own + row_words + table * tile_width + thread,
                                      -static_cast<std::ptrdiff_t>(tiles.across) * words_a_tile,
                                      tile.y, total, epoch);
    }
    __syncthreads();
    std::uint32_t base[4];
    for (int k = 0; k < 4; ++k)
      base[k] = column_base[4 * lane + k] + warp_totals[warp * tile_width + 4 * lane + k];
    for (int i = 0; i < rows_a_warp; ++i)
      if (y + i < task.size.height && left > 0)
        *reinterpret_cast<uint4*>(task.table[table] +
                                  static_cast<std::ptrdiff_t>(y + i) * task.pitch[table] + x) =
            make_uint4(base[0] + out[i].v[0], base[1] + out[i].v[1], base[2] + out[i].v[2],
                       base[3] + out[i].v[3]);
    __syncthreads();  // shared totals are read before the next table writes them
  }

  // The last block to end makes the header ready for the next launch.
  if (thread == 0 && atomicAdd(&header->finished, 1u) + 1 == static_cast<unsigned>(tiles.count())) {
    header->ticket = 0;
    header->finished = 0;
    header->epoch = epoch + 1;
  }
}

Tiles tiles_of(Size size) {
  return {(size.width + tile_width - 1) / tile_width,
          (size.height + tile_height - 1) / tile_height};
}

constexpr std::size_t header_bytes = 256;

std::size_t workspace_bytes(Size size) {
  return header_bytes +
         static_cast<std::size_t>(tiles_of(size).count()) * words_a_tile * sizeof(Word);
}

void enqueue(const SatTask& t, void* workspace, StreamHandle stream) {
  const Tiles tiles = tiles_of(t.picture.size);
  const Task task{t.picture.data,
                  static_cast<int>(t.picture.pitch),
                  t.picture.size,
                  {t.sum.data, t.squared_sum.data},
                  {static_cast<int>(t.sum.pitch), static_cast<int>(t.squared_sum.pitch)}};
  auto* const header = static_cast<Header*>(workspace);
  auto* const words = reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
  FACESAT_LAUNCH(lookback_kernel, dim3(tiles.count()), dim3(threads), stream, task, tiles, header,
                 words);
}

}  // namespace

const SatAlgorithm facesat_lookback{
    .id = "facesat_lookback",
    .title = "Single pass with look-back, both sums from one read (1R1W)",
    .paper = "after Emoto et al. 2018, and Merrill and Garland 2016",
    .year = 2026,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
