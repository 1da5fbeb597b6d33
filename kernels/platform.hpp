// What kernels are written in: CUDA, and the few things that need a twin where they run on the host
// for tests (tests/simt): launches, shared arrays, and memory that blocks share.
#pragma once

#include <cstddef>
#include <cstdint>

// FACESAT_SIMT is defined where kernels are compiled for the host.

#if defined(FACESAT_SIMT)
#include "tests/simt/cuda_on_host.hpp"
#else
#include <cuda_runtime.h>

#include "kernels/cuda.hpp"
#endif

namespace facesat::gpu {

// On the host every thread costs a fibre: kernels whose grid is not given by their data are
// smaller.
#if defined(FACESAT_SIMT)
inline constexpr bool on_host = true;
#else
inline constexpr bool on_host = false;
#endif

#if !defined(FACESAT_SIMT)

using StreamHandle = cudaStream_t;

// Before a loop whose arrays must stay in registers.
#define FACESAT_UNROLL _Pragma("unroll")
// The type of a large parameter of a kernel, which is read where it lies.
#define FACESAT_PARAMETER(T) const __grid_constant__ T

#if defined(__CUDACC__)

// Starts a kernel; launch failures are thrown here.
#define FACESAT_LAUNCH(kernel, grid, block, stream, ...) \
  FACESAT_LAUNCH_SHARED(kernel, grid, block, 0, stream, __VA_ARGS__)

// The same with `bytes` of dynamic shared memory.
#define FACESAT_LAUNCH_SHARED(kernel, grid, block, bytes, stream, ...)                       \
  do {                                                                                       \
    if ((bytes) > 0)                                                                         \
      FACESAT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, \
                                        static_cast<int>(bytes)));                           \
    kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__);                             \
    ::facesat::gpu::check(cudaGetLastError(), "launch of " #kernel);                         \
  } while (false)

// An array in shared memory: `__shared__ SharedArray<T, N> name;`. T may have initialisers, which
// shared memory does not run.
template <class T, int N>
struct SharedArray {
  alignas(T) unsigned char memory[N * sizeof(T)];
  __device__ T& operator[](int i) { return reinterpret_cast<T*>(memory)[i]; }
};

// The shared memory whose size the launch gives: an array of T.
template <class T>
class DynamicShared {
 public:
  __device__ DynamicShared() {
    extern __shared__ __align__(16) unsigned char memory[];
    elements_ = reinterpret_cast<T*>(memory);
  }
  __device__ T& operator[](int i) const { return elements_[i]; }
  // Addresses within shared memory, for words that are read where every instruction counts.
  __device__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(elements_));
  }
  __device__ T at(unsigned address) const {
    static_assert(sizeof(T) == 4);
    T value;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
  }

 private:
  T* elements_;
};

// address + 4 * the lower or upper half of `pair`.
__device__ __forceinline__ unsigned add_lower_word(unsigned address, unsigned pair) {
  return __dp2a_lo(pair, 0x0004u, address);
}
__device__ __forceinline__ unsigned add_upper_word(unsigned address, unsigned pair) {
  return __dp2a_lo(pair, 0x0400u, address);
}

// if (value < threshold) sum += gain: as predicated additions, where the compiler would select.
__device__ __forceinline__ void add_if_less(std::int64_t& sum, float value, float threshold,
                                            std::int64_t gain) {
  unsigned low = static_cast<unsigned>(sum), high = static_cast<unsigned>(sum >> 32);
  asm("{\n.reg .pred less;\nsetp.lt.f32 less, %2, %3;\n"
      "@less add.cc.u32 %0, %0, %4;\n@less addc.u32 %1, %1, %5;\n}"
      : "+r"(low), "+r"(high)
      : "f"(value), "f"(threshold), "r"(static_cast<unsigned>(gain)),
        "r"(static_cast<unsigned>(gain >> 32)));
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32 | low);
}

// Hides from the compiler where a word comes from: what is computed of it is computed anew
// afterwards, where it would otherwise be kept in registers.
__device__ __forceinline__ void make_opaque(std::uint32_t& word) {
  asm volatile("" : "+r"(word));
}

// value += that of the lane `distance` before, if there is one: the shuffle's own predicate spares
// the comparison and the selection.
__device__ __forceinline__ void add_from_lane_before(std::uint32_t& value, unsigned distance) {
  asm volatile(
      "{\n.reg .b32 other;\n.reg .pred is_lane;\n"
      "shfl.sync.up.b32 other|is_lane, %0, %1, 0, 0xffffffff;\n@is_lane add.u32 %0, %0, other;\n}"
      : "+r"(value)
      : "r"(distance));
}
template <class T>
__device__ __forceinline__ void add_from_lane_before(T& value, unsigned distance) {
  const T other = __shfl_up_sync(0xFFFFFFFFu, value, distance);
  if (threadIdx.x % warpSize >= distance) value += other;
}

// On elements of shared memory; atomic_add returns what was there before.
template <int N>
__device__ __forceinline__ unsigned atomic_add(SharedArray<unsigned, N>& array, int i, unsigned v) {
  return atomicAdd(&array[i], v);
}
template <int N>
__device__ __forceinline__ void atomic_or(SharedArray<unsigned, N>& array, int i, unsigned bits) {
  atomicOr(&array[i], bits);
}

template <int N>
__device__ __forceinline__ void atomic_min(SharedArray<unsigned, N>& array, int i, unsigned value) {
  atomicMin(&array[i], value);
}

// Words that blocks hand to each other: whole, and past the caches that other blocks do not see.
// They carry their state with their value, so nothing else has to be ordered with them.
__device__ __forceinline__ void store_relaxed(unsigned long long* address,
                                              unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* address) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

__device__ __forceinline__ void store_relaxed(unsigned* address, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* address) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// Writes what will not be read again soon: it leaves the cache first.
template <class T>
__device__ __forceinline__ void store_streaming(T* address, const T& value) {
  static_assert(sizeof(T) == 16);
  __stcs(reinterpret_cast<float4*>(address), reinterpret_cast<const float4&>(value));
}

// Between two looks at a word that another block will write.
__device__ __forceinline__ void pause() {
#if __CUDA_ARCH__ >= 700
  __nanosleep(20);
#endif
}

#endif  // __CUDACC__

#else

struct StreamHandle {};

#define FACESAT_UNROLL
#define FACESAT_PARAMETER(T) const T&

#define FACESAT_LAUNCH(kernel, grid, block, stream, ...) \
  FACESAT_LAUNCH_SHARED(kernel, grid, block, 0, stream, __VA_ARGS__)
#define FACESAT_LAUNCH_SHARED(kernel, grid, block, bytes, stream, ...) \
  static_cast<void>(stream), simt::launch(                             \
                                 #kernel, (grid), (block), [=] { kernel(__VA_ARGS__); }, (bytes))

// Knows which elements were written; reading another one is undefined.
template <class T, int N>
class SharedArray {
 public:
  class Element {
   public:
    Element(SharedArray& array, int i) : array_(array), i_(i) {}
    operator T() const {
      if (!array_.written_[i_]) simt::undefined("shared memory is read that nobody wrote");
      return array_.elements_[i_];
    }
    Element& operator=(T value) {
      array_.elements_[i_] = value;
      array_.written_[i_] = true;
      return *this;
    }
    Element& operator=(const Element& other) { return *this = static_cast<T>(other); }
    Element& operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }

   private:
    SharedArray& array_;
    int i_;
  };
  Element operator[](int i) {
    if (i < 0 || i >= N) simt::undefined("a shared array is indexed outside its bounds");
    return {*this, i};
  }

 private:
  T elements_[N];
  bool written_[N]{};
};

template <class T>
class DynamicShared {
 public:
  class Element {
   public:
    Element(T* element, bool* written) : element_(element), written_(written) {}
    operator T() const {
      if (!*written_) simt::undefined("shared memory is read that nobody wrote");
      return *element_;
    }
    void operator=(T value) {
      *element_ = value;
      *written_ = true;
    }

   private:
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
  unsigned address() const { return 0; }
  T at(unsigned address) const { return (*this)[static_cast<int>(address / sizeof(T))]; }
};

inline unsigned add_lower_word(unsigned address, unsigned pair) {
  return address + 4 * (pair & 0xFFFF);
}
inline unsigned add_upper_word(unsigned address, unsigned pair) {
  return address + 4 * (pair >> 16);
}
inline void make_opaque(std::uint32_t&) {}
template <class T>
void add_from_lane_before(T& value, unsigned distance) {
  const T other = __shfl_up_sync(0xFFFFFFFFu, value, distance);
  if (simt::lane_index() >= distance) value += other;
}
inline void add_if_less(std::int64_t& sum, float value, float threshold, std::int64_t gain) {
  if (value < threshold) sum += gain;
}

template <int N>
unsigned atomic_add(SharedArray<unsigned, N>& array, int i, unsigned v) {
  const unsigned before = array[i];
  array[i] = before + v;
  return before;
}
template <int N>
void atomic_or(SharedArray<unsigned, N>& array, int i, unsigned bits) {
  array[i] = array[i] | bits;
}
template <int N>
void atomic_min(SharedArray<unsigned, N>& array, int i, unsigned value) {
  array[i] = std::min<unsigned>(array[i], value);
}

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
void store_streaming(T* address, const T& value) {
  *address = value;
}
inline void pause() {
  simt::pause();
}

#endif

}  // namespace facesat::gpu
