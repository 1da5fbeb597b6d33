// One pass by blocks that stay: each block adds up the tiles that the others have taken meanwhile.
//
// Idea: as many blocks as run at a time take tiles in turns. A block publishes the total of its
//   tile as soon as it has it, for which it needs nobody. It keeps what is before its own last
//   tile's end, so to know what is before this one it needs the totals of the tiles in between: one
//   for each other block, which its threads read at once. So every total is added up by all blocks,
//   in exchange for waiting no longer than until the tiles before are loaded: there is no chain.
// Shapes: tiles of up to seven vectors of 16 bytes per thread, in registers; a thread for each
//   total.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: S. Maleki, A. Yang, M. Burtscher, "Higher-order and Tuple-based Massively-parallel Prefix
//   Sums", PLDI 2016 (SAM), as its abstract and its authors' program describe it.
// Departs from it in: only scans of order 1 of single elements; the paper also repeats a scan
//   within the pass (higher orders) and interleaves several (tuples), with as many totals per tile.
//   Tiles are drawn from a counter, not dealt out by the number of the block, so that a block waits
//   only for those that run; how many tiles others take in between is therefore not fixed, and each
//   tile has a word of its own instead of a place in a circular array. {state, value} words, which
//   need no fence, and an epoch in the state, so that nothing is reset between launches. The paper
//   has two blocks of 1024 threads per multiprocessor, and a single element per access.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int most_threads = 512;

template <int rows, class Pass>
__global__ void __launch_bounds__(most_threads)
    sam_kernel(Pass pass, int tiles, Header* header, Word* words) {
  using T = typename Pass::T;
  using Tile = RegisterTile<Pass, rows>;
  __shared__ SharedArray<T, 32> totals;  // of the warps
  __shared__ SharedArray<T, 32> others;  // for the scan of other tiles' totals
  __shared__ SharedArray<int, 1> next;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int lane = static_cast<int>(lane_of_thread()), warp = thread / 32;
  const auto [first, epoch] = draw_ticket(header);
  T before = pass.op.identity();  // the combination of all tiles before number `known`
  int known = 0;
  for (int number = first; number < tiles; number = next[0]) {
    const int begin = number * Tile::elements(threads);
    Tile tile;
    tile.load(pass, begin, threads);
    const T of_warp = tile.scan(pass);
    if (lane == 0) totals[warp] = of_warp;
    __syncthreads();
    const T scanned = KoggeStoneLanes::scan(
        pass.op, lane < threads / 32 ? static_cast<T>(totals[lane]) : pass.op.identity());
    const T total = __shfl_sync(full_warp, scanned, 31);
    // Nothing else is ever published of a tile.
    if (thread == 0) publish(words + number * parts<T>, 1, epoch, inclusive_total, total);
    if (thread == threads - 1) next[0] = static_cast<int>(atomicAdd(&header->ticket, 1u));
    for (; known < number; known += threads) {
      const int other = known + thread;
      const T own =
          other < number ? wait_for<T>(words + other * parts<T>, 1, epoch) : pass.op.identity();
      before = pass.op(before, scan_block<KoggeStoneLanes>(pass.op, own, others).total);
      __syncthreads();  // the next turn overwrites the shared memory
    }
    const T previous = __shfl_sync(full_warp, scanned, max(warp - 1, 0));
    tile.store(pass, begin, warp > 0 ? pass.op(before, previous) : before);
    before = pass.op(before, total);
    known = number + 1;
    __syncthreads();
  }
  if (thread == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 128, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 7, vector_choices}};

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const int threads = task.settings[0], tiles = divide_up(task.n, tile_of_settings(task));
  with_rows<1, 2, 4, 7>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      const int blocks = std::min(tiles, resident_blocks(sam_kernel<rows, Pass>, threads));
      FACESAT_LAUNCH((sam_kernel<rows, Pass>), dim3(static_cast<unsigned>(blocks)),
                     dim3(static_cast<unsigned>(threads)), stream, pass, tiles,
                     static_cast<Header*>(workspace), words_of(workspace));
    });
  });
}

}  // namespace

const ScanAlgorithm maleki_2016_sam{
    .id = "maleki_2016_sam",
    .title = "SAM: blocks that stay add up the tiles of all others",
    .source =
        "Maleki, Yang, Burtscher: Higher-order and Tuple-based Massively-parallel Prefix Sums, "
        "PLDI 2016",
    .year = 2016,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) { return published_bytes(task, tile_of_settings(task)); },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
