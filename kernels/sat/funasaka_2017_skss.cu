// Single kernel soft synchronisation (SKSS): every warp takes a row of tiles from left to right.
//
// Idea: a global counter gives rows of 32 x 32 tiles to warps. A warp keeps the row sums at the
//   right edge of its last tile in registers, waits for the bottom row of the tile above, and
//   publishes its own bottom row, so that warps follow each other down the picture like a
//   staircase.
// Shapes: tiles of 32 x 32 in shared memory, one warp each; blocks of 2 warps, which maximised the
//   resident threads of the paper's GPU; as many warps as rows of tiles.
// Reads and writes per element: the pixel once, the table once (1R1W); one word written and read
//   per 32 bits of every 32nd row.
// Launches: 1.
// Workspace: a header, and those words.
// Source: Shunji Funasaka, Koji Nakano, Yasuaki Ito, "Single Kernel Soft Synchronization Technique
//   for Task Arrays on CUDA-enabled GPUs, with Applications", CANDAR 2017.
// Departs from it in: {state, value} words in place of one flag per tile and reads of the table;
//   the sums from the left are added before columns are summed, whereas the paper adds the left
//   column afterwards and subtracts the corner.
#include "kernels/device/soft_synchronization.cuh"
#include "kernels/sat/pass.cuh"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int side = 32, warps_per_block = 2;
constexpr int tile_pitch = side + 1;  // rows and columns without bank conflicts

// The width rounded up to whole tiles.
constexpr int padded(int width) {
  return divide_up(width, side) * side;
}

template <class Pass>
__global__ void __launch_bounds__(32 * warps_per_block)
    skss_kernel(Pass pass, int tile_rows, Header* header, Word* words) {
  using Out = typename Pass::Out;
  __shared__ SharedArray<Out, warps_per_block * side * tile_pitch> tiles;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int tile = warp * side * tile_pitch;
  const std::ptrdiff_t part_stride = padded(pass.size.width),
                       words_per_row = parts<Out> * part_stride;
  const unsigned epoch = header->epoch;

  for (;;) {
    const unsigned drawn = lane == 0 ? atomicAdd(&header->ticket, 1u) : 0u;
    const int row = static_cast<int>(__shfl_sync(full_warp, drawn, 0));
    if (row >= tile_rows) {
      // Every warp draws one ticket too many; the warp that draws the very last one prepares the
      // header for the next launch.
      if (lane == 0 && row + 1 == tile_rows + static_cast<int>(gridDim.x) * warps_per_block) {
        header->ticket = 0;
        header->epoch = epoch + 1;
      }
      return;
    }
    const int y = row * side;
    Word* const bottom = words + row * words_per_row;
    Out left{};  // of the lane's row: the sum of all pixels in the tiles to the left

    for (int x = lane; x < part_stride; x += side) {
      FACESAT_UNROLL
      for (int k = 0; k < side; ++k) tiles[tile + k * tile_pitch + lane] = pass.value_at(x, y + k);
      __syncwarp();
      FACESAT_UNROLL
      for (int k = 0; k < side; ++k) {  // along the lane's row
        left += tiles[tile + lane * tile_pitch + k];
        tiles[tile + lane * tile_pitch + k] = left;
      }
      __syncwarp();
      Out sums[side];  // down the lane's column
      FACESAT_UNROLL
      for (int k = 0; k < side; ++k) {
        sums[k] = tiles[tile + k * tile_pitch + lane];
        if (k > 0) sums[k] += sums[k - 1];
      }
      const Out above =
          row > 0 ? wait_for<Out>(bottom - words_per_row + x, part_stride, epoch) : Out{};
      if (row + 1 < tile_rows)
        publish<Out>(bottom + x, part_stride, epoch, inclusive_total, above + sums[side - 1]);
      FACESAT_UNROLL
      for (int k = 0; k < side; ++k)
        if (pass.has(x, y + k)) pass.row(y + k)[x] = above + sums[k];
      __syncwarp();  // the next tile overwrites this one
    }
  }
}

std::size_t workspace_bytes(SatType type, Size size) {
  const std::size_t published = static_cast<std::size_t>(divide_up(size.height, side) - 1) *
                                static_cast<std::size_t>(padded(size.width));
  return header_bytes + published * (info_of(type).table_bytes / 4) * sizeof(Word);
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  auto* const header = static_cast<Header*>(workspace);
  auto* const words = reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes);
  const int tile_rows = divide_up(task.size.height, side);
  for_each_table(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(skss_kernel<Pass>, dim3(divide_up(tile_rows, warps_per_block)),
                   dim3(32, warps_per_block), stream, pass, tile_rows, header, words);
  });
}

}  // namespace

const SatAlgorithm funasaka_2017_skss{
    .id = "funasaka_2017_skss",
    .title = "Single kernel soft synchronisation: one row of tiles per warp (1R1W-SKSS)",
    .paper =
        "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays "
        "on CUDA-enabled GPUs, with Applications, CANDAR 2017",
    .year = 2017,
    .launches = 1,
    .reads = 1,
    .writes = 1,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
