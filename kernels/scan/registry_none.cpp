// For builds without CUDA.
#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

std::span<const ScanAlgorithm* const> scan_algorithms() {
  return {};
}

}  // namespace facesat::gpu
