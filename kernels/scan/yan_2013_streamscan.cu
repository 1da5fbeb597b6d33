// One pass: each tile waits for the total of the tile before it.
//
// Idea: a block loads its tile into registers, combines it, waits until the tile before has
//   published the combination of everything up to its end, publishes its own at once, and only then
//   finishes and stores its scan. The array is read once and written once; what is left is a chain
//   of one wait per tile.
// Shapes: tiles of one, two or four vectors of 16 bytes per thread, in registers.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: S. Yan, G. Long, Y. Zhang, "StreamScan: Fast Scan Algorithms for GPUs without Global
//   Barrier Synchronization", PPoPP 2013. Funasaka et al. 2017 see it as a task array of one row.
// Departs from it in: {state, value} words, which need no fence.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int most_threads = 512;

template <int rows, class Pass>
__global__ void __launch_bounds__(most_threads)
    stream_kernel(Pass pass, Header* header, Word* words) {
  using T = typename Pass::T;
  using Tile = RegisterTile<Pass, rows>;
  __shared__ SharedArray<T, 32> totals;
  __shared__ SharedArray<T, 1> before;
  const int threads = static_cast<int>(blockDim.x), warp = static_cast<int>(threadIdx.x) / 32;
  const auto [number, epoch] = draw_ticket(header);
  Tile tile;
  const int begin = number * Tile::elements(threads);
  tile.load(pass, begin, threads);
  const T of_warp = tile.scan(pass);
  if (lane_of_thread() == 0) totals[warp] = of_warp;
  __syncthreads();
  T prefix = pass.op.identity();
  for (int i = 0; i < warp; ++i) prefix = pass.op(prefix, totals[i]);
  if (static_cast<int>(threadIdx.x) == threads - 1) {
    const T of_tile = pass.op(prefix, of_warp);
    Word* const own = words + number * parts<T>;
    const T all = number > 0 ? wait_for<T>(own - parts<T>, 1, epoch) : pass.op.identity();
    publish(own, 1, epoch, inclusive_total, pass.op(all, of_tile));
    before[0] = all;
  }
  __syncthreads();
  tile.store(pass, begin, pass.op(before[0], prefix));
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 512, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 4, vector_choices}};

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_rows<1, 2, 4>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      FACESAT_LAUNCH((stream_kernel<rows, Pass>), dim3(divide_up(task.n, tile_of_settings(task))),
                     dim3(task.settings[0]), stream, pass, static_cast<Header*>(workspace),
                     words_of(workspace));
    });
  });
}

}  // namespace

const ScanAlgorithm yan_2013_streamscan{
    .id = "yan_2013_streamscan",
    .title = "StreamScan: a single pass, each tile waits for the one before it",
    .source =
        "Yan, Long, Zhang: StreamScan: Fast Scan Algorithms for GPUs without Global Barrier "
        "Synchronization, PPoPP 2013",
    .year = 2013,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes =
        [](const ScanTask& task) { return published_bytes(task, tile_of_settings(task)); },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
