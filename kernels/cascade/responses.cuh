// What a tree says of a window: decisions on Haar and LBP features, read from a tile's patch.
#pragma once

#include <utility>

#include "core/rules.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

using Patch = DynamicShared<std::uint32_t>;

// The table elements of two corners, packed as in HaarNode. `base` is the address of the window's
// first word in the patch.
struct Two {
  std::uint32_t lower, upper;
};
__device__ __forceinline__ Two elements(const Patch& patch, unsigned base, unsigned corners) {
  return {patch.at(add_lower_word(base, corners)), patch.at(add_upper_word(base, corners))};
}
__device__ __forceinline__ std::uint32_t element(const Patch& patch, unsigned base,
                                                 unsigned corner) {
  return patch.at(base + corner * 4);
}

// ---- Haar: the value before normalisation

__device__ __forceinline__ std::int32_t edge_value(const HaarNode& n, const Patch& patch,
                                                   unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper, parts = c.lower - c.upper;
  return static_cast<std::int32_t>(ones + static_cast<std::uint32_t>(n.weight) * parts);
}

__device__ __forceinline__ std::int32_t line_value(const HaarNode& n, const Patch& patch,
                                                   unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper,
                      parts = c.lower + c.upper - d.lower - d.upper;
  return static_cast<std::int32_t>(ones + static_cast<std::uint32_t>(n.weight) * parts);
}

__device__ __forceinline__ std::int32_t quad_value(const HaarNode& n, const Patch& patch,
                                                   unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t outer = a.lower + a.upper + b.lower + b.upper,
                      inner = c.lower + c.upper + d.lower + d.upper;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(n.weight) *
                                   (outer - 2 * inner + 4 * element(patch, base, n.last_corner)));
}

__device__ __forceinline__ float general_value(const HaarNode& n, const GeneralFeature* features,
                                               const Patch& patch, unsigned base) {
  const GeneralFeature& f = features[n.corners[0]];
  const auto sum = [&](int part) {
    const auto p = [&](int i) { return element(patch, base, f.corner[part][i]); };
    return static_cast<float>(static_cast<std::int32_t>(p(0) - p(1) - p(2) + p(3)));
  };
  return rules::haar_value(f.weight, sum);
}

__device__ __forceinline__ bool goes_left(const HaarNode& n, int, const StepCascade& cascade,
                                          const Patch& patch, unsigned base,
                                          float inverse_deviation) {
  float value;
  switch (n.kind) {
    case HaarKind::edge:
      value = static_cast<float>(edge_value(n, patch, base));
      break;
    case HaarKind::line:
      value = static_cast<float>(line_value(n, patch, base));
      break;
    case HaarKind::quad:
      value = static_cast<float>(quad_value(n, patch, base));
      break;
    default:
      value = general_value(n, cascade.general, patch, base);
  }
  return value * inverse_deviation < n.threshold;
}

// ---- LBP

__device__ __forceinline__ unsigned lbp_code(const LbpNode& n, const Patch& patch, unsigned base) {
  std::uint32_t across[4][3];  // differences of neighbouring corners of a row
  for (int j = 0; j < 4; ++j) {
    const Two left = elements(patch, base, n.corners[j][0]),
              right = elements(patch, base, n.corners[j][1]);
    across[j][0] = left.upper - left.lower;
    across[j][1] = right.lower - left.upper;
    across[j][2] = right.upper - right.lower;
  }
  const auto block = [&](int i, int j) { return across[j + 1][i] - across[j][i]; };
  const std::uint32_t centre = block(1, 1);
  const auto bit = [&]<int n>(std::integral_constant<int, n>) {
    constexpr rules::Corner b = rules::lbp_blocks[n];
    return block(b.x, b.y) >= centre ? 128u >> n : 0u;
  };
  return [&]<int... n>(std::integer_sequence<int, n...>) {
    return (bit(std::integral_constant<int, n>()) | ...);
  }
  (std::make_integer_sequence<int, 8>());
}

// The subset is read from memory, node i's: every lane may ask for another word of it.
__device__ __forceinline__ bool goes_left(const LbpNode& n, int i, const StepCascade& cascade,
                                          const Patch& patch, unsigned base, float) {
  const unsigned code = lbp_code(n, patch, base);
  return (cascade.lbp_nodes[i].subset[code >> 5] >> (code & 31) & 1) != 0;
}

}  // namespace facesat::gpu
