// The integral image (summed area table, SAT) of a small 8-bit picture, with a single exchange
// between tiles (1R1W).
//
// Idea: each tile publishes, once, the prefix sums of its column totals, those of its row totals,
//   and its total. An element of the table is the sum of four parts: of the tile's own table, of
//   the column totals of all tiles above, of the row totals of all tiles to the left, and of the
//   totals of all tiles above left. A block reads all of these at the same time and adds them up
//   itself. So it waits for published values once, where look-back waits for rows, then for
//   columns, in a chain of tiles.
// Shapes: warps of 8 rows, four columns per lane, all pixels in registers; tiles of 128 x 64, from
//   3 megapixels on 128 x 128 (choose_shape).
// Reads and writes per element: the pixel once, the table once (1R1W). Published values are 2 % of
//   that, but each is read by all tiles below or to the right of its own.
// Launches: 1.
// Workspace: a counter; 16 bytes for each four columns and rows of a tile; a word of 64 bits for
//   its total; and the workspace of facesat_lookback.
// Source: our own; epochs as in facesat_lookback. That a block which waits in vain does the work
//   that it waits for is the decoupled fallback of scans for GPUs without progress guarantees.
//
// Progress. A block takes the tile of its blockIdx, without drawing a ticket first. CUDA does not
// promise that the blocks which it waits for have been started. So a block that has waited for
// a while (`patience`) publishes the first missing tile itself, and begins again. Published values
// are the same whoever publishes them.
//
// Limits. A block reads what all tiles above it and to its left have published, so the number of
// these reads grows with the square of the number of tiles. Pictures of more than 4.5 megapixels
// are therefore left to facesat_lookback, and so are other types, and tables of squares, which
// facesat_lookback makes in the same launch as the sums.
// Entries of 16 bytes, like those here, would not make facesat_lookback faster than its words of 8
// (H100: 1.23 instead of 1.215 times the floor at 4096x4096, 1.14 instead of 1.15 at 8192x8192).
//
// Why these shapes: the time divided by the floor (the time to read the picture and write the
// table), of this algorithm, of facesat_lookback, and of designs that were tried (H200, 8u32s,
// driver 580.159.04, 2026-11-25, `facesat bench sat --type 8u32s`). From run to run, the ratios at
// 1280x720 differ by up to 0.07, the others by up to 0.03.
//
//                                     1280x720  1920x1080  2048x2048  3840x2160  4096x4096
//   facesat_lookback                  1.69      1.50       1.47       1.30       1.35
//   this algorithm                    1.39      1.25       1.25       (look-back)
//   blocks draw tickets, and prefetch 1.32      1.32       1.31
//     pixels to the L2 cache before
//   tiles of 128 x 64 only            1.39      1.27       1.53
//     with four blocks, 64 registers  1.46      1.39       1.37
//   tiles of 128 x 128 only           1.49      1.42       1.25       1.38       1.44
//     with 16 rows per warp           1.54      1.41       1.24       1.38       1.43
//   tiles of 128 x 256 only           1.85      1.46       1.27       1.68       1.49
#include "kernels/device/soft_synchronization.cuh"
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

// ---- what tiles publish, how a warp computes it, and how a thread reads that of other tiles ----

using Sum = std::uint32_t;

constexpr int rows_per_warp = 8;

// Four adjacent columns of a tile: the prefix sum up to and including the first, then the totals of
// the second to fourth alone (at most 128 * 255, which has 15 bits). The same for rows.
struct alignas(16) Entry {
  Sum up_to_first, second_and_fourth, third;  // the fourth in the upper half of the word
  unsigned epoch;                             // of the launch that has published it

  __device__ __forceinline__ void add_within_tile(const Entry& other) {
    up_to_first += other.up_to_first;
    second_and_fourth += other.second_and_fourth;
    third += other.third;
  }
};

// The sum of any number of entries.
struct EntrySum {
  Sum up_to_first{}, second{}, third{}, fourth{};

  __device__ __forceinline__ void add(const Entry& e) {
    up_to_first += e.up_to_first;
    second += e.second_and_fourth & 0xFFFF;
    third += e.third;
    fourth += e.second_and_fourth >> 16;
  }
  // The prefix sums up to and including each of the four columns.
  __device__ __forceinline__ Four<Sum> prefix() const {
    const Sum up_to_second = up_to_first + second, up_to_third = up_to_second + third;
    return {{up_to_first, up_to_second, up_to_third, up_to_third + fourth}};
  }
};

__device__ __forceinline__ Four<Sum> prefix_of(const Entry& e) {
  EntrySum sum;
  sum.add(e);
  return sum.prefix();
}

// Entries, and totals, which are words with the epoch in the upper half.
__device__ __forceinline__ unsigned epoch_of(const Entry& entry) {
  return entry.epoch;
}
__device__ __forceinline__ unsigned epoch_of(Word total) {
  return static_cast<unsigned>(total >> 32);
}
__device__ __forceinline__ void set_empty(Entry& entry, unsigned epoch) {
  entry = {0, 0, 0, epoch};
}
__device__ __forceinline__ void set_empty(Word& total, unsigned epoch) {
  total = static_cast<Word>(epoch) << 32;
}

// Sums of a lane's pixels and of those to their left, of a warp's rows. Sums of 128 bytes have 15
// bits, so that two rows are summed up at once: an even row in the lower half of a word, the next
// one in the upper half.
struct RowSums {
  Sum before[rows_per_warp / 2];     // of the pixels to the left of the lane's
  Sum inclusive[rows_per_warp / 2];  // with the lane's; in the last lane, the totals of the rows

  __device__ __forceinline__ explicit RowSums(Kept<std::uint8_t> (&pixels)[rows_per_warp]) {
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_warp / 2; ++i) {
      const Sum own =
          sum_of_four<Sum, false>(pixels[2 * i]) | sum_of_four<Sum, false>(pixels[2 * i + 1]) << 16;
      inclusive[i] = warp_inclusive_scan(own);
      before[i] = inclusive[i] - own;
    }
  }
  __device__ __forceinline__ Sum before_in_row(int i) const {
    return i % 2 == 0 ? before[i / 2] & 0xFFFF : before[i / 2] >> 16;
  }
};

// The entry of the lane's columns, in the warp's rows.
__device__ __forceinline__ Entry column_entry(Kept<std::uint8_t> (&pixels)[rows_per_warp],
                                              const RowSums& rows) {
  Entry entry{};
  Sum first_and_third = 0;
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_warp; ++i) {
    entry.up_to_first += rows.before_in_row(i);
    first_and_third += pixels[i].word & 0x00FF00FF;
    entry.second_and_fourth += pixels[i].word >> 8 & 0x00FF00FF;
  }
  entry.up_to_first += first_and_third & 0xFFFF;
  entry.third = first_and_third >> 16;
  return entry;
}

// Up to `count` published values of an array, read at once: elements first, first + stride, ...
template <class T, int count>
struct Pending {
  std::uint32_t first;
  int stride;
  bool has_any;
  T value[count];

  // Value n belongs to the tile n * step further on; tiles from number `end` on have none.
  __device__ __forceinline__ void request(const T* array, int first_, int stride_, int step,
                                          int end, unsigned epoch) {
    first = static_cast<std::uint32_t>(first_);
    stride = stride_;
    has_any = end > 0;
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n) {
      set_empty(value[n], epoch);
      if (n * step < end) value[n] = read(array, n);
    }
  }
  // Reads those again that had not been published. Returns whether there were none.
  __device__ __forceinline__ bool retry(const T* array, unsigned epoch) {
    bool is_complete = true;
    make_opaque(first);  // addresses are computed again, not kept in registers
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n)
      if (epoch_of(value[n]) != epoch) {
        value[n] = read(array, n);
        is_complete = false;
      }
    return is_complete;
  }
  // The number of the first element that has not been published.
  __device__ __forceinline__ unsigned missing(unsigned epoch) const {
    unsigned least = 0xFFFFFFFF;
    FACESAT_UNROLL
    for (int n = 0; n < count; ++n)
      if (epoch_of(value[n]) != epoch)
        least = min(least, first + static_cast<unsigned>(n * stride));
    return least;
  }

 private:
  __device__ __forceinline__ T read(const T* array, int n) const {
    return load_relaxed(array + (first + static_cast<std::uint32_t>(n * stride)));
  }
};

// ---- the kernel ----

constexpr int tile_width = 128;

// A megapixel. On the host, where kernels are only tested, smaller pictures reach every shape.
constexpr double mega = on_host ? 4e3 : 1e6;

// A block reads at once what a batch of up to 16 x 32 tiles has published.
constexpr int batch_across = 16, batch_down = 32;

// Warps lie one below the other. `blocks`: per multiprocessor, at least.
template <int warps_, int blocks_>
struct Shape {
  static constexpr int warps = warps_, threads = 32 * warps, blocks = blocks_;
  static constexpr int height = rows_per_warp * warps;
  // Entries that a tile publishes: of columns, then of rows.
  static constexpr int column_entries = tile_width / 4, row_entries = height / 4,
                       entries = column_entries + row_entries;

  static_assert(row_entries * batch_across == threads, "a thread reads one row entry per batch");
  static_assert(batch_down % warps == 0, "each warp reads the columns of as many tiles");
};

// How often a thread reads again what is missing: on a GPU, for at least 50 microseconds.
constexpr int patience = on_host ? 2 : 100;
constexpr unsigned none_missing = 0xFFFFFFFF;

// A picture, its table, and the workspace.
struct ExchangePass {
  Size size;
  Tiles tiles;
  const std::uint8_t* input;
  std::ptrdiff_t input_pitch;
  Sum* table;
  std::ptrdiff_t pitch;
  Word* counter;  // in the lower half, of started blocks; in the upper half, of launches
  Entry* entries;
  Word* totals;
};

template <class Shape>
struct Shared {
  SharedArray<unsigned, 1> epoch;
  SharedArray<unsigned, 1> missing;  // the first tile that has to be published by someone else
  // Entries of the columns of each warp's rows; entries of rows, each of which counts only rows of
  // its own warp; totals of warps.
  SharedArray<Entry, Shape::warps * 32> columns;
  SharedArray<Entry, Shape::row_entries> rows;
  SharedArray<Sum, Shape::warps> totals;
  // What all other tiles add to the tile's table: by column, by row, and everywhere. The k-th of
  // the four columns or rows of entry e is element k * number of entries + e.
  SharedArray<unsigned, tile_width> above;
  SharedArray<unsigned, Shape::height> left;
  SharedArray<unsigned, 1> corner;
};

// Where a thread's pixels are: a tile, and the first of its columns and rows.
template <class Shape>
struct ThreadTile {
  int2 tile;
  int number;  // of the tile, row by row
  int x, y;
  bool is_inside;  // the whole tile is

  __device__ __forceinline__ ThreadTile(const ExchangePass& pass, int2 tile_)
      : tile(tile_), number(tile.y * pass.tiles.across + tile.x) {
    const int thread = static_cast<int>(threadIdx.x);
    x = tile.x * tile_width + 4 * (thread % 32);
    y = tile.y * Shape::height + rows_per_warp * (thread / 32);
    is_inside = (tile.x + 1) * tile_width <= pass.size.width &&
                (tile.y + 1) * Shape::height <= pass.size.height;
  }
};

template <class Shape>
__device__ __forceinline__ void load_pixels(const ExchangePass& pass, const ThreadTile<Shape>& at,
                                            Kept<std::uint8_t> (&pixels)[rows_per_warp]) {
  specialise(at.is_inside, [&]<bool all_inside>() {
    load_rows<all_inside>(pass.input + at.y * pass.input_pitch, pass.input_pitch, at.x,
                          pass.size.width, pass.size.height - at.y, pixels);
  });
}

// Counts the block as started. Returns the number of the launch, from 1 on.
__device__ __forceinline__ unsigned count_block(const ExchangePass& pass) {
  const auto blocks = static_cast<unsigned>(pass.tiles.count());
  const Word before = atomicAdd(pass.counter, Word{1});
  // The last block: the next launch counts from 0 again.
  if (static_cast<unsigned>(before) + 1 == blocks)
    atomicAdd(pass.counter, (Word{1} << 32) - blocks);
  return static_cast<unsigned>(before >> 32) + 1;
}

// Puts the entries of the warp's columns and rows and its total into shared memory. Returns the
// entry of the lane's columns.
template <class Shape>
__device__ __forceinline__ Entry put_entries(Kept<std::uint8_t> (&pixels)[rows_per_warp],
                                             const RowSums& rows, Shared<Shape>& shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const Entry columns = column_entry(pixels, rows);
  shared.columns[thread] = columns;
  if (lane < 31) return columns;
  Sum running = 0;  // the last lane has the totals of the rows
  FACESAT_UNROLL
  for (int e = 0; e < rows_per_warp / 4; ++e) {
    const Sum upper = rows.inclusive[2 * e], lower = rows.inclusive[2 * e + 1];
    const Entry entry{running + (upper & 0xFFFF), upper >> 16 | (lower & 0xFFFF0000),
                      lower & 0xFFFF, 0};
    shared.rows[warp * (rows_per_warp / 4) + e] = entry;
    running = prefix_of(entry).v[3];
  }
  shared.totals[warp] = running;
  return columns;
}

// Publishes the tile's entries and its total. Returns the sum of the lane's column entries in the
// warps above this one.
template <class Shape>
__device__ __forceinline__ Entry publish(const ExchangePass& pass, int number, unsigned epoch,
                                         const Entry& own, Shared<Shape>& shared) {
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  Entry* const to = pass.entries + number * Shape::entries;
  Entry above{};
  FACESAT_UNROLL
  for (int w = 0; w < Shape::warps - 1; ++w)
    if (w < warp) above.add_within_tile(shared.columns[w * 32 + lane]);
  if (warp == Shape::warps - 1) {
    Entry all = above;
    all.add_within_tile(own);
    all.epoch = epoch;
    store_relaxed(to + lane, all);
    if (lane == 31)
      store_relaxed(pass.totals + number, static_cast<Word>(epoch) << 32 | prefix_of(all).v[3]);
  }
  if (thread < Shape::row_entries) {
    Entry row = shared.rows[thread];
    row.epoch = epoch;
    FACESAT_UNROLL
    for (int w = 0; w < Shape::warps - 1; ++w)
      if (w < thread / (rows_per_warp / 4)) row.up_to_first += shared.totals[w];
    store_relaxed(to + Shape::column_entries + thread, row);
  }
  return above;
}

// What a thread reads of a batch of tiles: entries of four columns, for each warp from other
// tiles above; the entry of four rows of a tile to the left; totals.
template <class Shape>
struct OtherTiles {
  Pending<Entry, batch_down / Shape::warps> columns;
  Pending<Entry, 1> row;
  Pending<Word, batch_across * batch_down / Shape::threads> totals;

  // Begins to read the batch whose first tile is in column i and row j of tiles. Columns are read
  // with the first batch of each row of batches, rows with the batches of the first row.
  __device__ __forceinline__ void request(const ExchangePass& pass, int2 tile, unsigned epoch,
                                          int i, int j) {
    constexpr int totals_step = Shape::threads / batch_across;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const int across = pass.tiles.across;
    columns.request(pass.entries, ((j + warp) * across + tile.x) * Shape::entries + lane,
                    Shape::warps * across * Shape::entries, Shape::warps,
                    i == 0 ? tile.y - j - warp : 0, epoch);
    const int row_i = i + thread / Shape::row_entries;
    row.request(pass.entries,
                (tile.y * across + row_i) * Shape::entries + Shape::column_entries +
                    thread % Shape::row_entries,
                0, 1, j == 0 ? tile.x - row_i : 0, epoch);
    const int total_i = i + thread % batch_across, total_j = j + thread / batch_across;
    totals.request(pass.totals, total_j * across + total_i, totals_step * across, totals_step,
                   total_i < tile.x ? tile.y - total_j : 0, epoch);
  }

  // Reads those again that are not published. Gives up after a while, and returns whether all are.
  __device__ __forceinline__ bool wait(const ExchangePass& pass, unsigned epoch) {
    for (int round = 0; round < patience; ++round) {
      // All three are read again, whatever the others say, hence no &&.
      if (columns.retry(pass.entries, epoch) & row.retry(pass.entries, epoch) &
          totals.retry(pass.totals, epoch))
        return true;
      if constexpr (on_host) pause();  // on a GPU, a round waits for its reads
    }
    return false;
  }

  // The first tile of which something is not published.
  __device__ __forceinline__ unsigned missing(unsigned epoch) const {
    return min(min(columns.missing(epoch), row.missing(epoch)) / Shape::entries,
               totals.missing(epoch));
  }

  // Adds all up in shared memory.
  __device__ __forceinline__ void add(Shared<Shape>& shared) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
    if (columns.has_any) {
      EntrySum sum;
      FACESAT_UNROLL
      for (const Entry& entry : columns.value) sum.add(entry);
      add_four(shared.above, Shape::column_entries, lane, sum.prefix());
    }
    if (row.has_any)
      add_four(shared.left, Shape::row_entries, thread % Shape::row_entries,
               prefix_of(row.value[0]));
    Sum total = 0;
    FACESAT_UNROLL
    for (const Word word : totals.value) total += static_cast<Sum>(word);
    if (total > 0) atomic_add(shared.corner, 0, total);
  }

 private:
  template <class Array>
  __device__ __forceinline__ static void add_four(Array& sums, int stride, int i,
                                                  const Four<Sum>& four) {
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) atomic_add(sums, k * stride + i, four.v[k]);
  }
};

// Adds what all other tiles have published to the sums in shared memory. Returns whether it was
// complete, to all threads of the block; otherwise some tile is missing, and the sums are useless.
template <class Shape>
__device__ __forceinline__ bool add_other_tiles(const ExchangePass& pass, int2 tile, unsigned epoch,
                                                Shared<Shape>& shared) {
  bool is_complete = true;
  // At least once: a tile in the first row or column has others on one side only.
  for (int j = 0; j == 0 || j < tile.y; j += batch_down)
    for (int i = 0; i == 0 || i < tile.x; i += batch_across)
      if (is_complete) {
        OtherTiles<Shape> others;
        others.request(pass, tile, epoch, i, j);
        is_complete = others.wait(pass, epoch);
        if (is_complete)
          others.add(shared);
        else
          atomic_min(shared.missing, 0, others.missing(epoch));
      }
  return !__syncthreads_or(!is_complete);
}

__device__ __forceinline__ Four<Sum> plus(Four<Sum> sums, Sum added) {
  FACESAT_UNROLL
  for (Sum& sum : sums.v) sum += added;
  return sums;
}
__device__ __forceinline__ Four<Sum> plus(Four<Sum> sums, const Four<Sum>& added) {
  FACESAT_UNROLL
  for (int k = 0; k < 4; ++k) sums.v[k] += added.v[k];
  return sums;
}

// The tile's own table in the lane's four columns, row by row from the warp's first row on.
struct OwnTable {
  Four<Sum> columns;  // at first, the table's row above the warp's
  Sum before{};       // the pixels to the left of the lane's, in the warp's rows so far

  __device__ __forceinline__ Four<Sum> next_row(Kept<std::uint8_t>& pixels, Sum before_in_row) {
    before += before_in_row;
    add_running_sums<false>(columns, pixels);
    return plus(columns, before);
  }
};

// Stores the table: the tile's own, and the sums in shared memory. `above_warp`: of the lane's
// columns in the tile's rows above the warp's.
template <class Shape>
__device__ __forceinline__ void store_table(const ExchangePass& pass, const ThreadTile<Shape>& at,
                                            Kept<std::uint8_t> (&pixels)[rows_per_warp],
                                            const RowSums& rows, const Entry& above_warp,
                                            Shared<Shape>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  Four<Sum> above;
  FACESAT_UNROLL
  for (int k = 0; k < 4; ++k)
    above.v[k] = shared.above[k * Shape::column_entries + lane] + shared.corner[0];
  OwnTable own{plus(prefix_of(above_warp), above)};
  specialise(at.is_inside, [&]<bool all_inside>() {
    Sum* to = pass.table + at.y * pass.pitch;
    FACESAT_UNROLL
    for (int i = 0; i < rows_per_warp; ++i, to += pass.pitch) {
      const int row = warp * rows_per_warp + i;
      const Four<Sum> four = plus(own.next_row(pixels[i], rows.before_in_row(i)),
                                  shared.left[row % 4 * Shape::row_entries + row / 4]);
      if constexpr (all_inside)
        store_fours<false>(to, at.x, four);
      else if (at.y + i < pass.size.height)
        store_four(to, at.x, pass.size.width, four);
    }
  });
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, Shape::blocks)
    one_exchange_kernel(FACESAT_PARAMETER(ExchangePass) pass) {
  __shared__ Shared<Shape> shared;
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned epoch_of_thread_0 = thread == 0 ? count_block(pass) : 0;
  const int2 own_tile{static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y)};
  for (int2 tile = own_tile;;) {
    const ThreadTile<Shape> at(pass, tile);
    Kept<std::uint8_t> pixels[rows_per_warp];
    load_pixels(pass, at, pixels);
    if (thread < tile_width) shared.above[thread] = 0;
    if (thread < Shape::height) shared.left[thread] = 0;
    if (thread == 0) {
      shared.corner[0] = 0;
      shared.missing[0] = none_missing;
      shared.epoch[0] = epoch_of_thread_0;
    }
    const RowSums rows(pixels);
    const Entry columns = put_entries(pixels, rows, shared);
    __syncthreads();
    const unsigned epoch = shared.epoch[0];
    const Entry above = publish(pass, at.number, epoch, columns, shared);

    const bool is_own = tile.x == own_tile.x && tile.y == own_tile.y;
    if (is_own && add_other_tiles(pass, tile, epoch, shared))
      return store_table(pass, at, pixels, rows, above, shared);
    // Publishes the first missing tile in its block's stead, then begins again with its own.
    const auto missing = static_cast<int>(static_cast<unsigned>(shared.missing[0]));
    tile = is_own && missing >= 0 && missing < at.number
               ? int2{missing % pass.tiles.across, missing / pass.tiles.across}
               : own_tile;
    __syncthreads();
  }
}

// Calls with_shape(Shape{}) with the shape that measured fastest.
template <class WithShape>
void choose_shape(Size size, WithShape with_shape) {
  if (size.area() < 3 * mega)
    with_shape(Shape<8, 3>{});
  else
    with_shape(Shape<16, 2>{});
}

// Whether the sum is made here, if it is wanted alone.
bool is_for_one_exchange(SatType type, Size size) {
  return (type == SatType::u8_s32 || type == SatType::u8_u32) && size.area() <= 4.5 * mega;
}

template <class Shape>
constexpr Tiles tiles_of(Size size) {
  return {divide_up(size.width, tile_width), divide_up(size.height, Shape::height)};
}

// The parts of the workspace: counter, entries, totals; after them, what facesat_lookback needs.
template <class Shape>
std::size_t totals_at(Size size) {
  return header_bytes +
         sizeof(Entry) * Shape::entries * static_cast<std::size_t>(tiles_of<Shape>(size).count());
}
template <class Shape>
std::size_t lookback_at(Size size) {
  const std::size_t end = totals_at<Shape>(size) +
                          sizeof(Word) * static_cast<std::size_t>(tiles_of<Shape>(size).count());
  return round_up_256(end);
}
std::size_t lookback_at(SatType type, Size size) {
  std::size_t at = 0;
  if (is_for_one_exchange(type, size))
    choose_shape(size, [&]<class Shape>(Shape) { at = lookback_at<Shape>(size); });
  return at;
}
std::size_t workspace_bytes(SatType type, Size size) {
  return lookback_at(type, size) + facesat_lookback.workspace_bytes(type, size);
}

template <class Shape>
void launch(const SatTask& task, std::byte* workspace, StreamHandle stream) {
  const Tiles tiles = tiles_of<Shape>(task.size);
  const ExchangePass pass{
      .size = task.size,
      .tiles = tiles,
      .input = static_cast<const std::uint8_t*>(task.input),
      .input_pitch = task.input_pitch,
      .table = static_cast<Sum*>(task.sum),
      .pitch = task.sum_pitch,
      .counter = reinterpret_cast<Word*>(workspace),
      .entries = reinterpret_cast<Entry*>(workspace + header_bytes),
      .totals = reinterpret_cast<Word*>(workspace + totals_at<Shape>(task.size))};
  FACESAT_LAUNCH(one_exchange_kernel<Shape>,
                 dim3(static_cast<unsigned>(tiles.across), static_cast<unsigned>(tiles.down)),
                 dim3(Shape::threads), stream, pass);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  auto* const memory = static_cast<std::byte*>(workspace);
  if (task.squared_sum || !is_for_one_exchange(task.type, task.size))
    return facesat_lookback.enqueue(task, memory + lookback_at(task.type, task.size), stream);
  choose_shape(task.size, [&]<class Shape>(Shape) { launch<Shape>(task, memory, stream); });
}

}  // namespace

const SatAlgorithm facesat_one_exchange{
    .id = "facesat_one_exchange",
    .title = "Single pass with one exchange between tiles, for sums of small pictures (1R1W)",
    .source = "facesat's own",
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
