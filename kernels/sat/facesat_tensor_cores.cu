// The tables of 8-bit pictures by matrix products on tensor cores; in one pass, with look-back.
//
// Idea: multiplied by a triangular matrix of ones, a matrix becomes its prefix sums: with L for the
//   lower triangle, L * A has the prefix sums of A's columns, A * L^T those of its rows, and
//   L * A * L^T is the SAT (summed area table) of A. Tensor cores multiply matrices of bytes and
//   add up in 32 bits, so that all products are exact. The first one takes pixels and gives sums of
//   up to 64 in a row, which have 14 bits; the second one takes these in two digits, with L for
//   the lower and 256 * L for the upper ones. Tiles meet as those of facesat_lookback do: only the
//   arithmetic within a tile differs.
// Shapes: a part of 64 x 16 pixels at a time, eight adjacent ones of a row per lane; warps have one
//   part, or two below each other, in registers; tiles of 128 x 64, 128 x 128 or 512 x 128
//   (choose_shape).
// Squares: that of a pixel is two bytes, and a row's sums have three digits, so that each product
//   becomes two.
// Reads and writes per element: the pixel once, each table once (1R1W); 2 to 4 % of that for
//   published words.
// Launches: 1.
// Workspace: a header, and a word of 64 bits for each of a tile's row and column totals.
// Source: our own. Scans by triangular matrices on tensor cores are Dakkak, Li, Xiong, Gelado and
//   Hwu's ("Accelerating Reduction and Scan Using Tensor Core Units", ICS 2019), in half precision.
// Other types than integer tables of 8-bit pictures are left to facesat_lookback.
//
// Between load, products and store, no element moves from lane to lane. Row k of a second factor
// may be any row if column k of the first is the one that belongs to it; as first factors are
// computed, they follow whatever order suits the lanes: the pixels that a lane loads at once, the
// sums that the first product leaves in a lane, the four adjacent elements that it stores at once.
// The products take both passes over the pixels, before and after the look-backs, because tensor
// cores have nothing else to do, and registers for the table would be more than those for pixels.
#include "kernels/device/matrix.hpp"
#include "kernels/sat/lookback.cuh"

namespace facesat::gpu {
namespace {

using Sum = std::uint32_t;

// What a warp multiplies at once: strips of 32 columns, the depth of the first product, and bands
// of 8 rows, its columns.
constexpr int strips = 2, bands = 2, part_width = 32 * strips, part_height = 8 * bands;

// Each warp has `parts`, one below the other.
template <int warps_across_, int warps_down_, int parts_, int blocks_, int window_, bool streams_>
struct Shape {
  static constexpr int warps_across = warps_across_, warps_down = warps_down_, parts = parts_;
  static constexpr int threads = 32 * warps_across * warps_down,
                       rows_per_warp = part_height * parts, tile_width = part_width * warps_across,
                       tile_height = rows_per_warp * warps_down;
  static constexpr int blocks = blocks_, window = window_;
  static constexpr bool streams = streams_;
  __device__ static int column_at(int i) { return i; }
};

// ---- pixels

// Eight adjacent pixels of a row: two words of a factor's column.
using Eight = std::uint32_t[2];

// Those of strip s, band b: columns 32 * s + 8 * (lane % 4) and following of row 8 * b + lane / 4.
struct Part {
  Eight pixels[strips][bands];

  // Lets what follows from them be computed again, instead of being kept in registers.
  __device__ __forceinline__ void forget_origin() {
    FACESAT_UNROLL
    for (int i = 0; i < strips * bands * 2; ++i)
      make_opaque(pixels[i / 2 / bands][i / 2 % bands][i % 2]);
  }
};

// Loads from row[x] on; zeros past `width`.
__device__ __forceinline__ void load_eight(const std::uint8_t* row, int x, int width, Eight& to) {
  FACESAT_UNROLL
  for (int i = 0; i < 8; ++i)
    if (x + i < width) to[i / 4] |= static_cast<std::uint32_t>(row[x + i]) << 8 * (i % 4);
}

// Loads the part whose upper left pixel is (x, y). As in load_rows(), lanes out of range re-read
// valid elements, without branches, and lanes that the right edge cuts load again.
template <bool all_inside, class Tables>
__device__ __forceinline__ void load_part(const Tables& task, int x, int y, Part& part) {
  const int lane = static_cast<int>(lane_of_thread());
  const auto [width, height] = task.size;
  const auto at = [&](int i) {
    return int2{x + 8 * (lane % 4) + 32 * (i / bands), y + lane / 4 + 8 * (i % bands)};
  };
  FACESAT_UNROLL
  for (int i = 0; i < strips * bands; ++i) {
    const int2 own = at(i);
    const bool has_eight = all_inside || own.x + 8 <= width;
    uint2 eight{};
    if (all_inside || width >= 8)
      eight = *reinterpret_cast<const uint2*>(
          task.input + (all_inside ? own.y : min(own.y, height - 1)) * task.input_pitch +
          (has_eight ? own.x : 0));
    const bool is_valid = all_inside || (has_eight && own.y < height);
    Eight& pixels = part.pixels[i / bands][i % bands];
    pixels[0] = is_valid ? eight.x : 0;
    pixels[1] = is_valid ? eight.y : 0;
  }
  FACESAT_UNROLL
  for (int i = 0; i < strips * bands; ++i) {
    const int2 own = at(i);
    if (!all_inside && own.x < width && own.x + 8 > width && own.y < height)
      load_eight(task.input + own.y * task.input_pitch, own.x, width,
                 part.pixels[i / bands][i % bands]);
  }
}

// ---- triangles of ones

// A word of which the first n bytes are 1, at most `most`.
__device__ __forceinline__ std::uint32_t first_ones(int n, int most = 4) {
  return n > 0 ? 0x01010101u >> 8 * (4 - min(n, most)) : 0;
}

// The column of half `half` of a strip that is row lane / 4 + 8 * i of a product.
__device__ __forceinline__ int column_of_row(int half, int i) {
  const int row = static_cast<int>(lane_of_thread()) / 4;
  return 16 * half + 4 * (row / 2) + row % 2 + 2 * i;
}

// The first factors of both products, as multiply_add() takes them.
struct Triangles {
  // Of the halves of a strip. Row r and column k have a one if the column of the strip that k
  // stands for is not to the right of that of r.
  std::uint32_t across[2][4];
  // Row r and column k have a one, or 64 if k stands for an upper digit, if the row of the part
  // that k stands for is not below r.
  std::uint32_t down[4];

  __device__ __forceinline__ Triangles() {
    const int lane = static_cast<int>(lane_of_thread());
    FACESAT_UNROLL
    for (int i = 0; i < 8; ++i)
      across[i / 4][i % 4] =
          first_ones(column_of_row(i / 4, i % 2) + 1 - 8 * (lane % 4) - 4 * (i % 4 / 2));
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int n = lane / 4 + 8 * i + 1 - 2 * (lane % 4);
      down[i] = first_ones(n, 2) | first_ones(n - 8, 2) << 16;
      down[i + 2] = down[i] << 6;
    }
  }
};

// ---- products

// Splits four values into their lower bytes and their second bytes.
__device__ __forceinline__ void split(const Sum (&v)[4], std::uint32_t& low, std::uint32_t& high) {
  const std::uint32_t first = __byte_perm(v[0], v[1], 0x5410),
                      second = __byte_perm(v[2], v[3], 0x5410);
  low = __byte_perm(first, second, 0x6420);
  high = __byte_perm(first, second, 0x7531);
}

// Adds the product of `rows` and 256 times the columns.
__device__ __forceinline__ void add_256_times(Sum (&sums)[4], const std::uint32_t (&rows)[4],
                                              const Eight& columns) {
  Sum upper[4]{};
  multiply_add(upper, rows, columns);
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) sums[i] += upper[i] << 8;
}

// Adds the product of half a triangle and the pixels' values.
template <bool of_squares>
__device__ __forceinline__ void add_row_sums(Sum (&sums)[4], const std::uint32_t (&across)[4],
                                             const Eight& pixels) {
  if constexpr (of_squares) {
    Eight low, high;
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      Sum squares[4];
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) {
        const Sum pixel = pixels[i] >> 8 * k & 0xFF;
        squares[k] = pixel * pixel;
      }
      split(squares, low[i], high[i]);
    }
    multiply_add(sums, across, low);
    add_256_times(sums, across, high);
  } else {
    multiply_add(sums, across, pixels);
  }
}

// Calls visit(s, half, sums) with the row sums in each half of each strip: sums[b][i] is that of
// row 8 * b + 2 * (lane % 4) + i % 2, from the part's left edge up to and including column 32 * s +
// column_of_row(half, i / 2). In the end, totals[b][i] are those of whole rows.
template <bool of_squares, class Visit>
__device__ __forceinline__ void visit_row_sums(Part& part, const Triangles& ones,
                                               Sum (&totals)[bands][2], Visit visit) {
  part.forget_origin();
  FACESAT_UNROLL
  for (int i = 0; i < bands * 2; ++i) totals[i / 2][i % 2] = 0;
  FACESAT_UNROLL
  for (int step = 0; step < 2 * strips; ++step) {
    const int s = step / 2, half = step % 2;
    Sum sums[bands][4];
    FACESAT_UNROLL
    for (int b = 0; b < bands; ++b) {
      FACESAT_UNROLL
      for (int i = 0; i < 4; ++i) sums[b][i] = totals[b][i % 2];
      add_row_sums<of_squares>(sums[b], ones.across[half], part.pixels[s][b]);
    }
    visit(s, half, sums);
    if (half == 0) continue;
    const int last = 28 + static_cast<int>(lane_of_thread()) % 4;  // has column 31 of the strip
    FACESAT_UNROLL
    for (int i = 0; i < bands * 2; ++i)
      totals[i / 2][i % 2] = __shfl_sync(full_warp, sums[i / 2][2 + i % 2], last);
  }
}

// Adds the table of the part alone, in two columns: those of row_sums[b][2 * i] and of the next
// one. The row sums are split into digits of 8 bits, of which the last one has 6 and is multiplied
// by 4: two, or three of sums of squares.
template <bool of_squares>
__device__ __forceinline__ void add_column_sums(Sum (&sums)[4], const Triangles& ones,
                                                const Sum (&row_sums)[bands][4], int i) {
  const Sum v[4]{row_sums[0][2 * i], row_sums[0][2 * i + 1], row_sums[1][2 * i],
                 row_sums[1][2 * i + 1]};
  Eight digits;
  split(v, digits[0], digits[1]);
  if constexpr (of_squares) {
    const std::uint32_t third =
        __byte_perm(__byte_perm(v[0], v[1], 0x0062), __byte_perm(v[2], v[3], 0x0062), 0x5410);
    multiply_add(sums, ones.down, Eight{digits[0], 0});
    add_256_times(sums, ones.down, Eight{digits[1], third << 2});
  } else {
    digits[1] <<= 2;
    multiply_add(sums, ones.down, digits);
  }
}

// ---- the kernel

// Where a warp's rows and columns are in the shared arrays, in table t.
template <class Tables>
struct Places {
  int warp_x, warp_y;

  __device__ __forceinline__ Places() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    warp_x = warp % Tables::warps_across;
    warp_y = warp / Tables::warps_across;
  }
  __device__ __forceinline__ int row(int t, int y) const {
    return warp_x * Tables::row_values + t * Tables::tile_height + Tables::rows_per_warp * warp_y +
           y;
  }
  __device__ __forceinline__ int column(int t, int x) const {
    return warp_y * Tables::column_values + t * Tables::tile_width + part_width * warp_x + x;
  }
};

// Puts the totals of the warp's rows and columns into shared memory. Those of columns are prefix
// sums along the part.
template <int t, class Tables>
__device__ __forceinline__ void put_totals(Part (&parts)[Tables::parts], const Triangles& ones,
                                           const Places<Tables>& places,
                                           typename Tables::RowBase& row_base,
                                           typename Tables::ColumnBase& column_base) {
  const int lane = static_cast<int>(lane_of_thread()), quarter = lane % 4;
  FACESAT_UNROLL
  for (int p = 0; p < Tables::parts; ++p) {
    Sum totals[bands][2];
    const auto add_columns = [&](int s, int half, const Sum(&sums)[bands][4]) {
      Sum of_column[2]{};
      FACESAT_UNROLL
      for (int i = 0; i < bands * 4; ++i) of_column[i % 4 / 2] += sums[i / 4][i % 4];
      // Four lanes have parts of both columns; the odd ones add up the second.
      const bool is_odd = quarter % 2 == 1;
      Sum total = is_odd ? of_column[1] : of_column[0];
      total += __shfl_xor_sync(full_warp, is_odd ? of_column[0] : of_column[1], 1);
      total += __shfl_xor_sync(full_warp, total, 2);
      if (quarter >= 2) return;
      const int at = places.column(t, 32 * s + column_of_row(half, quarter));
      if (p > 0) total += column_base[at];
      column_base[at] = total;
    };
    visit_row_sums<Tables::of_squares(t)>(parts[p], ones, totals, add_columns);
    if (lane < 4) {
      FACESAT_UNROLL
      for (int i = 0; i < bands * 2; ++i)
        row_base[places.row(t, part_height * p + i / 2 * 8 + 2 * lane + i % 2)] =
            totals[i / 2][i % 2];
    }
  }
}

// After the look-back along rows: replaces what lies to the left of each of the warp's rows by its
// prefix sums down the rows, and adds the last one to the totals of the warp's columns.
template <int t, class Tables>
__device__ __forceinline__ void add_left(const Places<Tables>& places,
                                         typename Tables::RowBase& row_base,
                                         typename Tables::ColumnBase& column_base) {
  static_assert(Tables::rows_per_warp <= 32 && part_width == 64, "a lane has a row, two columns");
  const int lane = static_cast<int>(lane_of_thread());
  const bool has_row = lane < Tables::rows_per_warp;
  Sum left = 0;
  if (has_row) left = row_base[places.row(t, lane)];
  left = warp_inclusive_scan(left);
  if (has_row) row_base[places.row(t, lane)] = left;
  const Sum total = __shfl_sync(full_warp, left, 31);
  column_base[places.column(t, lane)] += total;
  column_base[places.column(t, lane + 32)] += total;
}

// Stores the warp's part of the table, whose upper left element is (x, y).
template <int t, bool all_inside, class Tables>
__device__ __forceinline__ void store_table(const Tables& task, int x, int y,
                                            Part (&parts)[Tables::parts], const Triangles& ones,
                                            const Places<Tables>& places,
                                            typename Tables::RowBase& row_base,
                                            typename Tables::ColumnBase& column_base) {
  constexpr bool of_squares = Tables::of_squares(t);
  const int lane = static_cast<int>(lane_of_thread()), row = lane / 4, quarter = lane % 4;
  FACESAT_UNROLL
  for (int p = 0; p < Tables::parts; ++p, y += part_height) {
    const Sum left[2]{row_base[places.row(t, part_height * p + row)],
                      row_base[places.row(t, part_height * p + row + 8)]};
    const auto store = [&](int s, int half, const Sum(&sums)[bands][4]) {
      const int column = 32 * s + 16 * half + 4 * quarter;
      Sum above[4];
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) above[k] = column_base[places.column(t, column + k)];
      Sum table[2][4];  // two columns in each
      FACESAT_UNROLL
      for (int i = 0; i < 2; ++i) {
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k) table[i][k] = above[2 * i + k % 2] + left[k / 2];
        add_column_sums<of_squares>(table[i], ones, sums, i);
      }
      FACESAT_UNROLL
      for (int i = 0; i < 2; ++i) {
        const int own_y = y + row + 8 * i;
        const Four<Sum> four{
            {table[0][2 * i], table[0][2 * i + 1], table[1][2 * i], table[1][2 * i + 1]}};
        Sum* const to = task.table[t] + own_y * task.pitch[t];
        if constexpr (all_inside)
          store_fours<Tables::streams>(to, x + column, four);
        else if (own_y < task.size.height)
          store_four(to, x + column, task.size.width, four);
      }
      if (p + 1 == Tables::parts) return;
      __syncwarp();  // all lanes have read what lies above this part
      if (row == 7) {
        FACESAT_UNROLL
        for (int k = 0; k < 4; ++k)
          column_base[places.column(t, column + k)] = table[k / 2][2 + k % 2] - left[1];
      }
    };
    Sum totals[bands][2];
    visit_row_sums<of_squares>(parts[p], ones, totals, store);
    __syncwarp();
  }
}

template <class Tables>
__global__ void __launch_bounds__(Tables::threads, Tables::blocks)
    tensor_cores_kernel(FACESAT_PARAMETER(Tables) task, Tiles tiles, Header* header, Word* words) {
  __shared__ typename Tables::RowBase row_base;
  __shared__ typename Tables::ColumnBase column_base;
  __shared__ SharedArray<int, 1> gave_up;
  const PublishedTile<Tables> published(draw_tile(header, tiles), tiles, words);
  const auto end = [&] {
    if (threadIdx.x == 0) finish(header, tiles.count(), published.epoch);
  };
  const auto store_alone = [&] {
    facesat::gpu::store_alone(task, published, row_base);
    end();
  };
  const int2 tile = published.tile;
  const Places<Tables> places;
  const int x = tile.x * Tables::tile_width + part_width * places.warp_x;
  const int y = tile.y * Tables::tile_height + Tables::rows_per_warp * places.warp_y;
  const bool is_inside = (tile.x + 1) * Tables::tile_width <= task.size.width &&
                         (tile.y + 1) * Tables::tile_height <= task.size.height;

  Part parts[Tables::parts];
  specialise(is_inside, [&]<bool all_inside>() {
    FACESAT_UNROLL
    for (int p = 0; p < Tables::parts; ++p)
      load_part<all_inside>(task, x, y + part_height * p, parts[p]);
  });
  const Triangles ones;
  for_each_index<Tables::count>(
      [&]<int t>() { put_totals<t>(parts, ones, places, row_base, column_base); });
  if (threadIdx.x == 0) gave_up[0] = 0;
  __syncthreads();
  if (published.look_back_along_rows(row_base, gave_up)) return store_alone();
  for_each_index<Tables::count>([&]<int t>() { add_left<t>(places, row_base, column_base); });
  __syncthreads();
  if (published.look_back_along_columns(column_base, gave_up)) return store_alone();
  specialise(is_inside, [&]<bool all_inside>() {
    for_each_index<Tables::count>([&]<int t>() {
      store_table<t, all_inside>(task, x, y, parts, ones, places, row_base, column_base);
    });
  });
  end();
}

struct TensorCores {
  // Calls with_shape(Shape{}) with a shape whose tiles are those of facesat_lookback.
  template <class, class, bool both, class WithShape>
  static void choose_shape(Size size, WithShape with_shape) {
    // On the host, where kernels are only tested, much smaller pictures reach every shape.
    constexpr double mega = on_host ? 3e3 : 1e6;
    if (size.area() < 3 * mega)
      with_shape(Shape < 2, 4, 1, both ? 3 : 4, 4, false > {});
    else if (size.area() < 14 * mega)
      with_shape(Shape < 2, 4, 2, both ? 3 : 4, 1, true > {});
    else
      with_shape(Shape<8, 4, 2, 1, 1, true>{});
  }

  template <class Tables>
  static void launch(const Tables& task, Tiles tiles, Header* header, Word* words,
                     StreamHandle stream) {
    FACESAT_LAUNCH(tensor_cores_kernel<Tables>, dim3(tiles.count()), dim3(Tables::threads), stream,
                   task, tiles, header, words);
  }
};

bool is_for_tensor_cores(SatType type) {
  return type == SatType::u8_s32 || type == SatType::u8_u32;
}

std::size_t workspace_bytes(SatType type, Size size) {
  return is_for_tensor_cores(type) ? lookback_bytes<TensorCores, std::uint8_t, Sum>(size)
                                   : facesat_lookback.workspace_bytes(type, size);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  if (is_for_tensor_cores(task.type))
    enqueue_lookback<TensorCores, std::uint8_t, Sum>(task, workspace, stream);
  else
    facesat_lookback.enqueue(task, workspace, stream);
}

}  // namespace

const SatAlgorithm facesat_tensor_cores{
    .id = "facesat_tensor_cores",
    .title = "Single pass with look-back, sums of 8-bit pixels by tensor cores (1R1W)",
    .source = "facesat's own, after Dakkak et al. 2019",
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
