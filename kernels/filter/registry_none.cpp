// For builds without CUDA.
#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {

std::span<const FilterAlgorithm* const> filter_algorithms() {
  return {};
}
const FilterAlgorithm* find_filter(std::string_view) {
  return nullptr;
}

}  // namespace facesat::gpu
