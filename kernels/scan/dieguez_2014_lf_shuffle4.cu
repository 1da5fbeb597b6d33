// LF-shuffle4: vectors of four elements in registers, then Ladner and Fischer's scan by shuffles.
//
// Idea: a thread loads four adjacent elements as one vector and scans them itself; the threads'
//   totals are scanned as in LF-shuffle. Fewer, larger accesses to memory, and a quarter of the
//   shuffles.
// Shapes: tiles of four elements per thread, in registers; one element per warp in shared memory.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, section IV-E; there the fastest on a Tesla K20.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

constexpr std::array parameters{dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
                                dieguez_2014::variant_parameter};

}  // namespace

const ScanAlgorithm dieguez_2014_lf_shuffle4 = dieguez_2014::algorithm(
    "dieguez_2014_lf_shuffle4", "LF-shuffle4: vectors of four, then Ladner-Fischer by shuffles",
    parameters, dieguez_2014::enqueue<cascade::ShuffleTile<LadnerFischerLanes, 4>, 4>);

}  // namespace facesat::gpu
