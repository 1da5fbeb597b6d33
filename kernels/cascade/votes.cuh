// What a tree says of a window: decisions on Haar and LBP features, read from a tile's patch.
#pragma once

#include "kernels/cascade/evaluate.hpp"
#include "kernels/platform.hpp"

namespace facesat::gpu {

using Patch = DynamicShared<std::uint32_t>;

// The table elements of two corners, packed as in HaarNode. `base` is the address of the window's first
// word in the patch.
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

// ---- Haar: the value before normalisation, of a window or a pair

__device__ __forceinline__ std::uint32_t edge_value(const HaarNode& n, const Patch& patch,
                                                    unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper, parts = c.lower - c.upper;
  return ones + static_cast<std::uint32_t>(n.weight) * parts;
}

__device__ __forceinline__ std::uint32_t line_value(const HaarNode& n, const Patch& patch,
                                                    unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t ones = a.lower + a.upper - b.lower - b.upper,
                      parts = c.lower + c.upper - d.lower - d.upper;
  return ones + static_cast<std::uint32_t>(n.weight) * parts;
}

__device__ __forceinline__ std::uint32_t quad_value(const HaarNode& n, const Patch& patch,
                                                    unsigned base) {
  const Two a = elements(patch, base, n.corners[0]), b = elements(patch, base, n.corners[1]),
            c = elements(patch, base, n.corners[2]), d = elements(patch, base, n.corners[3]);
  const std::uint32_t outer = a.lower + a.upper + b.lower + b.upper,
                      inner = c.lower + c.upper + d.lower + d.upper;
  return static_cast<std::uint32_t>(n.weight) *
         (outer - 2 * inner + 4 * element(patch, base, n.last_corner));
}

// Of a pair: the upper window's sum F and the lower one's G from F + 2^16 G; with a sign, or without.
__device__ __forceinline__ std::int32_t upper_of(std::uint32_t sums) {
  return static_cast<std::int16_t>(sums);
}
__device__ __forceinline__ std::int32_t lower_of(std::uint32_t sums) {
  return static_cast<std::int32_t>(sums + 0x8000u) >> 16;
}

// The sums of a general feature's rectangle, each part of it through `take`.
template <class Take>
__device__ __forceinline__ void for_parts(const GeneralFeature& f, int rectangle,
                                          const StepCascade& cascade, const Patch& patch,
                                          unsigned base, Take take) {
  for (int i = f.first_part[rectangle]; i < f.first_part[rectangle + 1]; ++i) {
    const Two a = elements(patch, base, cascade.parts[i].corners[0]),
              b = elements(patch, base, cascade.parts[i].corners[1]);
    take(a.lower - a.upper - b.lower + b.upper);
  }
}

// The order of these f32 operations is part of the result. sums: of the three rectangles.
__device__ __forceinline__ float weighted(const GeneralFeature& f, const std::uint32_t (&sums)[3]) {
  const auto sum = [&](int i) { return static_cast<float>(static_cast<std::int32_t>(sums[i])); };
  float value = f.weight[0] * sum(0) + f.weight[1] * sum(1);
  if (f.weight[2] != 0) value += f.weight[2] * sum(2);
  return value;
}

__device__ __forceinline__ float general_value(const HaarNode& n, const StepCascade& cascade,
                                               const Patch& patch, unsigned base) {
  const GeneralFeature& f = cascade.general[n.corners[0]];
  std::uint32_t sums[3]{};
  for (int i = 0; i < 3; ++i)
    for_parts(f, i, cascade, patch, base, [&](std::uint32_t sum) { sums[i] += sum; });
  return weighted(f, sums);
}

// The same for a pair.
__device__ __forceinline__ void general_values(const HaarNode& n, const StepCascade& cascade,
                                               const Patch& patch, unsigned base,
                                               float (&values)[2]) {
  const GeneralFeature& f = cascade.general[n.corners[0]];
  std::uint32_t upper[3]{}, lower[3]{};
  for (int i = 0; i < 3; ++i)
    for_parts(f, i, cascade, patch, base, [&](std::uint32_t sums) {
      upper[i] += sums & 0xFFFF;
      lower[i] += sums >> 16;
    });
  values[0] = weighted(f, upper);
  values[1] = weighted(f, lower);
}

__device__ __forceinline__ bool goes_left(const HaarNode& n, const StepCascade& cascade,
                                          const Patch& patch, unsigned base,
                                          float inverse_deviation) {
  float value;
  switch (n.kind) {
    case HaarKind::edge:
      value = static_cast<float>(static_cast<std::int32_t>(edge_value(n, patch, base)));
      break;
    case HaarKind::line:
      value = static_cast<float>(static_cast<std::int32_t>(line_value(n, patch, base)));
      break;
    case HaarKind::quad:
      value = static_cast<float>(static_cast<std::int32_t>(quad_value(n, patch, base)));
      break;
    default:
      value = general_value(n, cascade, patch, base);
  }
  return value * inverse_deviation < n.threshold;
}

// ---- LBP: one bit for each block around the centre that is not below it, clockwise from the top
// left, the highest bit first

__device__ __forceinline__ bool goes_left(const LbpNode& n, const StepCascade&, const Patch& patch,
                                          unsigned base, float) {
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
  const auto bit = [&](int i, int j, unsigned place) {
    return block(i, j) >= centre ? 1u << place : 0u;
  };
  const unsigned code = bit(0, 0, 7) | bit(1, 0, 6) | bit(2, 0, 5) | bit(2, 1, 4) | bit(2, 2, 3) |
                        bit(1, 2, 2) | bit(0, 2, 1) | bit(0, 1, 0);
  return (n.subset[code >> 5] >> (code & 31) & 1) != 0;
}

// Walks a tree from its root; gives the index of the leaf.
template <class Node>
__device__ __forceinline__ std::int32_t leaf_of(const Node* root, const StepCascade& cascade,
                                                const Patch& patch, unsigned base,
                                                float inverse_deviation) {
  for (const Node* node = root;;) {
    const bool left = goes_left(*node, cascade, patch, base, inverse_deviation);
    const int child = left ? node->branch.left : node->branch.right;
    if (child <= 0) return node->branch.first_leaf - child;
    node = root + child;
  }
}

}  // namespace facesat::gpu
