// DA: four adjacent elements per thread, scanned in registers, then Kogge and Stone's scan of the
// threads' totals in shared memory.
//
// Idea: a first step of radix 4 takes place in registers, on elements that were loaded as one
//   vector; shared memory holds one element per thread.
// Shapes: tiles of four elements per thread.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section II-B.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

struct Tile {
  static constexpr int elements(int threads) { return 4 * threads; }
  static constexpr int shared_elements(int threads) { return threads; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    DynamicShared<T> totals;
    const int thread = static_cast<int>(threadIdx.x), i = begin + 4 * thread;
    auto own = pass.template load_several<4>(i);
    FACESAT_UNROLL
    for (int k = 1; k < 4; ++k) own.v[k] = pass.op(own.v[k - 1], own.v[k]);
    totals[thread] = own.v[3];
    __syncthreads();
    dieguez_2014::scan_kogge_stone<1>(pass.op, totals);
    const T before_thread = thread > 0 ? pass.op(before, totals[thread - 1]) : before;
    pass.template store_several<4>(i, before_thread, own);
    const T end = pass.op(before, totals[static_cast<int>(blockDim.x) - 1]);
    __syncthreads();  // the next tile overwrites the totals
    return end;
  }
};

constexpr std::array parameters{dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
                                dieguez_2014::variant_parameter};

}  // namespace

const ScanAlgorithm dieguez_2014_da = dieguez_2014::algorithm(
    "dieguez_2014_da", "DA: vectors of four in registers, then Kogge-Stone in shared memory",
    parameters, dieguez_2014::enqueue<Tile, 4>);

}  // namespace facesat::gpu
