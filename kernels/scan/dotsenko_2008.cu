// The array as a matrix in shared memory, one row per thread.
//
// Idea: a block loads a tile with coalesced accesses and sees it as a matrix, of which each thread
//   has a row of adjacent elements: it combines its row serially, the rows' totals are scanned, and
//   each thread scans its row from there. A thread does most of its work without communication. The
//   tiles' totals are computed and scanned first, by recursion.
// Shapes: tiles of 15 elements per thread: an odd length of rows avoids bank conflicts.
// Reads and writes per element: 2 / 1.
// Launches: two per level of recursion, less one.
// Workspace: one element per tile, for all levels.
// Source: Y. Dotsenko, N. Govindaraju, P.-P. Sloan, C. Boyd, J. Manferdelli, "Fast Scan Algorithms
//   on Graphics Processors", ICS 2008.
// Departs from it in: the rows' totals are scanned by shuffles.
#include "kernels/scan/recursive.cuh"

namespace facesat::gpu {
namespace {

constexpr int row = 15;

struct Tile {
  static constexpr int elements(int threads) { return row * threads; }
  // The matrix, and one element per warp.
  static constexpr int shared_elements(int threads) { return row * threads + 32; }

  // The elements of shared memory from `first` on.
  template <class T>
  struct From {
    DynamicShared<T> x;
    int first;
    __device__ decltype(auto) operator[](int i) const { return x[first + i]; }
  };

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> x;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    FACESAT_UNROLL
    for (int k = 0; k < row; ++k) x[k * threads + thread] = pass.load(begin + k * threads + thread);
    __syncthreads();
    T total = x[row * thread];
    FACESAT_UNROLL
    for (int k = 1; k < row; ++k) total = pass.op(total, x[row * thread + k]);
    const From<T> totals{x, row * threads};
    const BlockPrefix<T> prefix = scan_block<KoggeStoneLanes>(pass.op, total, totals);
    T sum = pass.op(before, prefix.before);
    FACESAT_UNROLL
    for (int k = 0; k < row; ++k) {
      const T next = pass.op(sum, x[row * thread + k]);
      x[row * thread + k] = pass.is_inclusive ? next : sum;
      sum = next;
    }
    __syncthreads();
    FACESAT_UNROLL
    for (int k = 0; k < row; ++k) {
      const int i = begin + k * threads + thread;
      if (i < pass.n) pass.output[i] = x[k * threads + thread];
    }
    __syncthreads();  // the next tile overwrites x
    return pass.op(before, prefix.total);
  }
};

constexpr std::array parameters{recursive::threads_parameter(128)};

}  // namespace

const ScanAlgorithm dotsenko_2008 = recursive::algorithm<Tile, recursive::Form::reduce_scan>(
    "dotsenko_2008", "Tiles as matrices in shared memory, one row per thread, recursive",
    "Dotsenko, Govindaraju, Sloan, Boyd, Manferdelli: Fast Scan Algorithms on Graphics "
    "Processors, ICS 2008",
    2008, parameters);

}  // namespace facesat::gpu
