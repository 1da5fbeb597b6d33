// Primitives that SAT algorithms share.
#pragma once

#include <type_traits>

#include "kernels/platform.hpp"

namespace facesat::gpu {

constexpr unsigned full_warp = 0xFFFFFFFFu;

__device__ __forceinline__ unsigned lane_of_thread() {
  return threadIdx.x % warpSize;
}

// The sum of `value` over this lane and those before it: Kogge and Stone's scan, five steps.
template <class T>
__device__ __forceinline__ T warp_inclusive_scan(T value) {
  FACESAT_UNROLL
  for (unsigned d = 1; d < 32; d *= 2) add_from_lane_before(value, d);
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

// From row[x] on, x a multiple of 4; zeros beyond `width`, unless all four are known to be inside.
template <bool all_inside = false, class T>
__device__ __forceinline__ Four<T> load_four(const T* row, int x, int width) {
  if constexpr (!all_inside)
    if (x + 4 > width) {
      Four<T> four;
      FACESAT_UNROLL
      for (int i = 0; i < 4; ++i) four.v[i] = x + i < width ? row[x + i] : T{};
      return four;
    }
  return *reinterpret_cast<const Four<T>*>(row + x);
}
template <bool all_inside = false, class T>
__device__ __forceinline__ void store_four(T* row, int x, int width, const Four<T>& four) {
  if constexpr (!all_inside)
    if (x + 4 > width) {
      FACESAT_UNROLL
      for (int i = 0; i < 4; ++i)
        if (x + i < width) row[x + i] = four.v[i];
      return;
    }
  *reinterpret_cast<Four<T>*>(row + x) = four;
}

// Calls work.operator()<is_inside>(): many loads are under way at once only where no branch stands
// between them. All threads of a block that reaches no edge say the same.
template <class Work>
__device__ __forceinline__ void specialise(bool is_inside, Work work) {
  if (is_inside)
    work.template operator()<true>();
  else
    work.template operator()<false>();
}

// Four neighbours as they are kept: bytes in one register, until they are asked for.
template <class T>
struct Kept {
  Four<T> four;
  Kept() = default;
  __device__ __forceinline__ explicit Kept(const Four<T>& f) : four(f) {}
  __device__ __forceinline__ Four<T> get() { return four; }
};
template <>
struct Kept<std::uint8_t> {
  std::uint32_t word;
  Kept() = default;
  __device__ __forceinline__ explicit Kept(const Four<std::uint8_t>& f)
      : word(f.v[0] | f.v[1] << 8 | f.v[2] << 16 | static_cast<std::uint32_t>(f.v[3]) << 24) {}
  __device__ __forceinline__ Four<std::uint8_t> get() {
    make_opaque(word);
    Four<std::uint8_t> four;
    FACESAT_UNROLL
    for (int i = 0; i < 4; ++i) four.v[i] = static_cast<std::uint8_t>(word >> 8 * i);
    return four;
  }
};

// The sum of four pixels, or of their squares.
template <class Out, bool of_squares, class In>
__device__ __forceinline__ Out sum_of_four(Kept<In>& pixels) {
  if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>) {
    return __dp4a(pixels.word, of_squares ? pixels.word : 0x01010101u, 0u);
  } else {
    const Four<In> p = pixels.get();
    Out sum{};
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Out v = static_cast<Out>(p.v[k]);
      sum += of_squares ? v * v : v;
    }
    return sum;
  }
}

// sums.v[k] += the first k + 1 of four pixels, or of their squares.
template <bool of_squares, class Out, class In>
__device__ __forceinline__ void add_running_sums(Four<Out>& sums, Kept<In>& pixels) {
  if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>) {
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const std::uint32_t bytes = 0xFFFFFFFFu >> 8 * (3 - k);
      sums.v[k] =
          __dp4a(pixels.word, of_squares ? pixels.word & bytes : 0x01010101u & bytes, sums.v[k]);
    }
  } else {
    const Four<In> p = pixels.get();
    Out sum{};
    FACESAT_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Out v = static_cast<Out>(p.v[k]);
      sum += of_squares ? v * v : v;
      sums.v[k] += sum;
    }
  }
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
