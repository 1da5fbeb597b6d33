// Reads the integral image at the corners of a node's rectangles. The elements lie in a patch: a
// copy, in shared memory, of the part that the block's windows need (see patch_layout.hpp).
#pragma once

#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

using Patch = DynamicShared<std::uint32_t>;

// The address of a window's first element in the patch: a sum, so that windows at constant
// distances of each other can share the addresses of corners, and differ in the constant parts of
// loads.
struct Base {
  unsigned address;
  unsigned distance = 0;

  // The bank of shared memory that has this element.
  __device__ unsigned bank() const { return (address + distance) / 4 % 32; }
};

// The elements at two corners. A node packs the two offsets into one word, and the members here are
// named after the halves of that word.
struct Two {
  std::uint32_t lower, upper;
};
__device__ __forceinline__ Two elements(const Patch& patch, Base base, unsigned corners) {
  return {patch.at(add_lower_word(base.address, corners) + base.distance),
          patch.at(add_upper_word(base.address, corners) + base.distance)};
}
// The element at one corner; 4 is the size of an element in bytes.
__device__ __forceinline__ std::uint32_t element(const Patch& patch, Base base, unsigned corner) {
  return patch.at(base.address + corner * 4 + base.distance);
}

// A window: where it begins in the patch, and 1 / (area * standard deviation).
struct Place {
  Base base;
  float inverse_deviation;
};

}  // namespace facesat::gpu
