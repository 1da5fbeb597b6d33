// For algorithms whose tiles look back for their rows, then for their columns, and that make both
// tables in one launch: the tables, the look-backs of a tile, the workspace, the choice of a
// kernel.
#pragma once

#include <algorithm>

#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {

// The tables made in one launch: the sum, the sum of squares, or both from one read. `Shape` says
// how a tile is divided among warps:
//   warps_across, warps_down, threads, tile_width, tile_height;
//   blocks: per multiprocessor, at least;
//   column_at(i): the column of a tile that has the i-th total of columns;
//   window: tiles that a look-back reads at once;
//   streams: whether tables are written with store_streaming(): those too large for any cache.
// `gives_up_`: whether a look-back gives up if a block is halted, instead of waiting on.
template <class In_, class Out_, bool has_sum, bool has_squares, bool gives_up_, class Shape>
struct Tables : Shape {
  using In = In_;
  using Out = Out_;
  static constexpr int count = (has_sum ? 1 : 0) + (has_squares ? 1 : 0);
  // Numbers of values that a tile publishes: row totals of all tables, then column totals.
  static constexpr int row_values = count * Shape::tile_height,
                       column_values = count * Shape::tile_width,
                       values_per_tile = row_values + column_values,
                       words_per_tile = parts<Out> * values_per_tile;
  static constexpr bool gives_up = gives_up_;
  // What warps put into shared memory for the look-backs.
  using RowBase = SharedArray<Out, Shape::warps_across * row_values>;
  using ColumnBase = SharedArray<Out, Shape::warps_down * column_values>;

  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* table[count];
  std::ptrdiff_t pitch[count];

  explicit Tables(const SatTask& task)
      : size(task.size), input(static_cast<const In*>(task.input)), input_pitch(task.input_pitch) {
    if constexpr (has_squares) {
      table[has_sum] = static_cast<Out*>(task.squared_sum);
      pitch[has_sum] = task.squared_pitch;
    }
    if constexpr (has_sum) {
      table[0] = static_cast<Out*>(task.sum);
      pitch[0] = task.sum_pitch;
    }
  }

  static constexpr bool of_squares(int t) { return !has_sum || t == 1; }
  // What a tile publishes as its total of row i % tile_height in table i / tile_height, and of
  // column column_at(i % tile_width) in table i / tile_width: the latter with all to its left.
  __device__ Out row_total(int i, int tile_x, int tile_y) const {
    const int x = tile_x * Shape::tile_width;
    const int y = tile_y * Shape::tile_height + i % Shape::tile_height;
    return sum_of(i / Shape::tile_height, x, x + Shape::tile_width, y, y + 1);
  }
  __device__ Out column_total(int i, int tile_x, int tile_y) const {
    const int x = tile_x * Shape::tile_width + Shape::column_at(i % Shape::tile_width);
    const int y = tile_y * Shape::tile_height;
    return sum_of(i / Shape::tile_width, 0, x + 1, y, y + Shape::tile_height);
  }
  static constexpr Tiles tiles_of(Size size) {
    return {divide_up(size.width, Shape::tile_width), divide_up(size.height, Shape::tile_height)};
  }
  // Over columns [x, end_x) and rows [y, end_y), as in table t.
  __device__ Out sum_of(int t, int x, int end_x, int y, int end_y) const {
    if constexpr (has_sum && has_squares)
      if (t == 1) return sum_of_box<Out, true>(input, input_pitch, size, x, end_x, y, end_y);
    return sum_of_box<Out, of_squares(0)>(input, input_pitch, size, x, end_x, y, end_y);
  }
};

// Calls work.operator()<i>() for i from 0 to count - 1.
template <int count, class Work>
__device__ __forceinline__ void for_each_index(Work work) {
  work.template operator()<0>();
  if constexpr (count == 2) work.template operator()<1>();
}

// Where a tile publishes its words, and in which epoch.
template <class Tables>
struct PublishedTile {
  using Out = typename Tables::Out;

  int2 tile;
  Word* own;
  std::ptrdiff_t to_above;  // to the words of the tile above
  unsigned epoch;

  __device__ __forceinline__ PublishedTile(const Drawn& drawn, Tiles tiles, Word* words)
      : tile(drawn.tile),
        own(words +
            (static_cast<std::ptrdiff_t>(tile.y) * tiles.across + tile.x) * Tables::words_per_tile),
        to_above(-static_cast<std::ptrdiff_t>(tiles.across) * Tables::words_per_tile),
        epoch(drawn.epoch) {}

  __device__ __forceinline__ static auto about_missing(SharedArray<int, 1>& gave_up) {
    if constexpr (Tables::gives_up)
      return GiveUp{gave_up};
    else
      return Wait{};
  }

  // Replaces each warp's row totals by the sums of all pixels left of the warp's. A barrier of the
  // block; returns whether a look-back gave up.
  __device__ __forceinline__ bool look_back_along_rows(typename Tables::RowBase& base,
                                                       SharedArray<int, 1>& gave_up) const {
    for (int i = static_cast<int>(threadIdx.x); i < Tables::row_values; i += Tables::threads)
      look_back_from<Tables::warps_across>(base, Tables::row_values, i, [&](Out total) {
        return row_before<Tables::window>(i, total, about_missing(gave_up));
      });
    __syncthreads();
    return Tables::gives_up && gave_up[0] != 0;
  }
  // The same for column totals and the sums of all pixels above the warp's.
  __device__ __forceinline__ bool look_back_along_columns(typename Tables::ColumnBase& base,
                                                          SharedArray<int, 1>& gave_up) const {
    for (int i = static_cast<int>(threadIdx.x); i < Tables::column_values; i += Tables::threads)
      look_back_from<Tables::warps_down>(base, Tables::column_values, i, [&](Out total) {
        return column_before<Tables::window>(i, total, about_missing(gave_up));
      });
    __syncthreads();
    return Tables::gives_up && gave_up[0] != 0;
  }

  template <int window, class TotalOf>
  __device__ __forceinline__ Out row_before(int i, Out total, TotalOf total_of) const {
    return look_back<window, Out>(own + i, Tables::values_per_tile, -Tables::words_per_tile, tile.x,
                                  total, epoch, total_of);
  }
  template <int window, class TotalOf>
  __device__ __forceinline__ Out column_before(int i, Out total, TotalOf total_of) const {
    return look_back<window, Out>(own + Tables::row_values + i, Tables::values_per_tile, to_above,
                                  tile.y, total, epoch, total_of);
  }
};

// After a look-back that gave up: stores the tile's part of the tables, a column per thread, from
// the picture and look-backs that compute what is missing. Slow, but needs no other block.
template <class Tables>
FACESAT_NOINLINE __device__ void store_alone(const Tables& task, PublishedTile<Tables> published,
                                             typename Tables::RowBase& left_of_row) {
  using Out = typename Tables::Out;
  const int2 tile = published.tile;
  constexpr int width = Tables::tile_width, height = Tables::tile_height;
  const int left = tile.x * width, top = tile.y * height;
  for (int i = static_cast<int>(threadIdx.x); i < Tables::row_values; i += Tables::threads)
    left_of_row[i] = published.template row_before<1>(
        i, task.row_total(i, tile.x, tile.y),
        [&](int n) { return task.row_total(i, tile.x - n, tile.y); });
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < Tables::column_values; i += Tables::threads) {
    const int t = i / width, x = left + Tables::column_at(i % width);
    Out total = task.sum_of(t, left, x + 1, top, top + height);
    for (int row = 0; row < height; ++row) total += left_of_row[t * height + row];
    Out sum = published.template column_before<1>(
        i, total, [&](int n) { return task.column_total(i, tile.x, tile.y - n); });
    for (int y = top; y < min(top + height, task.size.height); ++y) {
      sum += left_of_row[t * height + y - top] + task.sum_of(t, left, x + 1, y, y + 1);
      if (x < task.size.width) task.table[t][y * task.pitch[t] + x] = sum;
    }
  }
}

// What the functions below need of an algorithm, here as one that has a single shape:
//   struct Method {
//     template <class In, class Out, bool both, class WithShape>
//     static void choose_shape(Size, WithShape with_shape) { with_shape(Shape{}); }
//     template <class Tables>
//     static void launch(const Tables&, Tiles, Header*, Word*, StreamHandle);
//   };

// Room for both tables where there may be two, as for 8-bit pictures.
template <class Method, class In, class Out>
std::size_t lookback_bytes(Size size) {
  std::size_t words = 0;
  const auto room_for = [&]<class Shape>(Shape) {
    using Most = Tables<In, Out, true, sizeof(In) == 1, true, Shape>;
    words = std::max(words,
                     static_cast<std::size_t>(Most::tiles_of(size).count()) * Most::words_per_tile);
  };
  Method::template choose_shape<In, Out, false>(size, room_for);
  Method::template choose_shape<In, Out, true>(size, room_for);
  return header_bytes + words * sizeof(Word);
}

// One table has a fallback at no cost. With both, registers are full of pixels and sums, and a
// look-back that may give up makes the kernel slower by 1 to 7 % (H100): see fallback_parameter.
template <class Method, class In, class Out>
void enqueue_lookback(const SatTask& task, void* workspace, StreamHandle stream) {
  const auto enqueue_tables = [&]<bool has_sum, bool has_squares, bool gives_up = true>() {
    Method::template choose_shape<In, Out, has_sum && has_squares>(
        task.size, [&]<class Shape>(Shape) {
          using Made = Tables<In, Out, has_sum, has_squares, gives_up, Shape>;
          Method::launch(Made(task), Made::tiles_of(task.size), static_cast<Header*>(workspace),
                         reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes),
                         stream);
        });
  };
  if constexpr (sizeof(In) == 1) {
    if (task.sum && task.squared_sum)
      return task.parameter == 0 ? enqueue_tables.template operator()<true, true, false>()
                                 : enqueue_tables.template operator()<true, true>();
    if (task.squared_sum) return enqueue_tables.template operator()<false, true>();
  }
  enqueue_tables.template operator()<true, false>();
}

}  // namespace facesat::gpu
