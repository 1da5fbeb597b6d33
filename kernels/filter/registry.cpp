#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {
namespace {

constexpr std::array algorithms{
#define FACESAT_FILTER(id) &id,
#include "kernels/filter/registry.def"
#undef FACESAT_FILTER
};

}  // namespace

std::span<const FilterAlgorithm* const> filter_algorithms() {
  return algorithms;
}

const FilterAlgorithm* find_filter(std::string_view id) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const FilterAlgorithm* a) { return a->id == id; });
  return found == algorithms.end() ? nullptr : *found;
}

std::string why_not(const FilterAlgorithm& algorithm, const FilterTask& task) {
  const DeviceMask& mask = task.mask;
  if (mask.kind < algorithm.takes)
    return algorithm.takes == MaskKind::ones ? "for boxes only" : "for separable masks only";
  if (algorithm.is_1d && mask.radius.y != 0) return "for masks of one row only";
  if (std::min(mask.radius.x, mask.radius.y) < 0 ||
      std::max(mask.radius.x, mask.radius.y) > greatest_filter_radius)
    return fmt::format("radii from 0 to {}", greatest_filter_radius);
  return algorithm.why_not ? algorithm.why_not(task) : std::string();
}

}  // namespace facesat::gpu
