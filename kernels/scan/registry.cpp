#include <array>

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {
namespace {

// In the order of registry.def, whose lines expand to &algorithm.
constexpr std::array algorithms{
#define FACESAT_SCAN(id) &id,
#include "kernels/scan/registry.def"
#undef FACESAT_SCAN
};

}  // namespace

std::span<const ScanAlgorithm* const> scan_algorithms() {
  return algorithms;
}

}  // namespace facesat::gpu
