#include <algorithm>
#include <array>

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

// In the order of registry.def, whose lines expand to &algorithm.
constexpr std::array algorithms{
#define FACESAT_SAT(id) &id,
#include "kernels/sat/registry.def"
#undef FACESAT_SAT
};

}  // namespace

std::span<const SatAlgorithm* const> sat_algorithms() {
  return algorithms;
}

const SatAlgorithm* find_sat(std::string_view id) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const SatAlgorithm* a) { return a->id == id; });
  return found == algorithms.end() ? nullptr : *found;
}

}  // namespace facesat::gpu
