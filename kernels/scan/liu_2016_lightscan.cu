// One pass by blocks that stay: each tile waits for the total of the tile before it.
//
// Idea: as many blocks as run at a time take tiles in turns. A tile's elements are scanned in
//   registers, row by row of a warp, by shuffles, and so are the totals of the warps. Then the
//   block waits for the combination of everything up to the end of the tile before, which is one
//   word that is read and written in the L2 cache, publishes its own, and stores its results.
// Shapes: tiles of up to seven vectors of 16 bytes per thread, in registers.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: Y. Liu and S. Aluru, "LightScan: Faster Scan Primitive on CUDA Compatible Manycore
//   Processors", arXiv:1604.04815, 2016, as its abstract and its authors' program describe it.
// Departs from it in: as many blocks as are resident, which with 1024 threads is one per
//   multiprocessor in most cases, as there; tiles are drawn from a counter, not dealt out by the
//   number of the block, so that a block waits only for those that run; a lane has a vector of each
//   row, not one element, so that there are fewer shuffles; one thread waits, not all of them;
//   {state, value} words, also for 64 bits, and an epoch in the state, so that nothing is reset
//   between launches.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int most_threads = 1024;

template <int rows, class Pass>
__global__ void __launch_bounds__(most_threads)
    light_kernel(Pass pass, int tiles, Header* header, Word* words) {
  using T = typename Pass::T;
  using Tile = RegisterTile<Pass, rows>;
  __shared__ SharedArray<T, 32> totals;  // of the warps
  __shared__ SharedArray<T, 32> before;  // the combination of all elements before each of them
  __shared__ SharedArray<int, 1> next;
  const int threads = static_cast<int>(blockDim.x), warps = threads / 32;
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  const auto [first, epoch] = draw_ticket(header);
  for (int number = first; number < tiles; number = next[0]) {
    const int begin = number * Tile::elements(threads);
    Tile tile;
    tile.load(pass, begin, threads);
    const T of_warp = tile.scan(pass);
    if (lane == 0) totals[warp] = of_warp;
    __syncthreads();
    if (static_cast<int>(threadIdx.x) == threads - 1)  // of a warp that does not wait
      next[0] = static_cast<int>(atomicAdd(&header->ticket, 1u));
    if (warp == 0) {
      const T scanned = KoggeStoneLanes::scan(
          pass.op, lane < warps ? static_cast<T>(totals[lane]) : pass.op.identity());
      T all = pass.op.identity();
      if (lane == 31) {
        Word* const own = words + number * parts<T>;
        if (number > 0) all = wait_for<T>(own - parts<T>, 1, epoch);
        publish(own, 1, epoch, inclusive_total, pass.op(all, scanned));
      }
      all = __shfl_sync(full_warp, all, 31);
      const T previous = __shfl_up_sync(full_warp, scanned, 1);
      before[lane] = lane > 0 ? pass.op(all, previous) : all;
    }
    __syncthreads();
    tile.store(pass, begin, before[warp]);
  }
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{128, 256, 512, 1024};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 1024, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 7, vector_choices}};

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const int threads = task.settings[0], tiles = divide_up(task.n, tile_of_settings(task));
  with_rows<1, 2, 4, 7>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      const int blocks = std::min(tiles, resident_blocks(light_kernel<rows, Pass>, threads));
      FACESAT_LAUNCH((light_kernel<rows, Pass>), dim3(static_cast<unsigned>(blocks)),
                     dim3(static_cast<unsigned>(threads)), stream, pass, tiles,
                     static_cast<Header*>(workspace), words_of(workspace));
    });
  });
}

}  // namespace

const ScanAlgorithm liu_2016_lightscan{
    .id = "liu_2016_lightscan",
    .title = "LightScan: blocks that stay, each tile waits for the one before it",
    .source =
        "Liu, Aluru: LightScan: Faster Scan Primitive on CUDA Compatible Manycore Processors, "
        "arXiv:1604.04815, 2016",
    .year = 2016,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) { return published_bytes(task, tile_of_settings(task)); },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
