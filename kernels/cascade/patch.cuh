// Reads the integral image at the corners of a node's rectangles. The elements lie in a patch: a
// copy, in shared memory, of the part that the block's windows need (see patch_layout.hpp).
#pragma once

#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

using Patch = DynamicShared<std::uint32_t>;

// The elements at two corners. A node packs the two offsets into one word, and the members here are
// named after the halves of that word. `base` is the address of the window's first element in the
// patch, in bytes.
struct Two {
  std::uint32_t lower, upper;
};
__device__ __forceinline__ Two elements(const Patch& patch, unsigned base, unsigned corners) {
  return {patch.at(add_lower_word(base, corners)), patch.at(add_upper_word(base, corners))};
}
// The element at one corner; 4 is the size of an element in bytes.
__device__ __forceinline__ std::uint32_t element(const Patch& patch, unsigned base,
                                                 unsigned corner) {
  return patch.at(base + corner * 4);
}

// A window: the address of its first element in the patch, and 1 / (area * standard deviation).
struct Place {
  unsigned base;
  float inverse_deviation;
};

}  // namespace facesat::gpu
