// One pass with soft synchronisation and decoupled look-back: sum and squared sum from a single
// read.
//
// Idea: tiles take tickets along anti-diagonals. A tile publishes the totals of its rows at once,
// adds up those of the tiles to its left until one has published its inclusive totals, and
// publishes its own; then the same with the totals of its columns and the tiles above. No tile
// waits for another's write-out. Shapes: tiles of 64 x 128 (32 x 128 for double); 8 warps of 8 rows
// each, four columns a lane; all values stay in registers. Reads and writes an element: the pixel
// once, each table once (1R1W); 6 % of that for published words. Launches: 1. Workspace: a header,
// and a word of 64 bits for each 32 bits of a tile's row and column totals. Source: our own form of
// Emoto et al.'s 1R1W-SKSS-LB (2018), after Merrill and Garland's look-back (2016). Departs from it
// in: no corner sums (column totals already contain what lies to the left); {state, value} words
// that need no fence; an epoch in the state, so that nothing is reset between launches.
#include <cstring>

#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int warps = 8, threads = 32 * warps, tile_width = 128;

// The tables made in one launch: the sum, the sum of squares, or both from one read.
template <class In_, class Out_, bool has_sum, bool has_squares>
struct Tables {
  using In = In_;
  using Out = Out_;
  static constexpr int count = (has_sum ? 1 : 0) + (has_squares ? 1 : 0);
  static constexpr int rows_a_warp = sizeof(Out) == 8 ? 4 : 8, tile_height = warps * rows_a_warp;
  // What a tile publishes: row totals, then column totals, of each table.
  static constexpr int row_values = count * tile_height, column_values = count * tile_width,
                       values_a_tile = row_values + column_values;
  static constexpr int words_a_value = sizeof(Out) / 4;

  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* table[count];
  std::ptrdiff_t pitch[count];

  __device__ static Four<Out> values(const Four<In>& pixels, int t) {
    Four<Out> values;
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Out v = static_cast<Out>(pixels.v[i]);
      values.v[i] = has_sum && t == 0 ? v : v * v;
    }
    return values;
  }
};

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

// Values of 32 bits are one word; those of 64 bits are two, whose states must agree.
template <class Out>
constexpr int parts = sizeof(Out) / 4;

template <class Out>
__device__ __forceinline__ void publish(Word* words, int part_stride, unsigned epoch, State state,
                                        Out value) {
  std::uint32_t bits[parts<Out>];
  std::memcpy(bits, &value, sizeof value);
  FACESAT_UNROLL
  for (int i = 0; i < parts<Out>; ++i)
    store_relaxed(words + i * part_stride, to_word(epoch, state, bits[i]));
}

template <class Out>
__device__ __forceinline__ State look(const Word* words, int part_stride, unsigned epoch,
                                      Out& value) {
  std::uint32_t bits[parts<Out>];
  State state = none;
  FACESAT_UNROLL
  for (int i = 0; i < parts<Out>; ++i) {
    const Word word = load_relaxed(words + i * part_stride);
    const State seen = state_of(word, epoch);
    state = i == 0 || seen == state ? seen : none;
    bits[i] = static_cast<std::uint32_t>(word);
  }
  std::memcpy(&value, bits, sizeof value);
  return state;
}

// Publishes this tile's total, adds up those of the tiles before it, and publishes the inclusive
// total. `words` are this tile's; those of the tile before lie `stride` words further on, `before`
// tiles exist. Returns the sum of all tiles before.
template <class Out>
__device__ __forceinline__ Out look_back(Word* words, int part_stride, std::ptrdiff_t stride,
                                         int before, Out total, unsigned epoch) {
  if (before > 0) publish(words, part_stride, epoch, own_total, total);
  Out sum{};
  const Word* other = words + stride;
  while (before > 0) {
    Out seen;
    const State state = look(other, part_stride, epoch, seen);
    if (state == none) {
      pause();
      continue;
    }
    sum += seen;
    if (state == inclusive_total) break;
    other += stride;
    --before;
  }
  publish(words, part_stride, epoch, inclusive_total, static_cast<Out>(sum + total));
  return sum;
}

template <class Tables>
__global__ void __launch_bounds__(threads, 2)
    lookback_kernel(Tables task, Tiles tiles, Header* header, Word* words) {
  using In = typename Tables::In;
  using Out = typename Tables::Out;
  constexpr int rows_a_warp = Tables::rows_a_warp, tile_height = Tables::tile_height;
  constexpr int part_stride = Tables::values_a_tile,
                words_a_tile = Tables::words_a_value * Tables::values_a_tile;
  __shared__ SharedArray<unsigned, 2> drawn;                 // ticket and epoch
  __shared__ SharedArray<Out, Tables::row_values> row_base;  // totals, then sums of all tiles left
  __shared__ SharedArray<Out, warps * tile_width> warp_totals;  // column totals of each warp's rows
  __shared__ SharedArray<Out, tile_width> column_base;          // sums of all tiles above
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  if (thread == 0) {
    drawn[1] = header->epoch;
    drawn[0] = atomicAdd(&header->ticket, 1u);
  }
  __syncthreads();
  const unsigned epoch = drawn[1];
  const int2 tile = tile_of(tiles, static_cast<int>(static_cast<unsigned>(drawn[0])));
  Word* const own =
      words + (static_cast<std::ptrdiff_t>(tile.y) * tiles.across + tile.x) * words_a_tile;
  const int width = task.size.width, height = task.size.height;
  const int x = tile.x * tile_width + 4 * lane;
  const int y = tile.y * tile_height + warp * rows_a_warp;

  Four<In> pixels[rows_a_warp];
  FACESAT_UNROLL
  for (int i = 0; i < rows_a_warp; ++i)
    pixels[i] =
        y + i < height ? load_four(task.input + (y + i) * task.input_pitch, x, width) : Four<In>{};

  FACESAT_UNROLL
  for (int i = 0; i < rows_a_warp; ++i) FACESAT_UNROLL
  for (int t = 0; t < Tables::count; ++t) {
    const Four<Out> v = Tables::values(pixels[i], t);
    const Out total = warp_sum<Out>(v.v[0] + v.v[1] + v.v[2] + v.v[3]);
    if (lane == 0) row_base[t * tile_height + warp * rows_a_warp + i] = total;
  }
  __syncthreads();
  for (int i = thread; i < Tables::row_values; i += threads)
    row_base[i] = look_back<Out>(own + i, part_stride, -words_a_tile, tile.x, row_base[i], epoch);
  __syncthreads();

  FACESAT_UNROLL
  for (int t = 0; t < Tables::count; ++t) {
    Four<Out> out[rows_a_warp];
    FACESAT_UNROLL
    for (int i = 0; i < rows_a_warp; ++i) {
      Four<Out> v = Tables::values(pixels[i], t);
      FACESAT_UNROLL
      for (int k = 1; k < 4; ++k) v.v[k] += v.v[k - 1];
      const Out scan = warp_inclusive_scan(v.v[3]);
      const Out before = __shfl_up_sync(full_warp, scan, 1);
      const Out base =
          (lane > 0 ? before : Out{}) + row_base[t * tile_height + warp * rows_a_warp + i];
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) out[i].v[k] = v.v[k] + base + (i > 0 ? out[i - 1].v[k] : Out{});
    }
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k)
      warp_totals[warp * tile_width + 4 * lane + k] = out[rows_a_warp - 1].v[k];
    __syncthreads();
    if (thread < tile_width) {
      Out total{};
      for (int w = 0; w < warps; ++w) {  // the warps above each
        const Out rows = warp_totals[w * tile_width + thread];
        warp_totals[w * tile_width + thread] = total;
        total += rows;
      }
      column_base[thread] = look_back<Out>(
          own + Tables::row_values + t * tile_width + thread, part_stride,
          -static_cast<std::ptrdiff_t>(tiles.across) * words_a_tile, tile.y, total, epoch);
    }
    __syncthreads();
    Four<Out> base;
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k)
      base.v[k] = column_base[4 * lane + k] + warp_totals[warp * tile_width + 4 * lane + k];
    FACESAT_UNROLL
    for (int i = 0; i < rows_a_warp; ++i) {
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) out[i].v[k] += base.v[k];
      if (y + i < height) store_four(task.table[t] + (y + i) * task.pitch[t], x, width, out[i]);
    }
    __syncthreads();  // shared totals are read before the next table writes them
  }

  // The last block to end makes the header ready for the next launch.
  if (thread == 0 && atomicAdd(&header->finished, 1u) + 1 == static_cast<unsigned>(tiles.count())) {
    header->ticket = 0;
    header->finished = 0;
    header->epoch = epoch + 1;
  }
}

template <class Tables>
constexpr Tiles tiles_of(Size size) {
  return {divide_up(size.width, tile_width), divide_up(size.height, Tables::tile_height)};
}

constexpr std::size_t header_bytes = 256;

// Room for both tables, where there may be two.
std::size_t workspace_bytes(SatType type, Size size) {
  std::size_t bytes = header_bytes;
  visit_types(type, [&]<class In, class Out>(In, Out) {
    using Most = Tables<In, Out, true, sizeof(In) == 1>;
    bytes += static_cast<std::size_t>(tiles_of<Most>(size).count()) * Most::values_a_tile *
             Most::words_a_value * sizeof(Word);
  });
  return bytes;
}

template <class Tables>
void launch(const Tables& task, void* workspace, StreamHandle stream) {
  const Tiles tiles = tiles_of<Tables>(task.size);
  auto* const header = static_cast<Header*>(workspace);
  auto* const words = reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
  FACESAT_LAUNCH(lookback_kernel<Tables>, dim3(tiles.count()), dim3(threads), stream, task, tiles,
                 header, words);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    const auto* const input = static_cast<const In*>(task.input);
    auto *const sum = static_cast<Out*>(task.sum), *const squared =
                                                       static_cast<Out*>(task.squared_sum);
    if constexpr (sizeof(In) == 1) {
      if (sum && squared)
        return launch(Tables<In, Out, true, true>{task.size,
                                                  input,
                                                  task.input_pitch,
                                                  {sum, squared},
                                                  {task.sum_pitch, task.squared_pitch}},
                      workspace, stream);
      if (squared)
        return launch(
            Tables<In, Out, false, true>{
                task.size, input, task.input_pitch, {squared}, {task.squared_pitch}},
            workspace, stream);
    }
    launch(
        Tables<In, Out, true, false>{task.size, input, task.input_pitch, {sum}, {task.sum_pitch}},
        workspace, stream);
  });
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
