// Asks for a line of global memory to be brought to the L2 cache.
#pragma once

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

__device__ __forceinline__ void prefetch_to_l2([[maybe_unused]] const void* address) {
#ifndef FACESAT_SIMT
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace facesat::gpu
