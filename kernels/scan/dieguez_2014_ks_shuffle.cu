// KS-shuffle: Kogge and Stone's scan among the lanes of a warp, by shuffles.
//
// Idea: each warp scans one element per lane with __shfl_up; the warps' totals are scanned the same
//   way by one warp.
// Shapes: tiles of one element per thread, in registers; one element per warp in shared memory.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section IV-D.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

constexpr std::array parameters{dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
                                dieguez_2014::variant_parameter};

}  // namespace

const ScanAlgorithm dieguez_2014_ks_shuffle = dieguez_2014::algorithm(
    "dieguez_2014_ks_shuffle", "KS-shuffle: Kogge-Stone by shuffles", parameters,
    dieguez_2014::enqueue<cascade::ShuffleTile<KoggeStoneLanes, 1>, 1>);

}  // namespace facesat::gpu
