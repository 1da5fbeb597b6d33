// One pass with soft synchronisation and decoupled look-back: sum and squared sum from a single
// read.
//
// Idea: tiles take tickets along anti-diagonals. A tile publishes its row totals immediately, adds
//   up those of the tiles to its left until one has published its inclusive totals, and publishes
//   its own inclusive totals; then the same with its column totals and the tiles above. No tile
//   waits until another has written its part of the table.
// Shapes: warps of 8 or 16 rows, four columns per lane, all values in registers; tiles of 128 x 64
//   where latency counts, 128 x 128 or 512 x 128 where bandwidth does (choose_shape).
// Reads and writes per element: the pixel once, each table once (1R1W); 2 to 4 % of that for
//   published words.
// Launches: 1.
// Workspace: a header, and a word of 64 bits for each 32 bits of a tile's row and column totals.
// Source: our own form of Emoto et al.'s 1R1W-SKSS-LB (2018), after Merrill and Garland's look-back
//   (2016).
// Departs from it in: no corner sums (column totals already contain what lies to the left); {state,
//   value} words that need no fence; an epoch in the state, so that nothing is reset between
//   launches; a fallback if a block is halted (enqueue_lookback() says when).
//
// Why it takes longer than the floor (the time to merely read the picture and write the table).
// Tiles along anti-diagonals write short pieces of many rows at once; a copy in that order takes
// 1.1 to 1.2 times as long as the floor. A published word costs as much as two elements of the
// table and is read once or twice. The rest is waiting for tiles that are a diagonal ahead.
#include "kernels/sat/lookback.cuh"

namespace facesat::gpu {
namespace {

// Each warp has `rows_per_warp` rows of 128 columns, four per lane.
template <int warps_across_, int warps_down_, int rows_per_warp_, int blocks_, int window_,
          bool streams_>
struct Shape {
  static constexpr int warps_across = warps_across_, warps_down = warps_down_,
                       rows_per_warp = rows_per_warp_;
  static constexpr int threads = 32 * warps_across * warps_down, tile_width = 128 * warps_across,
                       tile_height = rows_per_warp * warps_down;
  static constexpr int blocks = blocks_, window = window_;
  static constexpr bool streams = streams_;
  // A lane's four columns are 32 totals apart, which avoids bank conflicts.
  __device__ static int column_at(int i) { return i / 128 * 128 + i % 32 * 4 + i % 128 / 32; }
};

// For each of a warp's rows: sets before[row] to the sum of the warp's pixels to the left of this
// lane's pixels, and calls put_total(row, sum of the warp's pixels in that row) in the last lane.
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
__global__ void __launch_bounds__(Tables::threads, Tables::blocks)
    lookback_kernel(FACESAT_PARAMETER(Tables) task, Tiles tiles, Header* header, Word* words) {
  using Out = typename Tables::Out;
  constexpr int rows_per_warp = Tables::rows_per_warp, tile_height = Tables::tile_height,
                tile_width = Tables::tile_width;
  constexpr int row_values = Tables::row_values, column_values = Tables::column_values;
  // Row totals over each warp's columns; after the look-back, the sums of all pixels left of them.
  __shared__ typename Tables::RowBase row_base;
  // Column totals over each warp's rows; after the look-back, the sums of all pixels above them.
  __shared__ typename Tables::ColumnBase column_base;
  __shared__ SharedArray<int, 1> gave_up;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int warp_x = warp % Tables::warps_across, warp_y = warp / Tables::warps_across;
  const PublishedTile<Tables> published(draw_tile(header, tiles), tiles, words);
  const auto end = [&] {
    if (threadIdx.x == 0) finish(header, tiles.count(), published.epoch);
  };
  const auto store_alone = [&] {
    facesat::gpu::store_alone(task, published, row_base);
    end();
  };
  const int2 tile = published.tile;
  const int width = task.size.width, height = task.size.height;
  const int x = tile.x * tile_width + 128 * warp_x + 4 * lane;
  const int y = tile.y * tile_height + rows_per_warp * warp_y;
  const bool is_inside = (tile.x + 1) * tile_width <= width && (tile.y + 1) * tile_height <= height;

  Kept<typename Tables::In> pixels[rows_per_warp];
  specialise(is_inside, [&]<bool all_inside>() {
    load_rows<all_inside>(task.input + y * task.input_pitch, task.input_pitch, x, width, height - y,
                          pixels);
  });

  // The indices of this warp's i-th row and of this lane's k-th column, in table t.
  const auto row_index = [&](int t, int i) {
    return warp_x * row_values + t * tile_height + warp_y * rows_per_warp + i;
  };
  const auto column_index = [&](int t, int k) {
    return warp_y * column_values + t * tile_width + 128 * warp_x + 32 * k + lane;
  };
  Out base[Tables::count][rows_per_warp];  // per row: all pixels left of the lane's four
  for_each_index<Tables::count>([&]<int t>() {
    scan_rows<Tables::of_squares(t)>(pixels, base[t],
                                     [&](int i, Out total) { row_base[row_index(t, i)] = total; });
  });
  if (thread == 0) gave_up[0] = 0;
  __syncthreads();
  if (published.look_back_along_rows(row_base, gave_up)) return store_alone();

  for_each_index<Tables::count>([&]<int t>() {
    Four<Out> total{};  // of the warp's rows
    Out bases{};
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_warp; ++i) {
      base[t][i] += row_base[row_index(t, i)];
      bases += base[t][i];
      add_running_sums<Tables::of_squares(t)>(total, pixels[i]);
    }
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) column_base[column_index(t, k)] = bases + total.v[k];
  });
  __syncthreads();
  if (published.look_back_along_columns(column_base, gave_up)) return store_alone();

  specialise(is_inside, [&]<bool all_inside>() {
    for_each_index<Tables::count>([&]<int t>() {
      Four<Out> sums;
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) sums.v[k] = column_base[column_index(t, k)];
      Out* to = task.table[t] + y * task.pitch[t];
      Out bases{};
      FACESAT_UNROLL
      for (int i = 0; i < rows_per_warp; ++i, to += task.pitch[t]) {
        bases += base[t][i];
        add_running_sums<Tables::of_squares(t)>(sums, pixels[i]);
        Four<Out> out;
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k) out.v[k] = sums.v[k] + bases;
        if constexpr (all_inside)
          store_fours<Tables::streams>(to, x, out);
        else if (y + i < height)
          store_four(to, x, width, out);
      }
    });
  });

  end();
}

struct Lookback {
  // Calls with_shape(Shape{}) with the shape that measured fastest. Small pictures have few tiles,
  // so only a tile's latency counts; large ones need many bytes in flight, few published words, and
  // long contiguous writes.
  template <class In, class Out, bool both, class WithShape>
  static void choose_shape(Size size, WithShape with_shape) {
    // On the host, where kernels are only tested, much smaller pictures reach every shape.
    constexpr double mega = on_host ? 3e3 : 1e6;
    if constexpr (sizeof(Out) == 8) {
      with_shape(Shape<1, 8, 8, 2, 1, false>{});
    } else if constexpr (sizeof(In) > 1) {
      with_shape(Shape<1, 8, 8, 3, 1, true>{});
    } else if (size.area() < 3 * mega) {
      with_shape(Shape<1, 8, 8, 4, 4, false>{});
    } else if (size.area() < 14 * mega) {
      with_shape(Shape < 1, 8, 16, both ? 3 : 4, 1, true > {});
    } else {
      with_shape(Shape<4, 8, 16, 1, 1, true>{});
    }
  }

  template <class Tables>
  static void launch(const Tables& task, Tiles tiles, Header* header, Word* words,
                     StreamHandle stream) {
    FACESAT_LAUNCH(lookback_kernel<Tables>, dim3(tiles.count()), dim3(Tables::threads), stream,
                   task, tiles, header, words);
  }
};

std::size_t workspace_bytes(SatType type, Size size) {
  std::size_t bytes = 0;
  visit_types(
      type, [&]<class In, class Out>(In, Out) { bytes = lookback_bytes<Lookback, In, Out>(size); });
  return bytes;
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    enqueue_lookback<Lookback, In, Out>(task, workspace, stream);
  });
}

}  // namespace

const SatAlgorithm facesat_lookback{
    .id = "facesat_lookback",
    .title = "Single pass with look-back, both sums from one read (1R1W)",
    .source = "after Emoto et al. 2018, and Merrill and Garland 2016",
    .year = 2026,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .both_at_once = true,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
    .parameter = &fallback_parameter,
};

}  // namespace facesat::gpu
