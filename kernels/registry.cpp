// The lists of algorithms. In builds without CUDA, those of none.cpp are in their place.
#include <array>

#include "kernels/filter/algorithm.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"

#define FACESAT_ALGORITHM(id) &id,

namespace facesat::gpu {

Algorithms<SatAlgorithm> sat_algorithms() {
  static constexpr std::array all{
#include "kernels/sat/registry.def"
  };
  return all;
}

Algorithms<ScanAlgorithm> scan_algorithms() {
  static constexpr std::array all{
#include "kernels/scan/registry.def"
  };
  return all;
}

Algorithms<FilterAlgorithm> filter_algorithms() {
  static constexpr std::array all{
#include "kernels/filter/registry.def"
  };
  return all;
}

}  // namespace facesat::gpu
