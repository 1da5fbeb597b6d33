// One pass with decoupled look-back, pipelined within each block: while one warp looks back for a
// tile, the others load and scan the next one.
//
// Idea: a tile publishes its total as soon as it is loaded. To find what is before it, a warp reads
//   what the 32 tiles before have published, adds up totals until one of them has published the
//   combination of everything up to its end, and goes on to the next 32 otherwise. Blocks stay for
//   many tiles and have two at a time: the extra warp of a block looks back for one tile, while its
//   workers load and scan the tile after it and publish that one's total; then the workers store
//   the first.
// Shapes: tiles of vectors of 16 bytes, in registers; blocks of an extra warp and as many workers
//   as the registers of a multiprocessor allow, fewer where the array is short and latency counts.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile for every 4 bytes of an element.
// Source: our own form of D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with
//   Decoupled Look-back", NVIDIA technical report NVR-2016-002, 2016.
// Departs from it in: the pipeline; an epoch in the state of a word, so that nothing is reset
//   between launches and there is no second launch for it; warps keep rows of vectors, so that
//   elements are not rearranged in shared memory.
//
// Why there is a pipeline: without any look-back, and hence with wrong results, one tile per block
// takes as long as a copy. With it, 1.35 times as long, whatever the size of tiles, and reading
// more than 32 tiles at once makes it worse: what is missing is work for the memory while a block
// waits. The total of a tile must not wait for the look-back of the block's tile before; else every
// tile waits for the one before it, and the whole scan becomes a chain.
#include "kernels/scan/register_tile.cuh"

namespace facesat::gpu {
namespace {

// The most workers of a block, such that two tiles of `rows` vectors per thread fit into the
// registers of a multiprocessor, which are allocated to warps in fours.
constexpr int most_workers(std::size_t element_bytes, int rows) {
  const int registers = element_bytes == 8 ? 30 + 12 * rows : 22 + 10 * rows;  // per thread
  return registers <= 96 ? 608 : 480;
}

// What the warps of a block exchange: one half is for the tile that is looked back for, the other
// for the tile after it, in turn.
template <class T>
struct Exchange {
  SharedArray<T, 2 * 32> totals;  // of the elements of each warp
  SharedArray<T, 2 * 32> before;  // the combination of all elements before each warp
  SharedArray<int, 2> tickets;    // the tile after the next one
};

// Called by all workers: stores the totals of their warps' elements and publishes the tile's.
template <class T, class Op>
__device__ __forceinline__ void publish_total(const Op& op, Exchange<T>& exchange, int half,
                                              int warps, T of_warp, Word* words, unsigned epoch) {
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  if (lane == 0) exchange.totals[32 * half + warp] = of_warp;
  part_barrier(32 * warps);
  if (warp > 0) return;
  T total = lane < warps ? static_cast<T>(exchange.totals[32 * half + lane]) : op.identity();
  for (unsigned d = 1; d < 32; d *= 2) total = op(total, __shfl_xor_sync(full_warp, total, d));
  if (lane == 0) publish(words, 1, epoch, own_total, total);  // only in lane 0 is the order right
}

// The extra warp's part: finds and publishes what is before the tile and up to its end.
template <class Pass, class T>
__device__ __forceinline__ void find_before(const Pass& pass, Exchange<T>& exchange, int half,
                                            int warps, int number, int size, Word* words,
                                            unsigned epoch) {
  const int lane = static_cast<int>(lane_of_thread());
  const auto& op = pass.op;
  const T before_tile = look_back(pass, words, number, epoch,
                                  [&](int other) { return total_of_tile(pass, other, size); });
  const T scanned = KoggeStoneLanes::scan(
      op, lane < warps ? static_cast<T>(exchange.totals[32 * half + lane]) : op.identity());
  const T previous = __shfl_up_sync(full_warp, scanned, 1);
  exchange.before[32 * half + lane] = lane > 0 ? op(before_tile, previous) : before_tile;
  if (lane == 31)
    publish(words + number * parts<T>, 1, epoch, inclusive_total, op(before_tile, scanned));
}

template <int rows, class Pass>
__global__ void __launch_bounds__(most_workers(sizeof(typename Pass::T), rows) + 32)
    pipeline_kernel(Pass pass, int tiles, Header* header, Word* words) {
  using T = typename Pass::T;
  using Tile = RegisterTile<Pass, rows>;
  __shared__ Exchange<T> exchange;
  const int workers = static_cast<int>(blockDim.x) - 32, warps = workers / 32;
  const int warp = static_cast<int>(threadIdx.x) / 32, size = Tile::elements(workers);
  const bool is_worker = warp < warps, draws = static_cast<int>(threadIdx.x) == workers;
  const auto [first, epoch] = draw_ticket(header);

  const auto take = [&](Tile& tile, int number, int half) {
    if (number >= tiles) return;
    tile.load(pass, number * size, workers);
    publish_total(pass.op, exchange, half, warps, tile.scan(pass), words + number * parts<T>,
                  epoch);
  };
  const auto draw = [&](int half) {
    exchange.tickets[half] = static_cast<int>(atomicAdd(&header->ticket, 1u));
  };
  Tile tile{};
  if (is_worker) take(tile, first, 0);
  if (draws) draw(0);
  __syncthreads();
  int number = first, next = exchange.tickets[0];
  for (int half = 0; number < tiles; half = 1 - half) {
    Tile following{};
    if (draws) draw(1 - half);
    if (is_worker)
      take(following, next, 1 - half);
    else
      find_before(pass, exchange, half, warps, number, size, words, epoch);
    __syncthreads();
    if (is_worker) {
      tile.store(pass, number * size, exchange.before[32 * half + warp]);
      tile = following;
    }
    number = next;
    next = exchange.tickets[1 - half];
  }
  if (threadIdx.x == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

constexpr std::array thread_choices{0, 64, 256, 480, 608};
constexpr std::array vector_choices{0, 1, 2, 4, 7, 8};
constexpr std::array parameters{
    ScanParameter{"threads", "workers per block, as far as registers allow; 0: chosen by length", 0,
                  thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread; 0: chosen by length", 0,
                  vector_choices}};

struct Shape {
  int workers, rows;
};
Shape shape_of(const ScanTask& task) {
  constexpr std::size_t mib = 1 << 20;
  const std::size_t element = info_of(task.type).bytes;
  const std::size_t bytes = static_cast<std::size_t>(task.n) * element;
  const Shape chosen = on_host           ? Shape{64, 1}
                       : bytes < 4 * mib ? Shape{256, 4}
                       : element == 8    ? Shape{480, 8}
                                         : Shape{608, 7};
  const int rows = task.settings[1] ? task.settings[1] : chosen.rows;
  const int workers = task.settings[0] ? task.settings[0] : chosen.workers;
  return {std::min(workers, most_workers(element, rows)), rows};
}
int tile_of(const ScanTask& task) {
  const Shape shape = shape_of(task);
  return tile_elements(task, shape.workers, shape.rows);
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const Shape shape = shape_of(task);
  const int threads = shape.workers + 32, tiles = divide_up(task.n, tile_of(task));
  with_rows<1, 2, 4, 7, 8>(shape.rows, [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      const int blocks = std::min(tiles, resident_blocks(pipeline_kernel<rows, Pass>, threads));
      FACESAT_LAUNCH((pipeline_kernel<rows, Pass>), dim3(static_cast<unsigned>(blocks)),
                     dim3(static_cast<unsigned>(threads)), stream, pass, tiles,
                     static_cast<Header*>(workspace), words_of(workspace));
    });
  });
}

}  // namespace

const ScanAlgorithm facesat_scan{
    .id = "facesat_scan",
    .title = "Single pass with look-back, pipelined within each block",
    .source =
        "ours, after Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled "
        "Look-back, NVIDIA NVR-2016-002, 2016",
    .year = 2026,
    .parameters = parameters,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes = [](const ScanTask& task) { return published_bytes(task, tile_of(task)); },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
