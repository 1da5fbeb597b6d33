// Single kernel soft synchronisation with look-back (1R1W-SKSS-LB): row sums, column sums and a
// corner, each found by a look-back of its own (reading the published sums of preceding tiles, see
// soft_synchronization.cuh).
//
// Idea: the table in a tile follows from the pixels in it, from the sums of its rows over all tiles
//   to the left (GRS), of its columns over all tiles above (GCS), and from the sum of everything
//   above and to the left of its corner (GS). A tile publishes its local sums of rows and columns
//   (LRS, LCS), and adds up those of the tiles before it until one has published its global ones;
//   row and column sums give the sum of the L-shape of tiles that ends at this tile, and the
//   L-shapes along the diagonal add up to the corner.
// Shapes: tiles of 64 x 64 in shared memory, one block of 256 threads per tile; blocks draw tickets
//   for tiles along anti-diagonals. A thread alternates between a quarter of a column and a quarter
//   of a row.
// Reads and writes per element: the pixel once, the table once (1R1W); published words, 6 % of the
//   table's size, are written twice and read once or more.
// Launches: 1.
// Workspace: a header, and one word per 32 bits that a tile publishes: 64 row sums, 64 column sums,
//   the corner.
// Source: Yutaro Emoto, Shunji Funasaka, Hiroki Tokura, Takumi Honda, Koji Nakano, Yasuaki Ito, "An
//   Optimal Parallel Algorithm for Computing the Summed Area Table on the GPU", IPDPSW 2018;
//   written from a description of the method, not from the text.
// Our own choices: shapes; {state, value} words in place of flags and fences; the order in which
//   sums from outside are added (those from the left before columns are summed, those from above
//   afterwards); on request, a fallback: if a look-back gives up on a halted block, the block makes
//   its tile once more, with look-backs that compute what is missing from the picture.
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 64, quarters = 4, length = side / quarters, threads = side * quarters;
constexpr int tile_pitch = side + 1;  // rows and columns without bank conflicts

// The indices of what a tile publishes. With three values of padding after the corner, the words of
// every tile start on a 32-byte boundary.
constexpr int row_sums = 0, column_sums = side, corner_sum = 2 * side,
              values_per_tile = 2 * side + 4;

// What the threads of a block share: references to shared memory.
template <class T>
struct Shared {
  SharedArray<T, side * tile_pitch>& tile;
  SharedArray<T, threads>& row_parts;     // sums of quarters
  SharedArray<T, threads>& column_parts;  // the same
  SharedArray<T, side>& left;             // GRS of the tile to the left
  SharedArray<T, side>& above;            // GCS of the tile above, as running sums of 32 each
  SharedArray<T, 2>& strip;               // the sum of this tile's GRS, in two halves
  SharedArray<T, 1>& corner;              // GS of the tile above and to the left
  SharedArray<int, 1>& gave_up;           // whether a look-back did
};

// The thread's line (a column in scans down, a row in scans along rows), and its quarter of it.
struct Part {
  int thread = static_cast<int>(threadIdx.x), line = thread % side, quarter = thread / side,
      begin = quarter * length;
};

// What look-backs do about totals that stay missing.
enum class Missing { wait, give_up, compute };

// For look_back(). total_of(n): the total of the tile n before this one.
template <Missing missing, class T, class TotalOf>
__device__ __forceinline__ auto about_missing(Shared<T>& shared, TotalOf total_of) {
  if constexpr (missing == Missing::wait)
    return Wait{};
  else if constexpr (missing == Missing::give_up)
    return GiveUp{shared.gave_up};
  else
    return total_of;
}

// A tile, where it publishes its values, and in which epoch.
struct Published {
  int2 at;
  Word* own;
  std::ptrdiff_t to_left, to_above;  // to the words of these tiles
  unsigned epoch;
};

// The sum of all quarters of a line.
template <class T>
__device__ __forceinline__ T sum_of_quarters(SharedArray<T, threads>& parts, int line) {
  T total{};
  for (int q = 0; q < quarters; ++q) total += parts[q * side + line];
  return total;
}
// The quarters of the thread's line before its own, added to `base`.
template <class T>
__device__ __forceinline__ T add_quarters_before(T base, SharedArray<T, threads>& parts,
                                                 const Part& part) {
  for (int q = 0; q < part.quarter; ++q) base += parts[q * side + part.line];
  return base;
}

// Loads the tile and sums up the quarters of its columns. (x, y): the thread's first pixel.
template <class Pass, class T>
__device__ __forceinline__ void load_tile(const Pass& pass, int x, int y, const Part& part,
                                          Shared<T>& shared) {
  T column_part{};
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    const T v = pass.value_at(x, y + i);
    shared.tile[(part.begin + i) * tile_pitch + part.line] = v;
    column_part += v;
  }
  shared.column_parts[part.thread] = column_part;
}

// Scans the thread's quarter of a row.
template <class T>
__device__ __forceinline__ void scan_row_part(const Part& part, Shared<T>& shared,
                                              T (&sums)[length]) {
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    sums[i] = shared.tile[part.line * tile_pitch + part.begin + i];
    if (i > 0) sums[i] += sums[i - 1];
  }
  shared.row_parts[part.thread] = sums[length - 1];
}

// Two warps look back along the rows, two along the columns.
template <Missing missing, class Pass, class T>
__device__ __forceinline__ void look_back_along_lines(const Pass& pass, const Published& published,
                                                      const Part& part, Shared<T>& shared) {
  const int line = part.line, lane = part.thread % 32;
  const int2 at = published.at;
  if (part.quarter == 0) {
    const T total = sum_of_quarters(shared.row_parts, line);
    const auto total_of = [&](int n) {
      const int left = (at.x - n) * side, y = at.y * side + line;
      return pass.sum_of(left, left + side, y, y + 1);
    };
    const T before =
        look_back<1, T>(published.own + row_sums + line, values_per_tile, published.to_left, at.x,
                        total, published.epoch, about_missing<missing>(shared, total_of));
    shared.left[line] = before;
    const T half = warp_sum<T>(before + total);
    if (lane == 0) shared.strip[line / 32] = half;
  } else if (part.quarter == 1) {
    const T total = sum_of_quarters(shared.column_parts, line);
    const auto total_of = [&](int n) {
      const int x = at.x * side + line, top = (at.y - n) * side;
      return pass.sum_of(x, x + 1, top, top + side);
    };
    shared.above[line] = warp_inclusive_scan(
        look_back<1, T>(published.own + column_sums + line, values_per_tile, published.to_above,
                        at.y, total, published.epoch, about_missing<missing>(shared, total_of)));
  }
}

// One thread looks back along the diagonal, over the sums of L-shapes. A tile's L-shape runs from
// the left edge to the tile and from there to the upper edge.
template <Missing missing, class Pass, class T>
__device__ __forceinline__ void look_back_along_diagonal(const Pass& pass,
                                                         const Published& published,
                                                         Shared<T>& shared) {
  const int2 at = published.at;
  const auto l_shape_of = [&](int n) {
    const int left = (at.x - n) * side, top = (at.y - n) * side;
    return pass.sum_of(0, left + side, top, top + side) + pass.sum_of(left, left + side, 0, top);
  };
  const T l_shape = shared.strip[0] + shared.strip[1] + shared.above[31] + shared.above[63];
  shared.corner[0] = look_back<1, T>(
      published.own + corner_sum, values_per_tile, published.to_above + published.to_left,
      min(at.x, at.y), l_shape, published.epoch, about_missing<missing>(shared, l_shape_of));
}

// Replaces the thread's quarter of a row by its sums from the picture's left edge on.
template <class T>
__device__ __forceinline__ void store_row_part(const Part& part, const T (&sums)[length],
                                               Shared<T>& shared) {
  const T base = add_quarters_before<T>(shared.left[part.line], shared.row_parts, part);
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i)
    shared.tile[part.line * tile_pitch + part.begin + i] = base + sums[i];
}

// Scans the thread's quarter of a column of these sums, and writes the table.
template <class Pass, class T>
__device__ __forceinline__ void write_column_part(const Pass& pass, int x, int y, const Part& part,
                                                  T (&sums)[length], Shared<T>& shared) {
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    sums[i] = shared.tile[(part.begin + i) * tile_pitch + part.line];
    if (i > 0) sums[i] += sums[i - 1];
  }
  shared.column_parts[part.thread] = sums[length - 1];
  __syncthreads();
  T base = shared.corner[0] + shared.above[part.line];
  if (part.line >= 32) base += shared.above[31];
  base = add_quarters_before<T>(base, shared.column_parts, part);
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i)
    if (pass.has(x, y + i)) pass.row(y + i)[x] = base + sums[i];
}

// Makes the tile's part of the table. Returns false if a look-back gave up.
template <Missing missing, class Pass, class T>
__device__ __forceinline__ bool make_tile(const Pass& pass, const Published& published,
                                          Shared<T>& shared) {
  const auto gave_up = [&] { return missing == Missing::give_up && shared.gave_up[0] != 0; };
  const Part part;
  const int x = published.at.x * side + part.line, y = published.at.y * side + part.begin;
  T sums[length];

  load_tile(pass, x, y, part, shared);
  __syncthreads();
  scan_row_part(part, shared, sums);
  __syncthreads();
  look_back_along_lines<missing>(pass, published, part, shared);
  __syncthreads();
  if (gave_up()) return false;
  if (part.thread == 0) look_back_along_diagonal<missing>(pass, published, shared);
  store_row_part(part, sums, shared);
  __syncthreads();
  if (gave_up()) return false;
  write_column_part(pass, x, y, part, sums, shared);
  return true;
}

// Slow, but needs no other block. Takes copies, so that the usual way has all of it in registers.
template <class Pass, class T>
FACESAT_NOINLINE __device__ void make_tile_alone(Pass pass, Published published, Shared<T> shared) {
  make_tile<Missing::compute>(pass, published, shared);
}

template <bool gives_up, class Pass>
__global__ void __launch_bounds__(threads, (sizeof(typename Pass::Out) == 8 ? 2 : 3) + gives_up)
    skss_lb_kernel(Pass pass, Tiles tiles, Header* header, Word* words) {
  using Out = typename Pass::Out;
  constexpr int words_per_tile = parts<Out> * values_per_tile;
  __shared__ SharedArray<Out, side * tile_pitch> tile;
  __shared__ SharedArray<Out, threads> row_parts, column_parts;
  __shared__ SharedArray<Out, side> left;
  __shared__ SharedArray<Out, side> above;
  __shared__ SharedArray<Out, 2> strip;
  __shared__ SharedArray<Out, 1> corner;
  __shared__ SharedArray<int, 1> gave_up;
  Shared<Out> shared{tile, row_parts, column_parts, left, above, strip, corner, gave_up};
  const auto [at, epoch] = draw_tile(header, tiles);
  const Published published{
      at, words + (static_cast<std::ptrdiff_t>(at.y) * tiles.across + at.x) * words_per_tile,
      -words_per_tile, -static_cast<std::ptrdiff_t>(tiles.across) * words_per_tile, epoch};
  if constexpr (gives_up) {
    if (threadIdx.x == 0) gave_up[0] = 0;
    if (!make_tile<Missing::give_up>(pass, published, shared))
      make_tile_alone(pass, published, shared);
  } else {
    make_tile<Missing::wait>(pass, published, shared);
  }
  if (threadIdx.x == 0) finish(header, tiles.count(), epoch);
}

constexpr Tiles tiles_of(Size size) {
  return {divide_up(size.width, side), divide_up(size.height, side)};
}

std::size_t workspace_bytes(SatType type, Size size) {
  return header_bytes + static_cast<std::size_t>(tiles_of(size).count()) * values_per_tile *
                            (info_of(type).table_bytes / 4) * sizeof(Word);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  auto* const header = static_cast<Header*>(workspace);
  auto* const words = reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
  const Tiles tiles = tiles_of(task.size);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    const auto launch = [&]<bool gives_up>() {
      FACESAT_LAUNCH((skss_lb_kernel<gives_up, Pass>), dim3(tiles.count()), dim3(threads), stream,
                     pass, tiles, header, words);
    };
    if (task.parameter == 0)
      launch.template operator()<false>();
    else
      launch.template operator()<true>();
  });
}

}  // namespace

const SatAlgorithm emoto_2018_skss_lb{
    .id = "emoto_2018_skss_lb",
    .title = "Single pass, look-back for rows, columns and corner (1R1W-SKSS-LB)",
    .source =
        "Emoto, Funasaka, Tokura, Honda, Nakano, Ito: An Optimal Parallel Algorithm for "
        "Computing the Summed Area Table on the GPU, IPDPSW 2018",
    .year = 2018,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
    .parameter = &fallback_parameter,
};

}  // namespace facesat::gpu
