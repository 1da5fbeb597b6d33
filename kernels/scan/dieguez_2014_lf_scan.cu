// LF-scan: Ladner and Fischer's parallel prefix adder in shared memory.
//
// Idea: a step of radix r joins r adjacent runs of d elements, each of which is scanned already:
//   the elements of a run take in the last elements of the runs before it. With r = 2, the elements
//   that are read are not written in the same step, so that a step needs one barrier.
// Shapes: tiles of r * b elements per thread in shared memory; a butterfly is one element of each
//   of the r runs.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section III-B and figure 9; R. Ladner and M. Fischer 1980.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

template <int radix, int b>
struct Tile {
  static constexpr int per_thread = radix * b;
  static constexpr int elements(int threads) { return per_thread * threads; }
  static constexpr int shared_elements(int threads) { return per_thread * threads; }

  // Joins runs of d elements into runs of r * d. Ends with a barrier.
  template <int r, class T, class Op>
  __device__ __forceinline__ static void join(const Op& op, DynamicShared<T> x, int d) {
    constexpr int butterflies = per_thread / r;  // per thread
    const int threads = static_cast<int>(blockDim.x);
    T joined[butterflies * (r - 1)];
    const auto first_of = [&](int k) {  // the element of the first run
      const int j = k * threads + static_cast<int>(threadIdx.x);
      return (j & -d) * r + (j & (d - 1));
    };
    FACESAT_UNROLL
    for (int k = 0; k < butterflies; ++k) {
      const int first = first_of(k), last = first | (d - 1);  // last: of the first run
      T runs = x[last];
      FACESAT_UNROLL
      for (int q = 1; q < r; ++q) {
        joined[k * (r - 1) + q - 1] = op(runs, x[first + q * d]);
        if (q + 1 < r) runs = op(runs, x[last + q * d]);
      }
    }
    if constexpr (r > 2) __syncthreads();
    FACESAT_UNROLL
    for (int k = 0; k < butterflies; ++k) FACESAT_UNROLL
    for (int q = 1; q < r; ++q) x[first_of(k) + q * d] = joined[k * (r - 1) + q - 1];
    __syncthreads();
  }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    DynamicShared<typename Pass::T> x;
    const int size = elements(static_cast<int>(blockDim.x));
    dieguez_2014::load_tile<per_thread>(pass, begin, x);
    int d = 1;
    for (; d * radix <= size; d *= radix) join<radix>(pass.op, x, d);
    for (; d < size; d *= 2) join<2>(pass.op, x, d);  // if the size is no power of the radix
    return dieguez_2014::store_tile<per_thread>(pass, begin, before, x);
  }
};

constexpr std::array radix_choices{2, 4};
constexpr std::array parameters{
    dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
    dieguez_2014::variant_parameter,
    ScanParameter{"radix", "runs that a step joins (r)", 2, radix_choices},
    ScanParameter{"butterflies", "groups of r elements per thread (b)", 2,
                  dieguez_2014::butterfly_choices}};

template <int radix>
void enqueue_radix(const ScanTask& task, void* workspace, StreamHandle stream) {
  switch (task.settings[4]) {
    case 1:
      return dieguez_2014::enqueue<Tile<radix, 1>, 1>(task, workspace, stream);
    case 2:
      return dieguez_2014::enqueue<Tile<radix, 2>, 1>(task, workspace, stream);
    default:
      return dieguez_2014::enqueue<Tile<radix, 4>, 1>(task, workspace, stream);
  }
}

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  if (task.settings[3] == 2)
    enqueue_radix<2>(task, workspace, stream);
  else
    enqueue_radix<4>(task, workspace, stream);
}

}  // namespace

const ScanAlgorithm dieguez_2014_lf_scan = dieguez_2014::algorithm(
    "dieguez_2014_lf_scan", "LF-scan: Ladner-Fischer in shared memory, of radix 2 or 4", parameters,
    enqueue);

}  // namespace facesat::gpu
