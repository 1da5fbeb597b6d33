// One pass by blocks that stay: each block adds up the tiles that the others have taken meanwhile.
//
// Idea: as many blocks as run at a time take tiles in turns. A block publishes the total of its
//   tile as soon as it has it, for which it needs nobody. It keeps what is before its own last
//   tile's end, so to know what is before this one it needs the totals of the tiles in between: one
//   for each other block, which its threads read at once. So every total is added up by all blocks,
//   in exchange for waiting no longer than until the tiles before are loaded: there is no chain.
//   Of order q, the pass scans each tile q times in registers: order by order, it publishes the
//   tile's total, adds up what the others have published, and completes the tile's elements, which
//   the next order scans. Of tuples of s elements, a tile has s totals, one for each place in a
//   tuple, and each order waits once for all of them.
// Shapes: tiles of up to seven vectors of 16 bytes per thread, in registers; a thread for each
//   total. For orders and tuples, a thread has a run of elements of the same place, one element
//   fewer than its vectors have: runs then begin in different banks of the shared memory through
//   which the tile comes and goes. Threads that would be of an incomplete tuple have nothing.
// Reads and writes per element: 1 / 1.
// Launches: 1.
// Workspace: a header, and 8 bytes per tile, order and place for every 4 bytes of an element.
// Source: S. Maleki, A. Yang, M. Burtscher, "Higher-order and Tuple-based Massively-parallel Prefix
//   Sums", PLDI 2016 (SAM), as its abstract and its authors' program describe it.
// Departs from it in: tiles are drawn from a counter, not dealt out by the number of the block, so
//   that a block waits only for those that run; how many tiles others take in between is therefore
//   not fixed, and each tile has words of its own instead of places in a circular array. {state,
//   value} words, which need no fence, and an epoch in the state, so that nothing is reset between
//   launches. The paper has two blocks of 1024 threads per multiprocessor, and a single element per
//   access; the elements of a thread are 1024 apart, and each takes part in a scan by shuffles,
//   where here a run has one. Its orders and sizes of tuples are constants of the compiler.
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

// ---- higher orders and tuples

template <class Pass, int rows>
constexpr int run_length = RegisterTile<Pass, rows>::elements(1) - 1;

// As scan_block(), for each place in a tuple alone: a thread's values are combined with those of
// the threads `tuple`, 2 `tuple`, ... before it. `totals` has room for one element per warp and
// place. Ends with a barrier.
template <class T, class Op, class Shared>
__device__ __forceinline__ BlockPrefix<T> scan_places(const Op& op, T value, int tuple, int place,
                                                      Shared& totals) {
  const int lane = static_cast<int>(lane_of_thread()), warp = static_cast<int>(threadIdx.x) / 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  for (int d = tuple; d < 32; d *= 2) {
    const T other = __shfl_up_sync(full_warp, value, static_cast<unsigned>(d));
    if (lane >= d) value = op(other, value);
  }
  if (lane >= 32 - tuple) totals[warp * tuple + place] = value;
  __syncthreads();
  T before = op.identity(), total = op.identity();
  for (int other = 0; other < warps; ++other) {
    if (other == warp) before = total;
    total = op(total, totals[other * tuple + place]);
  }
  __syncthreads();
  const T previous = __shfl_up_sync(full_warp, value, static_cast<unsigned>(tuple));
  return {lane >= tuple ? op(before, previous) : before, total};
}

// A thread's elements of a tile: a run of those of its place in a tuple. Threads from `threads` on
// have none.
template <class Pass, int length>
struct TupleTile {
  using T = typename Pass::T;
  int threads, tuple;
  T values[length];

  __device__ bool has_run() const { return static_cast<int>(threadIdx.x) < threads; }

  // Places in the tile: first, first + step, and so on, each computed when it is needed, not kept
  // in a register.
  struct Places {
    std::uint32_t first, step;
    __device__ int operator[](int j) const {
      return static_cast<int>(first + step * static_cast<std::uint32_t>(j));
    }
  };
  __device__ static Places places(int first, int step) {
    Places places{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(step)};
    make_opaque(places.first);
    make_opaque(places.step);
    return places;
  }
  // Of the thread's run, and of the elements that it moves from and to global memory.
  __device__ Places run() const {
    const int thread = static_cast<int>(threadIdx.x);
    return places(thread / tuple * length * tuple + thread % tuple, tuple);
  }
  __device__ Places moved() const { return places(static_cast<int>(threadIdx.x), threads); }

  // `shared` has room for the tile. Has a barrier.
  __device__ __forceinline__ void load(const Pass& pass, int begin, DynamicShared<T> shared) {
    const Places moved = this->moved(), run = this->run();
    FACESAT_UNROLL
    for (int j = 0; j < length; ++j) {
      const int i = begin + moved[j];
      values[j] = has_run() && i < pass.n ? pass.input[i] : pass.op.identity();
    }
    if (has_run()) {
      FACESAT_UNROLL
      for (int j = 0; j < length; ++j) shared[moved[j]] = values[j];
    }
    __syncthreads();
    if (has_run()) {
      FACESAT_UNROLL
      for (int j = 0; j < length; ++j) values[j] = shared[run[j]];
    }
  }

  __device__ __forceinline__ T total(const Pass& pass) const {
    T sum = values[0];
    FACESAT_UNROLL
    for (int j = 1; j < length; ++j) sum = pass.op(sum, values[j]);
    return has_run() ? sum : pass.op.identity();
  }

  // Replaces the elements by their scan. `sum`: the combination of all of their place before them.
  __device__ __forceinline__ void scan(const Pass& pass, T sum) {
    FACESAT_UNROLL
    for (int j = 0; j < length; ++j) {
      const T next = pass.op(sum, values[j]);
      values[j] = pass.is_inclusive ? next : sum;
      sum = next;
    }
  }

  // Has a barrier. What a thread reads after it is what it writes first in load(), so none is
  // needed between tiles.
  __device__ __forceinline__ void store(const Pass& pass, int begin, DynamicShared<T> shared) {
    const Places moved = this->moved(), run = this->run();
    if (has_run()) {
      FACESAT_UNROLL
      for (int j = 0; j < length; ++j) shared[run[j]] = values[j];
    }
    __syncthreads();
    if (!has_run()) return;
    FACESAT_UNROLL
    for (int j = 0; j < length; ++j) values[j] = shared[moved[j]];
    FACESAT_UNROLL
    for (int j = 0; j < length; ++j)
      if (const int i = begin + moved[j]; i < pass.n) pass.output[i] = values[j];
  }
};

// The combination of those totals of one place that this thread reads: of a contiguous part of the
// tiles from `known` to before `number`, in their order; `threads` threads share the tiles of all
// places. `words` are those of one order.
template <class T, class Op>
__device__ __forceinline__ T combine_totals(const Op& op, const Word* words, int known, int number,
                                            int threads, int tuple, unsigned epoch) {
  const int thread = static_cast<int>(threadIdx.x);
  const int part = divide_up(number - known, threads / tuple);
  const int first = known + thread / tuple * part;
  T sum = op.identity();
  if (thread >= threads) return sum;
  for (int other = first; other < min(first + part, number); ++other)
    sum = op(sum, wait_for<T>(words + (other * tuple + thread % tuple) * std::ptrdiff_t{parts<T>},
                              1, epoch));
  return sum;
}

template <int length, class Pass>
__global__ void __launch_bounds__(most_threads)
    orders_kernel(Pass pass, int order, int tuple, int tiles, Header* header, Word* words) {
  using T = typename Pass::T;
  const DynamicShared<T> shared;
  __shared__ SharedArray<T, most_threads / 32 * most_scan_tuple> totals;  // of warps and places
  // Of each order and place, the combination of all tiles before number `known`.
  __shared__ SharedArray<T, most_scan_order * most_scan_tuple> known_totals;
  __shared__ SharedArray<int, 1> next;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int place = thread % tuple;
  TupleTile<Pass, length> tile{.threads = threads - threads % tuple, .tuple = tuple};
  const auto [first, epoch] = draw_ticket(header);
  if (thread < order * tuple) known_totals[thread] = pass.op.identity();
  int known = 0;
  for (int number = first; number < tiles; number = next[0]) {
    const int begin = number * tile.threads * length;
    tile.load(pass, begin, shared);
    if (thread == threads - 1) next[0] = static_cast<int>(atomicAdd(&header->ticket, 1u));
    for (int k = 0; k < order; ++k) {
      Word* const of_order = words + k * std::ptrdiff_t{tiles} * tuple * parts<T>;
      const T earlier = known_totals[k * tuple + place];
      const BlockPrefix<T> own = scan_places(pass.op, tile.total(pass), tuple, place, totals);
      if (thread < tuple)
        publish(of_order + (number * tuple + place) * std::ptrdiff_t{parts<T>}, 1, epoch,
                inclusive_total, own.total);
      const T others =
          combine_totals<T>(pass.op, of_order, known, number, tile.threads, tuple, epoch);
      const T before = pass.op(earlier, scan_places(pass.op, others, tuple, place, totals).total);
      if (thread < tuple) known_totals[k * tuple + place] = pass.op(before, own.total);
      tile.scan(pass, pass.op(before, own.before));
    }
    tile.store(pass, begin, shared);
    known = number + 1;
  }
  if (thread == 0) finish(header, static_cast<int>(gridDim.x), epoch);
}

// ----

constexpr std::array thread_choices{128, 256, 512};
constexpr std::array vector_choices{1, 2, 4, 7};
constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 128, thread_choices},
    ScanParameter{"vectors", "vectors of 16 bytes per thread", 7, vector_choices}};

bool is_plain(const ScanTask& task) {
  return task.order == 1 && task.tuple == 1;
}

int tile_of(const ScanTask& task) {
  const int threads = task.settings[0];
  return is_plain(task)
             ? tile_of_settings(task)
             : (threads - threads % task.tuple) * (tile_elements(task, 1, task.settings[1]) - 1);
}

std::size_t workspace_bytes(const ScanTask& task) {
  const std::size_t of_totals = published_bytes(task, tile_of(task)) - header_bytes;
  return header_bytes + static_cast<std::size_t>(task.order * task.tuple) * of_totals;
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const int threads = task.settings[0], tiles = divide_up(task.n, tile_of(task));
  Header* const header = static_cast<Header*>(workspace);
  const dim3 block(static_cast<unsigned>(threads));
  with_rows<1, 2, 4, 7>(task.settings[1], [&]<int rows>(std::integral_constant<int, rows>) {
    with_pass(task, [&]<class Pass>(const Pass& pass) {
      if (is_plain(task)) {
        const int blocks = std::min(tiles, resident_blocks(sam_kernel<rows, Pass>, threads));
        FACESAT_LAUNCH((sam_kernel<rows, Pass>), dim3(static_cast<unsigned>(blocks)), block, stream,
                       pass, tiles, header, words_of(workspace));
        return;
      }
      constexpr int length = run_length<Pass, rows>;
      const std::size_t bytes = static_cast<std::size_t>(tile_of(task)) * sizeof(typename Pass::T);
      const int blocks =
          std::min(tiles, resident_blocks(orders_kernel<length, Pass>, threads, bytes));
      FACESAT_LAUNCH_SHARED((orders_kernel<length, Pass>), dim3(static_cast<unsigned>(blocks)),
                            block, bytes, stream, pass, task.order, task.tuple, tiles, header,
                            words_of(workspace));
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
    .most_order = most_scan_order,
    .most_tuple = most_scan_tuple,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 1, .reads = 1, .writes = 1}; },
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
