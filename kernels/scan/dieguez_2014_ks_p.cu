// KS-p: Kogge and Stone's scan in shared memory, several elements per thread.
//
// Idea: in step d of log2 N, element i of a tile takes in element i - d. Elements of a thread are
//   as many apart as the block has threads, so that accesses are coalesced and have no bank
//   conflicts.
// Shapes: tiles of b elements per thread in shared memory.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section II-B and figure 4; P. Kogge and H. Stone 1973.
// Departs from it in: the first elements, which have no partner in a step, are left out by a
//   condition, where the paper pads the array so that every thread has b butterflies.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

template <int b>
struct Tile {
  static constexpr int elements(int threads) { return b * threads; }
  static constexpr int shared_elements(int threads) { return b * threads; }

  template <class Pass>
  __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
    DynamicShared<typename Pass::T> x;
    dieguez_2014::load_tile<b>(pass, begin, x);
    dieguez_2014::scan_kogge_stone<b>(pass.op, x);
    return dieguez_2014::store_tile<b>(pass, begin, before, x);
  }
};

constexpr std::array parameters{
    dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
    dieguez_2014::variant_parameter,
    ScanParameter{"butterflies", "elements per thread (b)", 2, dieguez_2014::butterfly_choices}};

}  // namespace

const ScanAlgorithm dieguez_2014_ks_p = dieguez_2014::algorithm(
    "dieguez_2014_ks_p", "KS-p: Kogge-Stone in shared memory, a cascade of three kernels",
    parameters, dieguez_2014::enqueue_butterflies<Tile>);

}  // namespace facesat::gpu
