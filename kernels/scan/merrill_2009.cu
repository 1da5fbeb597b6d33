// Reduce, scan, scan, with raking: the first cascade of a fixed number of blocks.
//
// Idea: a fixed number of blocks, each with a contiguous chunk. Within a tile, a thread scans a
//   vector of four in registers and puts its total into shared memory; there, one warp rakes:
//   each of its lanes combines a run of adjacent totals, a Kogge-Stone scan combines the lanes,
//   and each lane scans its run. Only one of the block's warps communicates.
// Shapes: tiles of four elements per thread; the runs of totals are padded by one element each, so
//   that the raking warp has no bank conflicts.
// Reads and writes per element: 2 / 1.
// Launches: 3.
// Workspace: one element per block.
// Source: D. Merrill and A. Grimshaw, "Parallel Scan for Stream Architectures", technical report
//   CS2009-14, University of Virginia, 2009, as Dieguez et al. 2014 describe it.
// Departs from it in: shuffles instead of shared memory within the raking warp.
#include "kernels/scan/cascade.cuh"

namespace facesat::gpu {
namespace {

struct Tile {
  static constexpr int elements(int threads) { return 4 * threads; }
  static constexpr int shared_elements(int threads) { return place_of(threads, threads) + 1; }

  // Where the total of a thread is, in runs of threads / 32 elements plus one of padding. The last
  // place holds the total of the tile.
  __host__ __device__ static constexpr int place_of(int thread, int threads) {
    return thread + thread / (threads / 32);
  }

  // Replaces the totals of all threads by their exclusive scan. To be called by the first warp.
  template <class T, class Op>
  __device__ static void rake(const Op& op, DynamicShared<T> totals) {
    const int threads = static_cast<int>(blockDim.x), run = threads / 32;
    const int first = static_cast<int>(threadIdx.x) * (run + 1);
    T own = totals[first];
    for (int i = 1; i < run; ++i) own = op(own, totals[first + i]);
    const T inclusive = KoggeStoneLanes::scan(op, own);
    const T previous = __shfl_up_sync(full_warp, inclusive, 1);
    T sum = threadIdx.x > 0 ? previous : op.identity();
    for (int i = 0; i < run; ++i) {
      const T total = totals[first + i];
      totals[first + i] = sum;
      sum = op(sum, total);
    }
    if (threadIdx.x == 31) totals[place_of(threads, threads)] = sum;
  }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> totals;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int i = begin + 4 * thread, place = place_of(thread, threads);
    auto own = pass.template load_several<4>(i);
    FACESAT_UNROLL
    for (int k = 1; k < 4; ++k) own.v[k] = pass.op(own.v[k - 1], own.v[k]);
    totals[place] = own.v[3];
    __syncthreads();
    if (thread < 32) rake(pass.op, totals);
    __syncthreads();
    pass.template store_several<4>(i, pass.op(before, totals[place]), own);
    const T end = pass.op(before, totals[place_of(threads, threads)]);
    __syncthreads();  // the next tile overwrites the totals
    return end;
  }
};

ScanCost cost(const ScanTask& task) {
  return cascade::cost(task, cascade::launch_of(task.settings).blocks);
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    cascade::enqueue<Tile, 4>(pass, cascade::launch_of(task.settings), workspace, stream);
  });
}

}  // namespace

const ScanAlgorithm merrill_2009{
    .id = "merrill_2009",
    .title = "Reduce, scan, scan: a fixed number of blocks, one raking warp each",
    .source =
        "Merrill, Grimshaw: Parallel Scan for Stream Architectures, University of Virginia, "
        "2009",
    .year = 2009,
    .parameters = cascade::parameters,
    .cost = cost,
    .workspace_bytes = cascade::workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
