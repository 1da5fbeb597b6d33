// The cascade: a fixed number of blocks, each of which takes a contiguous chunk of the array, tile
// by tile. Three kernels: one reduces each chunk to its total (the paper's rd), one scans the
// totals with a single block (p), and one scans the chunks, each from the total of all chunks
// before it (p2).
//
// Source: D. Merrill and A. Grimshaw, "Parallel Scan for Stream Architectures", technical report
//   CS2009-14, University of Virginia, 2009; the names rd, p and p2 are those of Dieguez et al.
//   2014.
//
// The two kernels that scan are instantiations of one, whose parameter is a Tile: how a block scans
// as many elements as it holds at a time. A Tile has
//   static int elements(int threads);         // of a tile, for blocks of that many threads
//   static int shared_elements(int threads);  // of dynamic shared memory
//   // Scans the tile that begins at `begin` and stores its results. `before` is the combination
//   // of all elements before. Returns the combination up to the tile's end, in every thread.
//   // Ends with a barrier, unless it uses no shared memory.
//   template <class Pass> static T scan(const Pass&, int begin, T before);
// and, if loops over the threads of a block are to be unrolled, their number:
//   static constexpr int known_threads;
#pragma once

#include <algorithm>
#include <array>

#include "kernels/scan/pass.cuh"

namespace facesat::gpu::cascade {

// The elements of block b are those from b * chunk to (b + 1) * chunk - 1, as far as they exist.
// Several blocks' chunks may be empty.
constexpr int chunk_of(int n, int blocks, int tile) {
  return divide_up(divide_up(n, blocks), tile) * tile;
}
struct Range {
  int begin, end;
};
__device__ __forceinline__ Range range_of(int block, int chunk, int n) {
  const long long begin = static_cast<long long>(block) * chunk;
  return {static_cast<int>(min(begin, static_cast<long long>(n))),
          static_cast<int>(min(begin + chunk, static_cast<long long>(n)))};
}

// The combination of a block's values, in thread 0. `values` has room for one element per thread,
// whose number is a power of two. Where the operands of the operator may change places, the halves
// that are combined lie side by side, without bank conflicts; otherwise neighbours are combined.
template <int known_threads, class T, class Op>
__device__ __forceinline__ T reduce_block(const Op& op, T value, DynamicShared<T> values) {
  const int thread = static_cast<int>(threadIdx.x), threads = threads_of_block<known_threads>();
  values[thread] = value;
  __syncthreads();
  if constexpr (Op::is_commutative) {
    FACESAT_UNROLL
    for (int half = threads / 2; half > 0; half /= 2) {
      if (thread < half) values[thread] = op(values[thread], values[thread + half]);
      __syncthreads();
    }
  } else {
    for (int d = 1; d < threads; d *= 2) {
      if (thread % (2 * d) == 0) values[thread] = op(values[thread], values[thread + d]);
      __syncthreads();
    }
  }
  return values[0];
}

// The combination of values 0 to count - 1, in thread 0; value_of(i) is asked for by one thread.
// The threads take values in turn and are combined once, at the end, where operands may change
// places; otherwise they are combined after each turn.
template <int known_threads, class T, class Op, class ValueOf>
__device__ __forceinline__ T reduce_in_turns(const Op& op, int count, ValueOf value_of) {
  const DynamicShared<T> shared;
  const int threads = threads_of_block<known_threads>();
  T sum = op.identity();
  if constexpr (Op::is_commutative) {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) sum = op(sum, value_of(i));
    return reduce_block<known_threads>(op, sum, shared);
  } else {
    for (int begin = 0; begin < count; begin += threads) {
      const int i = begin + static_cast<int>(threadIdx.x);
      const T own = i < count ? value_of(i) : op.identity();
      sum = op(sum, reduce_block<known_threads>(op, own, shared));
      __syncthreads();  // the next turn overwrites the shared memory
    }
    return sum;
  }
}

// How a thread of rd takes its elements of each tile: adjacent ones, by one access, or as many
// apart as the block has threads.
enum class Share { adjacent, apart };

// The combination of chunk `block`, in thread 0. A thread takes `width` elements at a time; where
// operands may not change places, always adjacent ones.
template <int width, Share share = Share::adjacent, int known_threads = 0, class Pass>
__device__ __forceinline__ typename Pass::T reduce_chunk(const Pass& pass, int block, int chunk) {
  using T = typename Pass::T;
  const int threads = threads_of_block<known_threads>();
  const Range range = range_of(block, chunk, pass.n);
  const auto elements_of = [&](int i) {  // of thread i % threads in tile i / threads
    if constexpr (share == Share::adjacent || !Pass::Op::is_commutative) {
      const auto loaded = pass.template load_several<width>(range.begin + width * i);
      T sum = loaded.v[0];
      FACESAT_UNROLL
      for (int k = 1; k < width; ++k) sum = pass.op(sum, loaded.v[k]);
      return sum;
    } else {
      const int thread = static_cast<int>(threadIdx.x);
      const int first = range.begin + width * (i - thread) + thread;
      T sum = pass.load(first);
      FACESAT_UNROLL
      for (int k = 1; k < width; ++k) sum = pass.op(sum, pass.load(first + k * threads));
      return sum;
    }
  };
  const int tiles = divide_up(range.end - range.begin, width * threads);
  return reduce_in_turns<known_threads, T>(pass.op, tiles * threads, elements_of);
}

// Scans chunk `block`, whose first element has `before` before it. Returns the combination up to
// its end.
template <class Tile, class Pass>
__device__ __forceinline__ typename Pass::T scan_chunk(const Pass& pass, int block, int chunk,
                                                       typename Pass::T before) {
  const Range range = range_of(block, chunk, pass.n);
  for (int begin = range.begin; begin < range.end;
       begin += Tile::elements(static_cast<int>(blockDim.x)))
    before = Tile::scan(pass, begin, before);
  return before;
}

// A tile of `width` adjacent elements per thread: each thread scans its own, then the threads'
// totals are scanned among the lanes of each warp and among warps.
template <class Lanes, int width, int known = 0>
struct ShuffleTile {
  static constexpr int known_threads = known;
  static constexpr int elements(int threads) { return width * threads; }
  static constexpr int shared_elements(int) { return 32; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> totals;
    const int i = begin + width * static_cast<int>(threadIdx.x);
    auto own = pass.template load_several<width>(i);
    FACESAT_UNROLL
    for (int k = 1; k < width; ++k) own.v[k] = pass.op(own.v[k - 1], own.v[k]);
    const BlockPrefix<T> prefix =
        scan_block<Lanes, known_threads>(pass.op, own.v[width - 1], totals);
    pass.template store_several<width>(i, pass.op(before, prefix.before), own);
    const T end = pass.op(before, prefix.total);
    __syncthreads();  // the next tile overwrites the totals
    return end;
  }
};

// rd: totals[b] becomes the combination of chunk b.
template <int width, Share share, int known_threads, class Pass>
__global__ void reduce_kernel(Pass pass, int chunk, typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x);
  const typename Pass::T total = reduce_chunk<width, share, known_threads>(pass, block, chunk);
  if (threadIdx.x == 0) totals[block] = total;
}

// The bounds of a launch that scans. Unrolled loops would take so many registers that few threads
// fit into a multiprocessor: with up to four elements per thread, it is to have 2048, with eight
// half as many, and so on.
template <class Tile>
constexpr int known_threads_of() {
  if constexpr (requires { Tile::known_threads; })
    return Tile::known_threads;
  else
    return 0;
}
template <class Tile>
constexpr int most_threads = known_threads_of<Tile>() > 0 ? known_threads_of<Tile>() : 512;
template <class Tile>
constexpr int least_blocks = known_threads_of<Tile>() > 0
                                 ? std::max(1, 2048 / most_threads<Tile> * 4 /
                                                   std::max(4, Tile::elements(1)))
                                 : 1;

// p2: scans chunk b from totals[b] on. With totals == nullptr, p: the only block has nothing before
// it.
template <class Tile, class Pass>
__global__ void __launch_bounds__(most_threads<Tile>, least_blocks<Tile>)
    scan_kernel(Pass pass, int chunk, const typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x);
  scan_chunk<Tile>(pass, block, chunk, totals ? totals[block] : pass.op.identity());
}

// The size of a launch: `threads` per block, `blocks` blocks.
struct Launch {
  int blocks, threads;
};

template <class Tile, class Pass>
void enqueue_scan(const Pass& pass, Launch launch, int chunk, const typename Pass::T* totals,
                  StreamHandle stream) {
  FACESAT_LAUNCH_SHARED(
      (scan_kernel<Tile, Pass>), dim3(static_cast<unsigned>(launch.blocks)),
      dim3(static_cast<unsigned>(launch.threads)),
      static_cast<int>(sizeof(typename Pass::T)) * Tile::shared_elements(launch.threads), stream,
      pass, chunk, totals);
}
template <int width, Share share = Share::adjacent, int known_threads = 0, class Pass>
void enqueue_reduce(const Pass& pass, Launch launch, int chunk, typename Pass::T* totals,
                    StreamHandle stream) {
  FACESAT_LAUNCH_SHARED(
      (reduce_kernel<width, share, known_threads, Pass>),
      dim3(static_cast<unsigned>(launch.blocks)), dim3(static_cast<unsigned>(launch.threads)),
      static_cast<int>(sizeof(typename Pass::T)) * launch.threads, stream, pass, chunk, totals);
}
// p: replaces the totals of all blocks by their exclusive scan.
template <class Tile, class Pass>
void enqueue_scan_totals(const Pass& pass, Launch launch, typename Pass::T* totals,
                         StreamHandle stream) {
  enqueue_scan<Tile>(over(pass, totals, launch.blocks, false), {1, launch.threads},
                     chunk_of(launch.blocks, 1, Tile::elements(launch.threads)), nullptr, stream);
}

// All three kernels; `width` as for reduce_kernel.
template <class Tile, int width, class Pass>
void enqueue(const Pass& pass, Launch launch, void* workspace, StreamHandle stream) {
  auto* const totals = static_cast<typename Pass::T*>(workspace);
  const int chunk = chunk_of(pass.n, launch.blocks, Tile::elements(launch.threads));
  enqueue_reduce<width>(pass, launch, chunk, totals, stream);
  enqueue_scan_totals<Tile>(pass, launch, totals, stream);
  enqueue_scan<Tile>(pass, launch, chunk, totals, stream);
}

inline std::size_t totals_bytes(const ScanTask& task, int blocks) {
  return static_cast<std::size_t>(blocks) * info_of(task.type).bytes;
}
inline ScanCost cost(const ScanTask& task, int blocks) {
  const double totals = static_cast<double>(blocks) / task.n;
  return {.launches = 3, .reads = 2 + 2 * totals, .writes = 1 + 2 * totals};
}

// ---- the first parameters of every cascade: threads, and then blocks ----

inline constexpr std::array thread_choices{64, 128, 256, 512};
inline constexpr std::array block_choices{8, 128, 256, 512, 1024, 2048};
inline constexpr std::array parameters{
    ScanParameter{"threads", "threads per block", 256, thread_choices},
    ScanParameter{"blocks", "blocks", 1024, block_choices}};

inline Launch launch_of(const ScanSettings& settings) {
  return {settings[1], settings[0]};
}
inline std::size_t workspace_bytes(const ScanTask& task) {
  return totals_bytes(task, launch_of(task.settings).blocks);
}

}  // namespace facesat::gpu::cascade
