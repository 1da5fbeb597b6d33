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
//   // Scans the tile that begins at `begin` and stores its results. `before` is the combination of
//   // all elements before. Returns the combination up to the tile's end, in every thread. Ends
//   with
//   // a barrier, unless it uses no shared memory.
//   template <class Pass> static T scan(const Pass&, int begin, T before);
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
// whose number is a power of two.
template <class T, class Op>
__device__ __forceinline__ T reduce_block(const Op& op, T value, DynamicShared<T> values) {
  const int thread = static_cast<int>(threadIdx.x);
  values[thread] = value;
  __syncthreads();
  for (int half = static_cast<int>(blockDim.x) / 2; half > 0; half /= 2) {
    if (thread < half) values[thread] = op(values[thread], values[thread + half]);
    __syncthreads();
  }
  return values[0];
}

// The combination of chunk `block`, in thread 0. A thread combines `width` adjacent elements at a
// time; operators are commutative, so that threads may take elements in turn.
template <int width, class Pass>
__device__ __forceinline__ typename Pass::T reduce_chunk(const Pass& pass, int block, int chunk) {
  using T = typename Pass::T;
  const Range range = range_of(block, chunk, pass.n);
  T sum = pass.op.identity();
  for (int begin = range.begin; begin < range.end; begin += width * static_cast<int>(blockDim.x)) {
    const auto loaded =
        pass.template load_several<width>(begin + width * static_cast<int>(threadIdx.x));
    FACESAT_UNROLL
    for (int k = 0; k < width; ++k) sum = pass.op(sum, loaded.v[k]);
  }
  return reduce_block(pass.op, sum, DynamicShared<T>());
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
template <class Lanes, int width>
struct ShuffleTile {
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
    const BlockPrefix<T> prefix = scan_block<Lanes>(pass.op, own.v[width - 1], totals);
    pass.template store_several<width>(i, pass.op(before, prefix.before), own);
    const T end = pass.op(before, prefix.total);
    __syncthreads();  // the next tile overwrites the totals
    return end;
  }
};

// rd: totals[b] becomes the combination of chunk b.
template <int width, class Pass>
__global__ void reduce_kernel(Pass pass, int chunk, typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x);
  const typename Pass::T total = reduce_chunk<width>(pass, block, chunk);
  if (threadIdx.x == 0) totals[block] = total;
}

// p2: scans chunk b from totals[b] on. With totals == nullptr, p: the only block has nothing before
// it.
template <class Tile, class Pass>
__global__ void scan_kernel(Pass pass, int chunk, const typename Pass::T* totals) {
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
template <int width, class Pass>
void enqueue_reduce(const Pass& pass, Launch launch, int chunk, typename Pass::T* totals,
                    StreamHandle stream) {
  FACESAT_LAUNCH_SHARED((reduce_kernel<width, Pass>), dim3(static_cast<unsigned>(launch.blocks)),
                        dim3(static_cast<unsigned>(launch.threads)),
                        static_cast<int>(sizeof(typename Pass::T)) * launch.threads, stream, pass,
                        chunk, totals);
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
