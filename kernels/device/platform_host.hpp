// The host's version of what kernels/device/platform.hpp declares and documents. A block's threads
// are fibres (simt/). Shared memory records which of its elements have been written, so that tests
// find reads that are undefined on a GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/device/simt/simt.hpp"

// ---- the part of the CUDA language that the kernels use, in place of CUDA's headers

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __shared__ static  // for SharedArray, which has memory for each block
#define __constant__

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

template <class T>
void note_shared(const void* array, std::size_t index, bool is_write, const T& value) {
  ++(is_write ? counts.shared_writes : counts.shared_reads);
  if (!observer) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, std::min(sizeof value, sizeof bits));
  observer->accessed_shared(array, static_cast<unsigned>(index), is_write, bits);
}

// The value of lane `from`, which must be in the mask.
template <class T>
T received(const std::uint64_t* values, unsigned mask, unsigned from) {
  if ((mask >> from & 1) == 0) undefined("a shuffle reads a lane outside its mask");
  if (observer) observer->received(from);
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

// ---- what platform.hpp adds to it

namespace facesat::gpu {

// For launches that are free to choose their grid: on the host they choose a small one, because
// every thread costs a fibre.
inline constexpr bool on_host = true;

#define FACESAT_UNROLL
#define FACESAT_NOINLINE [[gnu::noinline]]
#define FACESAT_PARAMETER(T) const T&

// The number of blocks that run at a time.
template <class Kernel>
int resident_blocks(Kernel*, int, std::size_t = 0) {
  return 3;
}

#define FACESAT_LAUNCH(kernel, grid, block, stream, ...) \
  FACESAT_LAUNCH_SHARED(kernel, grid, block, 0, stream, __VA_ARGS__)
#define FACESAT_LAUNCH_SHARED(kernel, grid, block, bytes, stream, ...) \
  static_cast<void>(stream), simt::launch(                             \
                                 #kernel, (grid), (block), [=] { kernel(__VA_ARGS__); }, (bytes))
#define FACESAT_LAUNCH_FROM_DEVICE(kernel, grid, block, bytes, ...) \
  simt::launch_after_grid(                                          \
      #kernel, (grid), (block), [=] { kernel(__VA_ARGS__); }, (bytes))

// Records which elements were written; reading any other is reported as undefined. An array is one
// object for all blocks, which looks for the memory that it has in the block that runs.
template <class T, int N>
class SharedArray {
  struct Memory {
    T elements[N];
    bool written[N];
  };

 public:
  class Element {
   public:
    Element(Memory& memory, int i) : memory_(memory), i_(i) {}
    operator T() const {
      simt::note_shared(&memory_, static_cast<std::size_t>(i_), false, memory_.elements[i_]);
      if (!memory_.written[i_]) simt::undefined("unwritten shared memory is read");
      return memory_.elements[i_];
    }
    Element& operator=(T value) {
      simt::note_shared(&memory_, static_cast<std::size_t>(i_), true, value);
      memory_.elements[i_] = value;
      memory_.written[i_] = true;
      return *this;
    }
    Element& operator=(const Element& other) { return *this = static_cast<T>(other); }
    Element& operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }

   private:
    Memory& memory_;
    int i_;
  };
  Element operator[](int i) {
    if (i < 0 || i >= N) simt::undefined("a shared array is indexed outside its bounds");
    if (block_ != simt::running_block) {
      memory_ = reinterpret_cast<Memory*>(simt::shared_array(this, sizeof(Memory)));
      block_ = simt::running_block;
    }
    return {*memory_, i};
  }

 private:
  std::uint64_t block_ = 0;  // whose memory it is
  Memory* memory_ = nullptr;
};

template <class T>
class DynamicShared {
 public:
  class Element {
   public:
    Element(T* element, bool* written) : element_(element), written_(written) {}
    operator T() const {
      simt::note_shared(simt::dynamic_shared(), index(), false, *element_);
      if (!*written_) simt::undefined("unwritten shared memory is read");
      return *element_;
    }
    void operator=(T value) {
      simt::note_shared(simt::dynamic_shared(), index(), true, value);
      *element_ = value;
      *written_ = true;
    }

   private:
    std::size_t index() const {
      return static_cast<std::size_t>(element_ - reinterpret_cast<T*>(simt::dynamic_shared()));
    }

    T* element_;
    bool* written_;
  };
  Element operator[](int i) const {
    const auto place = static_cast<std::size_t>(i);
    if (i < 0 || (place + 1) * sizeof(T) > simt::dynamic_shared_bytes())
      simt::undefined("dynamic shared memory is indexed outside its bounds");
    return {reinterpret_cast<T*>(simt::dynamic_shared()) + place,
            simt::dynamic_shared_written() + place};
  }
  // Of the first element; here addresses are offsets in bytes.
  unsigned address() const { return 0; }
  T at(unsigned address) const { return (*this)[static_cast<int>(address / sizeof(T))]; }
  template <class Value>
  Value read(int i) const {
    constexpr int count = sizeof(Value) / sizeof(T);
    if (i % count != 0) simt::undefined("a value in shared memory is not aligned");
    T elements[count];
    for (int k = 0; k < count; ++k) elements[k] = (*this)[i + k];
    Value value;
    std::memcpy(&value, elements, sizeof value);
    return value;
  }
  void write(int i, const uint4& four) const {
    if (i % 4 != 0) simt::undefined("four words in shared memory are not aligned");
    (*this)[i] = four.x;
    (*this)[i + 1] = four.y;
    (*this)[i + 2] = four.z;
    (*this)[i + 3] = four.w;
  }
  void write(int i, const uint2& two) const {
    if (i % 2 != 0) simt::undefined("two words in shared memory are not aligned");
    (*this)[i] = two.x;
    (*this)[i + 1] = two.y;
  }
};

// The copy is made at once.
inline void begin_copy(const DynamicShared<std::uint32_t>& to, int i, const uint4* from) {
  to[i] = from->x, to[i + 1] = from->y, to[i + 2] = from->z, to[i + 3] = from->w;
}
inline void wait_for_copies() {}

// An address plus the lower or upper half of `pair`, which counts words of 32 bits.
inline unsigned add_lower_word(unsigned address, unsigned pair) {
  return address + 4 * (pair & 0xFFFF);
}
inline unsigned add_upper_word(unsigned address, unsigned pair) {
  return address + 4 * (pair >> 16);
}
// Hides a value from the optimiser of nvcc; there is nothing to hide here.
inline void make_opaque(std::uint32_t&) {}
// Adds the value of the lane `distance` places before.
template <class T>
void add_from_lane_before(T& value, unsigned distance) {
  const T other = __shfl_up_sync(0xFFFFFFFFu, value, distance);
  if (simt::lane_index() >= distance) value += other;
}
inline float approximate_rsqrt(float x) {
  return 1 / std::sqrt(x);
}
inline void add_if_less(std::int64_t& sum, float value, float threshold, std::int64_t gain) {
  if (value < threshold) sum += gain;
}
inline void add_if_less(std::uint32_t& low, std::int32_t& high, float value, float threshold,
                        std::uint32_t low_gain, std::int32_t high_gain) {
  if (!(value < threshold)) return;
  low += low_gain;
  high += high_gain;
}

template <int N>
unsigned atomic_add(SharedArray<unsigned, N>& array, int i, unsigned v) {
  const unsigned before = array[i];
  array[i] = before + v;
  return before;
}
inline void atomic_add(const DynamicShared<std::int32_t>& array, int i, std::int32_t v) {
  array[i] = array[i] + v;
}
template <int N>
void atomic_or(SharedArray<unsigned, N>& array, int i, unsigned bits) {
  array[i] = array[i] | bits;
}
template <int N>
void atomic_min(SharedArray<unsigned, N>& array, int i, unsigned value) {
  array[i] = std::min<unsigned>(array[i], value);
}

// __syncthreads() for `threads` threads of the block, whole warps, while the others go on. There
// are 15 such barriers, with numbers from 1 on.
inline void part_barrier(int threads, int number = 1) {
  if (threads % 32 != 0) simt::undefined("a barrier of a part of the block takes whole warps");
  if (number < 1 || number > 15) simt::undefined("barriers have numbers from 1 to 15");
  simt::part_barrier(static_cast<unsigned>(threads), static_cast<unsigned>(number));
}

// Stores that other blocks may wait for: progress() lets the scheduler wake them.
inline void store_relaxed(unsigned long long* address, unsigned long long value) {
  *address = value;
  simt::progress();
}
inline unsigned long long load_relaxed(const unsigned long long* address) {
  return *address;
}
inline void store_relaxed(unsigned* address, unsigned value) {
  *address = value;
  simt::progress();
}
inline unsigned load_relaxed(const unsigned* address) {
  return *address;
}
template <class T>
void store_relaxed(T* address, const T& value) {
  static_assert(sizeof(T) == 16);
  *address = value;
  simt::progress();
}
template <class T>
T load_relaxed(const T* address) {
  static_assert(sizeof(T) == 16);
  return *address;
}
// Only one fibre runs at any moment, so that all writes are visible.
inline void store_release(unsigned long long* address, unsigned long long value) {
  store_relaxed(address, value);
}
inline unsigned long long load_acquire(const unsigned long long* address) {
  return load_relaxed(address);
}
template <class T>
void store_streaming(T* address, const T& value) {
  *address = value;
}
inline void pause() {
  simt::pause();
}

}  // namespace facesat::gpu
