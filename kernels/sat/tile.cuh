// Primitives that SAT algorithms share.
#pragma once

#include "kernels/platform.hpp"

namespace facesat::gpu {

constexpr unsigned full_warp = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_of_thread() {
  return threadIdx.x % warpSize;
}

// The sum of `value` over this lane and those before it.
__device__ __forceinline__ std::uint32_t warp_inclusive_scan(std::uint32_t value) {
  for (unsigned d = 1; d < 32; d *= 2) {
    const std::uint32_t other = __shfl_up_sync(full_warp, value, d);
    if (lane_of_thread() >= d) value += other;
  }
  return value;
}

// Four neighbouring pixels from one word, those beyond the row's end as zeros.
struct Four {
  std::uint32_t v[4];
};
__device__ __forceinline__ Four unpack(std::uint32_t word, int pixels_left) {
  Four four;
  for (int i = 0; i < 4; ++i) four.v[i] = i < pixels_left ? word >> (8 * i) & 0xFF : 0;
  return four;
}

// Turns four values into their running sums.
__device__ __forceinline__ void prefix(Four& f) {
  f.v[1] += f.v[0];
  f.v[2] += f.v[1];
  f.v[3] += f.v[2];
}

__device__ __forceinline__ Four squares(const Four& f) {
  return {{f.v[0] * f.v[0], f.v[1] * f.v[1], f.v[2] * f.v[2], f.v[3] * f.v[3]}};
}

}  // namespace facesat::gpu
