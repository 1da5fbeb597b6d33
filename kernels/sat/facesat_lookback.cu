// One pass with soft synchronisation and decoupled look-back: sum and squared sum from a single
// read.
//
// Idea: tiles take tickets along anti-diagonals. A tile publishes the totals of its rows at once,
// adds up those of the tiles to its left until one has published its inclusive totals, and
// publishes its own; then the same with the totals of its columns and the tiles above. No tile
// waits for another's write-out. Shapes: tiles of 64 x 128 (32 x 128 for double, 128 x 128 for
// large 8-bit pictures); 8 warps of 8 rows each, four columns a lane; all values stay in registers.
// Reads and writes an element: the pixel once, each table once (1R1W); 6 % of that for published
// words. Launches: 1. Workspace: a header, and a word of 64 bits for each 32 bits of a tile's row
// and column totals. Source: our own form of Emoto et al.'s 1R1W-SKSS-LB (2018), after Merrill and
// Garland's look-back (2016). Departs from it in: no corner sums (column totals already contain
// what lies to the left); {state, value} words that need no fence; an epoch in the state, so that
// nothing is reset between launches.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/soft_synchronization.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int warps = 8, threads = 32 * warps, tile_width = 128;
// The tables made in one launch: the sum, the sum of squares, or both from one read.
template <class In_, class Out_, bool has_sum, bool has_squares, int rows_a_warp_>
struct Tables {
  using In = In_;
  using Out = Out_;
  static constexpr int count = (has_sum ? 1 : 0) + (has_squares ? 1 : 0);
  static constexpr int rows_a_warp = rows_a_warp_, tile_height = warps * rows_a_warp;
  // Blocks on a multiprocessor, at least, and tiles that a look-back asks at once.
  static constexpr int blocks = sizeof(Out) == 8 ? 2 : rows_a_warp == 16 ? 3 : 4;
  static constexpr int window = sizeof(In) == 1 && rows_a_warp == 8 ? 4 : 1;
  // What a tile publishes: row totals, then column totals, of each table.
  static constexpr int row_values = count * tile_height, column_values = count * tile_width,
                       values_a_tile = row_values + column_values;

  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* table[count];
  std::ptrdiff_t pitch[count];

  static constexpr bool of_squares(int t) { return !has_sum || t == 1; }
};

// Calls work.operator()<i>() for i from 0 to count - 1.
template <int count, class Work>
__device__ __forceinline__ void for_each_index(Work work) {
  work.template operator()<0>();
  if constexpr (count == 2) work.template operator()<1>();
}

// For each of a warp's rows: the sum of all pixels to the left of the lane's; the last lane calls
// put_total(row, sum of all).
template <bool of_squares, class In, class Out, int rows, class Put>
__device__ __forceinline__ void scan_rows(Kept<In> (&pixels)[rows], Out (&before)[rows],
                                          Put put_total) {
  const bool is_last = threadIdx.x % 32 == 31;
  if constexpr (sizeof(In) == 1 && std::is_integral_v<Out> && !of_squares) {
    // Two rows in one scan: the sums of 128 bytes have 15 bits.
    FACESAT_UNROLL
    for (int i = 0; i < rows; i += 2) {
      const Out both = sum_of_four<Out, false>(pixels[i]) | sum_of_four<Out, false>(pixels[i + 1])
                                                                << 16;
      const Out scan = warp_inclusive_scan(both);
      before[i] = (scan - both) & 0xFFFF;
      before[i + 1] = (scan - both) >> 16;
      if (is_last) {
        put_total(i, scan & 0xFFFF);
        put_total(i + 1, scan >> 16);
      }
    }
  } else {
    FACESAT_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Out scan = warp_inclusive_scan(sum_of_four<Out, of_squares>(pixels[i]));
      const Out previous = __shfl_up_sync(full_warp, scan, 1);
      before[i] = threadIdx.x % 32 > 0 ? previous : Out{};
      if (is_last) put_total(i, scan);
    }
  }
}

template <class Tables>
__global__ void __launch_bounds__(threads, Tables::blocks)
    lookback_kernel(Tables task, Tiles tiles, Header* header, Word* words) {
  using In = typename Tables::In;
  using Out = typename Tables::Out;
  constexpr int rows_a_warp = Tables::rows_a_warp, tile_height = Tables::tile_height;
  constexpr int part_stride = Tables::values_a_tile,
                words_a_tile = parts<Out> * Tables::values_a_tile;
  __shared__ SharedArray<Out, Tables::row_values> row_base;  // totals, then sums of all tiles left
  // Column totals of each warp's rows, then sums of all that is above them. A lane's four columns
  // are 32 places apart, so that no two lanes meet in a bank.
  __shared__ SharedArray<Out, warps * Tables::column_values> column_base;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const auto [tile, epoch] = draw_tile(header, tiles);
  Word* const own =
      words + (static_cast<std::ptrdiff_t>(tile.y) * tiles.across + tile.x) * words_a_tile;
  const int width = task.size.width, height = task.size.height;
  const int x = tile.x * tile_width + 4 * lane;
  const int y = tile.y * tile_height + warp * rows_a_warp;
  const bool is_inside = (tile.x + 1) * tile_width <= width && (tile.y + 1) * tile_height <= height;

  Kept<In> pixels[rows_a_warp];
  specialise(is_inside, [&]<bool all_inside>() {
    const In* from = task.input + y * task.input_pitch;
    FACESAT_UNROLL
    for (int i = 0; i < rows_a_warp; ++i, from += task.input_pitch)
      pixels[i] = Kept<In>(all_inside || y + i < height ? load_four<all_inside>(from, x, width)
                                                        : Four<In>{});
  });

  Out base[Tables::count][rows_a_warp];  // of the lane's four pixels: all to their left
  for_each_index<Tables::count>([&]<int t>() {
    scan_rows<Tables::of_squares(t)>(pixels, base[t], [&](int i, Out total) {
      row_base[t * tile_height + warp * rows_a_warp + i] = total;
    });
  });
  __syncthreads();
  for (int i = thread; i < Tables::row_values; i += threads)
    row_base[i] = look_back<Tables::window, Out>(own + i, part_stride, -words_a_tile, tile.x,
                                                 row_base[i], epoch);
  __syncthreads();

  for_each_index<Tables::count>([&]<int t>() {
    Four<Out> total{};  // of the warp's rows
    Out bases{};
    FACESAT_UNROLL
    for (int i = 0; i < rows_a_warp; ++i) {
      base[t][i] += row_base[t * tile_height + warp * rows_a_warp + i];
      bases += base[t][i];
      add_running_sums<Tables::of_squares(t)>(total, pixels[i]);
    }
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k)
      column_base[warp * Tables::column_values + t * tile_width + 32 * k + lane] =
          bases + total.v[k];
  });
  __syncthreads();
  for (int i = thread; i < Tables::column_values; i += threads) {
    Out rows[warps], total{};
    FACESAT_UNROLL
    for (int w = 0; w < warps; ++w) {
      rows[w] = column_base[w * Tables::column_values + i];
      total += rows[w];
    }
    Out above = look_back<Tables::window, Out>(
        own + Tables::row_values + i, part_stride,
        -static_cast<std::ptrdiff_t>(tiles.across) * words_a_tile, tile.y, total, epoch);
    FACESAT_UNROLL
    for (int w = 0; w < warps; ++w) {
      column_base[w * Tables::column_values + i] = above;
      above += rows[w];
    }
  }
  __syncthreads();

  specialise(is_inside, [&]<bool all_inside>() {
    for_each_index<Tables::count>([&]<int t>() {
      Four<Out> sums;
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k)
        sums.v[k] = column_base[warp * Tables::column_values + t * tile_width + 32 * k + lane];
      Out* to = task.table[t] + y * task.pitch[t];
      Out bases{};
      FACESAT_UNROLL
      for (int i = 0; i < rows_a_warp; ++i, to += task.pitch[t]) {
        bases += base[t][i];
        add_running_sums<Tables::of_squares(t)>(sums, pixels[i]);
        Four<Out> out;
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k) out.v[k] = sums.v[k] + bases;
        if (all_inside || y + i < height) store_four<all_inside>(to, x, width, out);
      }
    });
  });

  if (thread == 0) finish(header, tiles.count(), epoch);
}

template <class Tables>
constexpr Tiles tiles_of(Size size) {
  return {divide_up(size.width, tile_width), divide_up(size.height, Tables::tile_height)};
}

// Small pictures have few tiles, whose latency is all that counts; large ones want many bytes under
// way, and few words published.
bool is_large(Size size) {
  return size.area() > (on_host ? 16'000 : 10'000'000);
}

// Room for both tables, where there may be two, and for the smaller tiles.
std::size_t workspace_bytes(SatType type, Size size) {
  std::size_t bytes = header_bytes;
  visit_types(type, [&]<class In, class Out>(In, Out) {
    using Most = Tables<In, Out, true, sizeof(In) == 1, sizeof(Out) == 8 ? 4 : 8>;
    bytes += static_cast<std::size_t>(tiles_of<Most>(size).count()) * Most::values_a_tile *
             parts<Out> * sizeof(Word);
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

template <bool has_sum, bool has_squares, class In, class Out>
void enqueue_tables(const SatTask& task, void* workspace, StreamHandle stream) {
  const auto with_rows = [&]<int rows_a_warp>() {
    Tables<In, Out, has_sum, has_squares, rows_a_warp> tables{
        task.size, static_cast<const In*>(task.input), task.input_pitch, {}, {}};
    if constexpr (has_squares) {
      tables.table[has_sum] = static_cast<Out*>(task.squared_sum);
      tables.pitch[has_sum] = task.squared_pitch;
    }
    if constexpr (has_sum) {
      tables.table[0] = static_cast<Out*>(task.sum);
      tables.pitch[0] = task.sum_pitch;
    }
    launch(tables, workspace, stream);
  };
  if constexpr (sizeof(Out) == 8) {
    with_rows.template operator()<4>();
  } else if constexpr (sizeof(In) > 1) {
    with_rows.template operator()<8>();
  } else if (is_large(task.size)) {
    with_rows.template operator()<16>();
  } else {
    with_rows.template operator()<8>();
  }
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    if constexpr (sizeof(In) == 1) {
      if (task.sum && task.squared_sum)
        return enqueue_tables<true, true, In, Out>(task, workspace, stream);
      if (task.squared_sum) return enqueue_tables<false, true, In, Out>(task, workspace, stream);
    }
    enqueue_tables<true, false, In, Out>(task, workspace, stream);
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
