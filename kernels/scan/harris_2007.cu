// Brent and Kung's pattern: a balanced binary tree in shared memory, up and down.
//
// Idea: the up-sweep combines pairs, pairs of pairs and so on into the root; the down-sweep gives
//   the root the identity and hands each node's value to its left child, and combined with the left
//   child's value to its right one. This does O(N) work in 2 log N steps.
// Shapes: tiles of two elements per thread; one element of padding for every 32, against bank
//   conflicts.
// Reads and writes per element: 2 / 2.
// Launches: two per level of recursion, less one.
// Workspace: one element per tile, for all levels.
// Source: M. Harris, S. Sengupta, J. D. Owens, "Parallel Prefix Sum (Scan) with CUDA", GPU Gems 3,
//   chapter 39, 2007; R. Brent and H. T. Kung 1982; G. Blelloch 1990.
#include "kernels/scan/recursive.cuh"

namespace facesat::gpu {
namespace {

struct Tile {
  static constexpr int elements(int threads) { return 2 * threads; }
  static constexpr int shared_elements(int threads) { return place_of(2 * threads); }
  __host__ __device__ static constexpr int place_of(int i) { return i + i / 32; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> x;
    const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
    const T first = pass.load(begin + thread), second = pass.load(begin + thread + threads);
    x[place_of(thread)] = first;
    x[place_of(thread + threads)] = second;
    int d = 1;  // between the elements of a pair
    for (int pairs = threads; pairs > 0; pairs /= 2, d *= 2) {
      __syncthreads();
      if (thread < pairs) {
        const int left = place_of(d * (2 * thread + 1) - 1),
                  right = place_of(d * (2 * thread + 2) - 1);
        x[right] = pass.op(x[left], x[right]);
      }
    }
    __syncthreads();
    const int root = place_of(2 * threads - 1);
    const T total = x[root];
    __syncthreads();
    if (thread == 0) x[root] = pass.op.identity();
    for (int pairs = 1; pairs <= threads; pairs *= 2) {
      d /= 2;
      __syncthreads();
      if (thread < pairs) {
        const int left = place_of(d * (2 * thread + 1) - 1),
                  right = place_of(d * (2 * thread + 2) - 1);
        const T above = x[right], of_left = x[left];
        x[left] = above;
        x[right] = pass.op(above, of_left);
      }
    }
    __syncthreads();
    store(pass, begin + thread, pass.op(before, x[place_of(thread)]), first);
    store(pass, begin + thread + threads, pass.op(before, x[place_of(thread + threads)]), second);
    __syncthreads();  // the next tile overwrites x
    return pass.op(before, total);
  }

  template <class Pass, class T>
  __device__ static void store(const Pass& pass, int i, T exclusive, T own) {
    if (i < pass.n) pass.output[i] = pass.is_inclusive ? pass.op(exclusive, own) : exclusive;
  }
};

constexpr std::array parameters{recursive::threads_parameter(256)};

}  // namespace

const ScanAlgorithm harris_2007 = recursive::algorithm<Tile, recursive::Form::scan_add>(
    "harris_2007", "Brent-Kung: up-sweep and down-sweep in shared memory, recursive (HO)",
    "Harris, Sengupta, Owens: Parallel Prefix Sum (Scan) with CUDA, GPU Gems 3, 2007", 2007,
    parameters);

}  // namespace facesat::gpu
