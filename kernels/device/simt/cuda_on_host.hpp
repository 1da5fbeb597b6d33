// The part of the CUDA language that the kernels use, implemented with simt.hpp: to be included in
// place of CUDA's headers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/device/simt/simt.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static thread_local

using dim3 = simt::Dim3;
#define threadIdx (simt::thread_index())
#define blockIdx (simt::block_index())
#define blockDim (simt::block_size())
#define gridDim (simt::grid_size())
constexpr int warpSize = 32;

struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct uchar4 {
  unsigned char x, y, z, w;
} __attribute__((aligned(4)));
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

namespace simt {

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The value of lane `from`, which must be in the mask.
template <class T>
T received(const std::uint64_t* values, unsigned mask, unsigned from) {
  if ((mask >> from & 1) == 0) undefined("a shuffle reads a lane outside its mask");
  return from_bits<T>(values[from]);
}

}  // namespace simt

inline void __syncthreads() {
  simt::block_barrier();
}
inline int __syncthreads_or(int predicate) {
  return simt::block_barrier(predicate != 0);
}
[[noreturn]] inline void __trap() {
  simt::undefined("a kernel ends with an error");
}
inline void __threadfence() {}
inline void __threadfence_block() {}  // only one fibre runs at any moment
inline void __syncwarp(unsigned mask = ~0u) {
  simt::exchange(simt::WarpOperation::barrier, mask, 0);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  const auto* values = simt::exchange(simt::WarpOperation::shuffle, mask, simt::to_bits(value));
  return simt::received<T>(values, mask, static_cast<unsigned>(lane) % 32);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta) {
  const auto* values = simt::exchange(simt::WarpOperation::shuffle_up, mask, simt::to_bits(value));
  const unsigned lane = simt::lane_index();
  return lane < delta ? value : simt::received<T>(values, mask, lane - delta);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta) {
  const auto* values =
      simt::exchange(simt::WarpOperation::shuffle_down, mask, simt::to_bits(value));
  const unsigned lane = simt::lane_index();
  return lane + delta > 31 ? value : simt::received<T>(values, mask, lane + delta);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned bits) {
  const auto* values = simt::exchange(simt::WarpOperation::shuffle_xor, mask, simt::to_bits(value));
  return simt::received<T>(values, mask, simt::lane_index() ^ bits);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate) {
  const auto* values = simt::exchange(simt::WarpOperation::ballot, mask, predicate);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    votes |= static_cast<unsigned>(mask >> lane & values[lane] & 1) << lane;
  return votes;
}
inline bool __any_sync(unsigned mask, bool predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
using std::max;
using std::min;
inline double __longlong_as_double(long long bits) {
  return std::bit_cast<double>(bits);
}
inline long long __double_as_longlong(double value) {
  return std::bit_cast<long long>(value);
}
inline double __fma_rn(double a, double b, double c) {
  return std::fma(a, b, c);
}
// The sum of the products of four pairs of bytes, plus `sum`.
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xFF) * (b >> shift & 0xFF);
  return sum;
}
// The sum of the products of the two halves of `a` and the lower (upper) two bytes of `b`, plus
// `sum`.
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return sum + (a & 0xFFFF) * (b & 0xFF) + (a >> 16) * (b >> 8 & 0xFF);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
  return __dp2a_lo(a, b >> 16, sum);
}
// The upper and the lower word of high:low, shifted to the left and to the right.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both << shift % 32 >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<unsigned>(both >> shift % 32);
}
// Byte i of the result is byte number (nibble i of `selector`) of high:low.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
// The upper word of the product.
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline int __popc(unsigned bits) {
  return std::popcount(bits);
}
inline int __ffs(unsigned bits) {
  return bits == 0 ? 0 : std::countr_zero(bits) + 1;
}
inline int __clz(unsigned bits) {
  return std::countl_zero(bits);
}

template <class T>
T atomicAdd(T* address, T value) {
  const T before = *address;
  *address = static_cast<T>(before + value);
  simt::progress();
  return before;
}
template <class T>
T atomicMin(T* address, T value) {
  const T before = *address;
  *address = std::min(before, value);
  simt::progress();
  return before;
}
template <class T>
T atomicMax(T* address, T value) {
  const T before = *address;
  *address = std::max(before, value);
  simt::progress();
  return before;
}
template <class T>
T atomicOr(T* address, T value) {
  const T before = *address;
  *address = before | value;
  simt::progress();
  return before;
}
template <class T>
T atomicCAS(T* address, T expected, T value) {
  const T before = *address;
  if (before == expected) *address = value;
  simt::progress();
  return before;
}
