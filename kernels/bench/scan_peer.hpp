// Third-party code that is measured alongside our collection of prefix scans: what users have
// without the collection.
#pragma once

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

// CUB. It fulfils the contract of kernels/scan/algorithm.hpp, but is not in its registry, and its
// id is "peer_cub".
extern const ScanAlgorithm peer_cub_scan;

}  // namespace facesat::gpu
