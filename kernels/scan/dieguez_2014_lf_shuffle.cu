// LF-shuffle: Ladner and Fischer's scan among the lanes of a warp, by shuffles.
//
// Idea: each warp scans one element per lane with __shfl, in whose step d the upper half of each
//   group of 2d lanes takes in the last lane of the lower half; the warps' totals are scanned the
//   same way by one warp.
// Shapes: tiles of one element per thread, or of a vector of two, in registers; one element per
//   warp in shared memory. dieguez_2014_lf_shuffle4.cu has vectors of four.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Dieguez et al. 2014, sections IV-D and IV-E.
#include "kernels/scan/dieguez_2014.cuh"

namespace facesat::gpu {
namespace {

template <int width>
using Tile = cascade::ShuffleTile<LadnerFischerLanes, width>;

constexpr std::array vector_choices{1, 2};
constexpr std::array parameters{
    dieguez_2014::threads_parameter, dieguez_2014::blocks_parameter,
    dieguez_2014::variant_parameter,
    ScanParameter{"vector", "adjacent elements per thread", 1, vector_choices}};

void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  if (task.settings[3] == 1)
    dieguez_2014::enqueue<Tile<1>, 1>(task, workspace, stream);
  else
    dieguez_2014::enqueue<Tile<2>, 2>(task, workspace, stream);
}

}  // namespace

const ScanAlgorithm dieguez_2014_lf_shuffle = dieguez_2014::algorithm(
    "dieguez_2014_lf_shuffle", "LF-shuffle: Ladner-Fischer by shuffles", parameters, enqueue);

}  // namespace facesat::gpu
