// Scans within warps, which need no barriers, combined to scans of blocks: CUDPP's scan, as Dieguez
// et al. 2014 describe it.
//
// Idea: a thread scans two vectors of four elements itself; a warp scans the threads' totals with
//   Kogge and Stone's steps in shared memory, where its lanes run in step; one warp scans the
//   warps' totals.
// Shapes: tiles of eight elements per thread.
// Reads and writes per element: 2 / 2.
// Launches: two per level of recursion, less one.
// Workspace: one element per tile, for all levels.
// Source: S. Sengupta, M. Harris, M. Garland, "Efficient Parallel Scan Algorithms for GPUs",
//   NVIDIA technical report NVR-2008-003, 2008.
// Departs from it in: __syncwarp() after each access of a warp, whose lanes no longer run in step
//   by themselves.
#include "kernels/scan/recursive.cuh"

namespace facesat::gpu {
namespace {

constexpr int width = 8;

struct Tile {
  static constexpr int elements(int threads) { return width * threads; }
  // One element per thread, and one per warp.
  static constexpr int shared_elements(int threads) { return threads + 32; }

  // The inclusive scan of the warp's x[first] to x[first + 31], in place.
  template <class T, class Op>
  __device__ static void scan_warp(const Op& op, DynamicShared<T> x, int first) {
    const int lane = static_cast<int>(lane_of_thread());
    FACESAT_UNROLL
    for (int d = 1; d < 32; d *= 2) {
      const T own = x[first + lane];
      const T sum = lane >= d ? op(x[first + lane - (lane >= d ? d : 0)], own) : own;
      __syncwarp();
      x[first + lane] = sum;
      __syncwarp();
    }
  }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> x;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, warp = thread / 32, warps = threads / 32;
    const int i = begin + width * thread;
    auto own = pass.template load_several<width>(i);
    FACESAT_UNROLL
    for (int k = 1; k < width; ++k) own.v[k] = pass.op(own.v[k - 1], own.v[k]);
    x[thread] = own.v[width - 1];
    __syncwarp();
    scan_warp(pass.op, x, 32 * warp);
    __syncthreads();
    if (warp == 0) {
      x[threads + lane] =
          lane < warps ? T(x[32 * (lane < warps ? lane : 0) + 31]) : pass.op.identity();
      __syncwarp();
      scan_warp(pass.op, x, threads);
    }
    __syncthreads();
    T prefix = warp > 0 ? pass.op(before, x[threads + warp - 1]) : before;
    if (lane > 0) prefix = pass.op(prefix, x[thread - 1]);
    pass.template store_several<width>(i, prefix, own);
    const T end = pass.op(before, x[threads + warps - 1]);
    __syncthreads();  // the next tile overwrites x
    return end;
  }
};

constexpr std::array parameters{recursive::threads_parameter(128)};

}  // namespace

const ScanAlgorithm sengupta_2008 = recursive::algorithm<Tile, recursive::Form::scan_add>(
    "sengupta_2008", "Scans within warps, then of blocks, recursive (CUDPP)",
    "Sengupta, Harris, Garland: Efficient Parallel Scan Algorithms for GPUs, NVIDIA "
    "NVR-2008-003, 2008",
    2008, parameters);

}  // namespace facesat::gpu
