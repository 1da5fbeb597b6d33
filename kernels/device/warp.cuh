// Primitives of one warp. All of its lanes must take part.
#pragma once

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

constexpr unsigned full_warp = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_of_thread() {
  return threadIdx.x % warpSize;
}

// The sum of `value` over this lane and all lanes before it: a Kogge-Stone scan in five steps.
template <class T>
__device__ __forceinline__ T warp_inclusive_scan(T value) {
  FACESAT_UNROLL
  for (unsigned d = 1; d < 32; d *= 2) add_from_lane_before(value, d);
  return value;
}

// The sum over all lanes, returned in each of them.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (unsigned d = 16; d > 0; d /= 2) value += __shfl_xor_sync(full_warp, value, d);
  return value;
}

// The largest over all lanes, returned in each of them.
template <class T>
__device__ __forceinline__ T warp_max(T value) {
  for (unsigned d = 16; d > 0; d /= 2) value = max(value, __shfl_xor_sync(full_warp, value, d));
  return value;
}

}  // namespace facesat::gpu
