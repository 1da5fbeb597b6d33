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
//   afterwards).
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"
#include "kernels/sat/tile_order.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 64, quarters = 4, length = side / quarters, threads = side * quarters;
constexpr int tile_pitch = side + 1;  // rows and columns without bank conflicts

// The indices of what a tile publishes. With three values of padding after the corner, the words of
// every tile start on a 32-byte boundary.
constexpr int row_sums = 0, column_sums = side, corner_sum = 2 * side,
              values_per_tile = 2 * side + 4;

template <class Pass>
__global__ void __launch_bounds__(threads, sizeof(typename Pass::Out) == 8 ? 2 : 3)
    skss_lb_kernel(Pass pass, Tiles tiles, Header* header, Word* words) {
  using Out = typename Pass::Out;
  constexpr int words_per_tile = parts<Out> * values_per_tile;
  __shared__ SharedArray<Out, side * tile_pitch> tile;
  __shared__ SharedArray<Out, threads> row_parts, column_parts;  // sums of quarters
  __shared__ SharedArray<Out, side> left;                        // GRS of the tile to the left
  __shared__ SharedArray<Out, side> above;  // GCS of the tile above, as running sums of 32 each
  __shared__ SharedArray<Out, 2> strip;     // the sum of this tile's GRS, in two halves
  __shared__ SharedArray<Out, 1> corner;    // GS of the tile above and to the left
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const auto [at, epoch] = draw_tile(header, tiles);
  Word* const own =
      words + (static_cast<std::ptrdiff_t>(at.y) * tiles.across + at.x) * words_per_tile;
  constexpr std::ptrdiff_t to_left = -words_per_tile;
  const std::ptrdiff_t to_above = -static_cast<std::ptrdiff_t>(tiles.across) * words_per_tile;

  // The thread's line (a column in scans down, a row in scans along rows), and its quarter of it.
  const int line = thread % side, quarter = thread / side, begin = quarter * length;
  const int x = at.x * side + line, y = at.y * side + begin;
  Out column_part{};
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    const Out v = pass.value_at(x, y + i);
    tile[(begin + i) * tile_pitch + line] = v;
    column_part += v;
  }
  column_parts[thread] = column_part;
  __syncthreads();

  Out sums[length];  // along the row
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {
    sums[i] = tile[line * tile_pitch + begin + i];
    if (i > 0) sums[i] += sums[i - 1];
  }
  row_parts[thread] = sums[length - 1];
  __syncthreads();

  // Two warps look back along the rows, two along the columns.
  if (quarter == 0) {
    Out total{};
    for (int q = 0; q < quarters; ++q) total += row_parts[q * side + line];
    const Out before =
        look_back<1, Out>(own + row_sums + line, values_per_tile, to_left, at.x, total, epoch);
    left[line] = before;
    const Out half = warp_sum<Out>(before + total);
    if (lane == 0) strip[line / 32] = half;
  } else if (quarter == 1) {
    Out total{};
    for (int q = 0; q < quarters; ++q) total += column_parts[q * side + line];
    above[line] = warp_inclusive_scan(
        look_back<1, Out>(own + column_sums + line, values_per_tile, to_above, at.y, total, epoch));
  }
  __syncthreads();

  // Then one thread looks back along the diagonal, over the sums of L-shapes. A tile's L-shape runs
  // from the left edge to the tile and from there to the upper edge.
  if (thread == 0) {
    const Out l_shape = strip[0] + strip[1] + above[31] + above[63];
    corner[0] = look_back<1, Out>(own + corner_sum, values_per_tile, to_above + to_left,
                                  min(at.x, at.y), l_shape, epoch);
  }

  Out base = left[line];
  for (int q = 0; q < quarter; ++q) base += row_parts[q * side + line];
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) tile[line * tile_pitch + begin + i] = base + sums[i];
  __syncthreads();

  FACESAT_UNROLL
  for (int i = 0; i < length; ++i) {  // down the column
    sums[i] = tile[(begin + i) * tile_pitch + line];
    if (i > 0) sums[i] += sums[i - 1];
  }
  column_parts[thread] = sums[length - 1];
  __syncthreads();
  base = corner[0] + above[line];
  if (line >= 32) base += above[31];
  for (int q = 0; q < quarter; ++q) base += column_parts[q * side + line];
  FACESAT_UNROLL
  for (int i = 0; i < length; ++i)
    if (pass.has(x, y + i)) pass.row(y + i)[x] = base + sums[i];

  if (thread == 0) finish(header, tiles.count(), epoch);
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
    FACESAT_LAUNCH(skss_lb_kernel<Pass>, dim3(tiles.count()), dim3(threads), stream, pass, tiles,
                   header, words);
  });
}

}  // namespace

const SatAlgorithm emoto_2018_skss_lb{
    .id = "emoto_2018_skss_lb",
    .title = "Single pass, look-back for rows, columns and corner (1R1W-SKSS-LB)",
    .paper =
        "Emoto, Funasaka, Tokura, Honda, Nakano, Ito: An Optimal Parallel Algorithm for "
        "Computing the Summed Area Table on the GPU, IPDPSW 2018",
    .year = 2018,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
