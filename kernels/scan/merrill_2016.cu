// One pass with decoupled look-back, in its textbook form: a tile per block.
//
// Idea: a block publishes the total of its tile as soon as it has it, and then looks back: it adds
//   up the totals of the tiles before until it finds one that has published everything up to its
//   end, too, and publishes the same of its own tile. So no tile waits for the one before it, as it
//   would in a chain, and the array is read and written once.
// Shapes: tiles of vectors of 16 bytes, in registers; the first warp of the block looks back, over
//   32 tiles at a time.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
//   NVIDIA technical report NVR-2016-002, 2016.
// Departs from it in: an epoch in the state of a word (the paper's flags X, A and P), so that
//   nothing is reset between launches; warps keep rows of vectors, so that elements are not
//   rearranged in shared memory; tiles are drawn from a counter, so that a block waits only for
//   those that run.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int most_threads = 512;

template <int rows, class Pass>
__global__ void __launch_bounds__(most_threads)
    tile_kernel(Pass pass, Header* header, Word* words) {
  using T = typename Pass::T;
  using Tile = RegisterTile<Pass, rows>;
  __shared__ SharedArray<T, 32> of_warps;  // their totals, and then what is before each of them
  const int threads = static_cast<int>(blockDim.x), warps = threads / 32;
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  const auto [number, epoch] = draw_ticket(header);
  const int begin = number * Tile::elements(threads);
  Tile tile;
  tile.load(pass, begin, threads);
  const T own = tile.scan(pass);
  if (lane == 0) of_warps[warp] = own;
  __syncthreads();
  if (warp == 0) {
    const T scanned = KoggeStoneLanes::scan(
        pass.op, lane < warps ? static_cast<T>(of_warps[lane]) : pass.op.identity());
    const T total = __shfl_sync(full_warp, scanned, 31);
    Word* const word = words + number * parts<T>;
    if (lane == 0 && number > 0) publish(word, 1, epoch, own_total, total);
    const T before = look_back(pass, words, number, Tile::elements(threads), epoch);
    if (lane == 0) publish(word, 1, epoch, inclusive_total, pass.op(before, total));
    const T previous = __shfl_up_sync(full_warp, scanned, 1);
    of_warps[lane] = lane > 0 ? pass.op(before, previous) : before;
  }
  __syncthreads();
  tile.store(pass, begin, of_warps[warp]);
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 256, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 4, vector_choices}};

int tile_of(const ScanTask& task) {
  return tile_elements(task, task.settings[0], task.settings[1]);
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_rows<1, 2, 4, 7>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      FACESAT_LAUNCH((tile_kernel<rows, Pass>), dim3(divide_up(task.n, tile_of(task))),
                     dim3(task.settings[0]), stream, pass, static_cast<Header*>(workspace),
                     words_of(workspace));
    });
  });
}

}  // namespace

const ScanAlgorithm merrill_2016{
    .id = "merrill_2016",
    .title = "Decoupled look-back: a single pass, one tile per block",
    .source =
        "Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA "
        "NVR-2016-002, 2016",
    .year = 2016,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes = [](const ScanTask& task) { return published_bytes(task, tile_of(task)); },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
