// For builds without CUDA.
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

std::span<const SatAlgorithm* const> sat_algorithms() {
  return {};
}

const SatAlgorithm* find_sat(std::string_view) {
  return nullptr;
}

SatChoice choose_sat(std::string_view) {
  return {.why_not = "this build has no CUDA backend"};
}

}  // namespace facesat::gpu
