// Reads table elements at a node's corners, in shared memory.
#pragma once

#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

using Patch = DynamicShared<std::uint32_t>;

// The elements at two corners, whose offsets a node packs into one word. `base` is the address of
// the window's first word in the patch.
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

// A window: the address of its first word in the patch, and its inverse deviation.
struct Place {
  unsigned base;
  float inverse_deviation;
};

}  // namespace facesat::gpu
