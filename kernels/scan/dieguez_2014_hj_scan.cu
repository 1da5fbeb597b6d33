// HJ-scan: the elimination phase of Hockney and Jesshope's cyclic reduction as a scan.
//
// Idea: in step d, butterfly j has the element c = (j / d) * d + j as its centre. c takes in the
//   element d before it, and the element d after c takes in what c was before the step. All threads
//   are busy in every step.
// Shapes: tiles of 2b elements per thread in shared memory.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section III-A and figure 7; R. Hockney and C. Jesshope, "Parallel
//   Computers 2", 1988.
// Departs from it in: a barrier between the reads and the writes of a step, which figure 7 leaves
//   out: the centre of one butterfly is read by the next one, too.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

template <int b>
struct Tile {
  static constexpr int elements(int threads) { return 2 * b * threads; }
  static constexpr int shared_elements(int threads) { return 2 * b * threads; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    using T = typename Pass::T;
    const int threads = static_cast<int>(blockDim.x);
    DynamicShared<T> x;
    dieguez_2014::load_tile<2 * b>(pass, begin, x);
    for (int d = 1; d < 2 * b * threads; d *= 2) {
      T centre[b], right[b];
      FACESAT_UNROLL
      for (int k = 0; k < b; ++k) {
        const int j = k * threads + static_cast<int>(threadIdx.x), c = (j & -d) + j;
        const T own = x[c];
        centre[k] = c >= d ? pass.op(x[c - d], own) : own;
        right[k] = pass.op(own, x[c + d]);
      }
      __syncthreads();
      FACESAT_UNROLL
      for (int k = 0; k < b; ++k) {
        const int j = k * threads + static_cast<int>(threadIdx.x), c = (j & -d) + j;
        x[c] = centre[k];
        x[c + d] = right[k];
      }
      __syncthreads();
    }
    return dieguez_2014::store_tile<2 * b>(pass, begin, before, x);
  }
};

constexpr std::array parameters{dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
                                dieguez_2014::variant_parameter,
                                ScanParameter{"butterflies", "pairs of elements per thread (b)", 2,
                                              dieguez_2014::butterfly_choices}};

}  // namespace

const ScanAlgorithm dieguez_2014_hj_scan = dieguez_2014::algorithm(
    "dieguez_2014_hj_scan", "HJ-scan: the elimination of cyclic reduction in shared memory",
    parameters, dieguez_2014::enqueue_butterflies<Tile>);

}  // namespace facesat::gpu
