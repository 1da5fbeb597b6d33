// Primitives that SAT algorithms share.
#pragma once

#include "kernels/platform.hpp"

namespace facesat::gpu {

constexpr unsigned full_warp = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_of_thread() {
  return threadIdx.x % warpSize;
}

// The sum of `value` over this lane and those before it: Kogge and Stone's scan, five steps.
template <class T>
__device__ __forceinline__ T warp_inclusive_scan(T value) {
  for (unsigned d = 1; d < 32; d *= 2) {
    const T other = __shfl_up_sync(full_warp, value, d);
    if (lane_of_thread() >= d) value += other;
  }
  return value;
}

// The sum of all lanes, in each of them.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (unsigned d = 16; d > 0; d /= 2) value += __shfl_xor_sync(full_warp, value, d);
  return value;
}

// Four neighbours in a row, moved by accesses of up to 16 bytes.
template <class T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) Four {
  T v[4];
};

// From row[x] on, zeros beyond `width`; x is a multiple of 4.
template <class T>
__device__ __forceinline__ Four<T> load_four(const T* row, int x, int width) {
  if (x + 4 <= width) return *reinterpret_cast<const Four<T>*>(row + x);
  Four<T> four;
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) four.v[i] = x + i < width ? row[x + i] : T{};
  return four;
}
template <class T>
__device__ __forceinline__ void store_four(T* row, int x, int width, const Four<T>& four) {
  if (x + 4 <= width) {
    *reinterpret_cast<Four<T>*>(row + x) = four;
    return;
  }
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i)
    if (x + i < width) row[x + i] = four.v[i];
}

// What a pass sums up of four pixels, as running sums.
template <class Pass>
__device__ __forceinline__ Four<typename Pass::Out> running_sums(
    const Four<typename Pass::In>& pixels) {
  Four<typename Pass::Out> sums;
  FACESAT_UNROLL
  for (int i = 0; i < 4; ++i) {
    sums.v[i] = Pass::value(pixels.v[i]);
    if (i > 0) sums.v[i] += sums.v[i - 1];
  }
  return sums;
}

}  // namespace facesat::gpu
