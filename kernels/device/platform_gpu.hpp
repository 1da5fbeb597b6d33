// kernels/device/platform.hpp on a GPU: CUDA itself, and names for what has a different
// implementation on the host.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "kernels/device/cuda.hpp"

#if defined(__CUDACC__)

// Shuffles of structures of eight bytes, beside CUDA's of numbers.
template <class T>
concept EightBytes = std::is_class_v<T> && sizeof(T) == 8;
template <EightBytes T>
__device__ __forceinline__ T __shfl_sync(unsigned lanes, T value, int lane) {
  return std::bit_cast<T>(__shfl_sync(lanes, std::bit_cast<unsigned long long>(value), lane));
}
template <EightBytes T>
__device__ __forceinline__ T __shfl_up_sync(unsigned lanes, T value, unsigned distance) {
  return std::bit_cast<T>(
      __shfl_up_sync(lanes, std::bit_cast<unsigned long long>(value), distance));
}
template <EightBytes T>
__device__ __forceinline__ T __shfl_xor_sync(unsigned lanes, T value, unsigned bits) {
  return std::bit_cast<T>(__shfl_xor_sync(lanes, std::bit_cast<unsigned long long>(value), bits));
}

#endif

namespace facesat::gpu {

inline constexpr bool on_host = false;

// Before a loop whose arrays must stay in registers.
#define FACESAT_UNROLL _Pragma("unroll")
#define FACESAT_NOINLINE __noinline__
// The type of a large kernel parameter, which is read in place.
#define FACESAT_PARAMETER(T) const __grid_constant__ T

// ---- lets a benchmark see the kernels that its thread launches

struct Launch {
  const char* kernel;    // as it is written in the source
  const void* function;  // for cudaFuncGetAttributes
  dim3 grid, block;
  std::size_t dynamic_bytes;  // of shared memory
};

class LaunchObserver {
 public:
  virtual void launched(const Launch& launch) = 0;

 protected:
  ~LaunchObserver() = default;
};

// Called after each FACESAT_LAUNCH of this thread; usually null.
inline constinit thread_local LaunchObserver* launch_observer = nullptr;

// Calls launch() with an observer of what it launches.
template <class LaunchAll>
void observe(LaunchObserver& observer, LaunchAll launch) {
  struct Restore {
    LaunchObserver* before;
    ~Restore() { launch_observer = before; }
  };
  const Restore restore{std::exchange(launch_observer, &observer)};
  launch();
}

template <class... Parameters>
const void* address_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

// ---- launches

// Lets the kernel have this much on the current device. The limit is the kernel's, whichever thread
// launches it, so it never falls: another thread may be about to launch it with more.
inline void allow_shared_bytes(const void* kernel, int bytes) {
  if (bytes == 0) return;
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> limits;  // by device and kernel
  int device = 0;
  FACESAT_CUDA(cudaGetDevice(&device));
  const std::scoped_lock lock(mutex);
  int& limit = limits[{device, kernel}];
  if (bytes <= limit) return;
  FACESAT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  limit = bytes;
}

#if defined(__CUDACC__)

// The number of blocks of `threads` threads, with `bytes` of dynamic shared memory, that the
// current device runs at a time.
template <class Kernel>
int resident_blocks(Kernel* kernel, int threads, std::size_t bytes = 0) {
  int device = 0, multiprocessors = 0, per_multiprocessor = 0;
  allow_shared_bytes(address_of(kernel), static_cast<int>(bytes));
  FACESAT_CUDA(cudaGetDevice(&device));
  FACESAT_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  FACESAT_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, threads, bytes));
  return multiprocessors * per_multiprocessor;
}

// Starts a kernel; launch failures are thrown here.
#define FACESAT_LAUNCH(kernel, grid, block, stream, ...) \
  FACESAT_LAUNCH_SHARED(kernel, grid, block, 0, stream, __VA_ARGS__)

// FACESAT_LAUNCH with `bytes` of dynamic shared memory.
#define FACESAT_LAUNCH_SHARED(kernel, grid, block, bytes, stream, ...)                        \
  do {                                                                                        \
    ::facesat::gpu::allow_shared_bytes(::facesat::gpu::address_of(kernel),                    \
                                       static_cast<int>(bytes));                              \
    kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__);                              \
    ::facesat::gpu::check(cudaGetLastError(), "launch of " #kernel);                          \
    if (::facesat::gpu::launch_observer)                                                      \
      ::facesat::gpu::launch_observer->launched({#kernel, ::facesat::gpu::address_of(kernel), \
                                                 (grid), (block),                             \
                                                 static_cast<std::size_t>(bytes)});           \
  } while (false)

// Starts a kernel from a kernel, in files that are compiled as relocatable device code
// (kernels/CMakeLists.txt). It runs after the calling grid and after its earlier launches of this
// kind. `bytes` as above, at most 48 KB. A launch that fails ends the calling kernel with an error.
#define FACESAT_LAUNCH_FROM_DEVICE(kernel, grid, block, bytes, ...)          \
  do {                                                                       \
    kernel<<<(grid), (block), (bytes), cudaStreamTailLaunch>>>(__VA_ARGS__); \
    if (cudaGetLastError() != cudaSuccess) __trap();                         \
  } while (false)

// An array in shared memory: `__shared__ SharedArray<T, N> name;`. T may have initialisers, which
// shared memory does not run.
template <class T, int N>
struct SharedArray {
  alignas(T) unsigned char memory[N * sizeof(T)];
  __device__ T& operator[](int i) { return reinterpret_cast<T*>(memory)[i]; }
};

// The dynamic shared memory of a launch, as an array of T.
template <class T>
class DynamicShared {
 public:
  __device__ DynamicShared() {
    extern __shared__ __align__(16) unsigned char memory[];
    elements_ = reinterpret_cast<T*>(memory);
  }
  __device__ T& operator[](int i) const { return elements_[i]; }
  // Addresses within shared memory, for reads where every instruction counts.
  __device__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(elements_));
  }
  __device__ T at(unsigned address) const {
    static_assert(sizeof(T) == 4);
    T value;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address));
    return value;
  }
  // A value of another type that begins at element i; aligned as its type demands.
  template <class Value>
  __device__ Value read(int i) const {
    return *reinterpret_cast<const Value*>(&elements_[i]);
  }
  // Writes four elements in one instruction, on a 16-byte boundary.
  __device__ void write(int i, const uint4& four) const {
    static_assert(sizeof(T) == 4);
    asm volatile(
        "st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address() + 4u * static_cast<unsigned>(i)),
        "r"(four.x), "r"(four.y), "r"(four.z), "r"(four.w)
        : "memory");
  }
  // Two elements, on an 8-byte boundary.
  __device__ void write(int i, const uint2& two) const {
    static_assert(sizeof(T) == 4);
    asm volatile(
        "st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address() + 4u * static_cast<unsigned>(i)),
        "r"(two.x), "r"(two.y)
        : "memory");
  }

 private:
  T* elements_;
};

// Begins to copy 16 bytes to element i of shared memory, where they must not be read before
// wait_for_copies() and a barrier.
__device__ __forceinline__ void begin_copy(const DynamicShared<std::uint32_t>& to, int i,
                                           const uint4* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to.address() + i * 4u),
               "l"(__cvta_generic_to_global(from))
               : "memory");
#else
  reinterpret_cast<uint4&>(to[i]) = *from;
#endif
}
// Waits until the copies that this thread has begun are done.
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// address + 4 * the lower or upper half of `pair`.
__device__ __forceinline__ unsigned add_lower_word(unsigned address, unsigned pair) {
  return __dp2a_lo(pair, 0x0004u, address);
}
__device__ __forceinline__ unsigned add_upper_word(unsigned address, unsigned pair) {
  return __dp2a_lo(pair, 0x0400u, address);
}

// 1 / sqrt(x), for x >= 1, with a relative error of at most 2^-22.
__device__ __forceinline__ float approximate_rsqrt(float x) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// if (value < threshold) sum += gain. Uses predicated additions; for the plain statement the
// compiler would emit selects.
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

// The same for a sum and a gain in two parts.
__device__ __forceinline__ void add_if_less(std::uint32_t& low, std::int32_t& high, float value,
                                            float threshold, std::uint32_t low_gain,
                                            std::int32_t high_gain) {
  asm("{\n.reg .pred less;\nsetp.lt.f32 less, %2, %3;\n"
      "@less add.u32 %0, %0, %4;\n@less add.s32 %1, %1, %5;\n}"
      : "+r"(low), "+r"(high)
      : "f"(value), "f"(threshold), "r"(low_gain), "r"(high_gain));
}

// Hides the origin of a word from the compiler, so that values derived from it are computed again
// afterwards instead of being kept in registers.
__device__ __forceinline__ void make_opaque(std::uint32_t& word) {
  asm volatile("" : "+r"(word));
}

// value += the value of the lane `distance` before, if there is one. The shuffle's own predicate
// saves the comparison and the select.
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

// Atomics on elements of shared memory; atomic_add returns the old value.
template <int N>
__device__ __forceinline__ unsigned atomic_add(SharedArray<unsigned, N>& array, int i, unsigned v) {
  return atomicAdd(&array[i], v);
}
// Without the old value, which is faster.
__device__ __forceinline__ void atomic_add(const DynamicShared<std::int32_t>& array, int i,
                                           std::int32_t v) {
  atomicAdd(&array[i], v);
}
template <int N>
__device__ __forceinline__ void atomic_or(SharedArray<unsigned, N>& array, int i, unsigned bits) {
  atomicOr(&array[i], bits);
}

template <int N>
__device__ __forceinline__ void atomic_min(SharedArray<unsigned, N>& array, int i, unsigned value) {
  atomicMin(&array[i], value);
}

// __syncthreads() for `threads` threads of the block, whole warps, while the others go on. There
// are 15 such barriers, with numbers from 1 on.
__device__ __forceinline__ void part_barrier(int threads, int number = 1) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Accesses to words that blocks exchange: each is one access, which bypasses the L1 caches, since
// other blocks do not see those. Relaxed order is enough, because a word contains its state and its
// value, so that no other access has to be ordered with it.
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

// The same for 16 bytes, which are one access, too: b128, from sm_70 and CUDA 12.3 on. (Nothing
// promises that for v4.b32.)
template <class T>
__device__ __forceinline__ void store_relaxed(T* address, const T& value) {
  static_assert(sizeof(T) == 16);
  const auto& v = reinterpret_cast<const uint4&>(value);
  asm volatile(
      "{\n.reg .b64 low, high;\n.reg .b128 all;\nmov.b64 low, {%1, %2};\n"
      "mov.b64 high, {%3, %4};\nmov.b128 all, {low, high};\n"
      "st.relaxed.gpu.global.b128 [%0], all;\n}" ::"l"(address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
      : "memory");
}
template <class T>
__device__ __forceinline__ T load_relaxed(const T* address) {
  static_assert(sizeof(T) == 16);
  T value;
  auto& v = reinterpret_cast<uint4&>(value);
  asm volatile(
      "{\n.reg .b64 low, high;\n.reg .b128 all;\nld.relaxed.gpu.global.b128 all, [%4];\n"
      "mov.b128 {low, high}, all;\nmov.b64 {%0, %1}, low;\nmov.b64 {%2, %3}, high;\n}"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
      : "l"(address)
      : "memory");
  return value;
}

// As above, with what makes other data visible: whoever reads the stored word by load_acquire()
// sees what this thread, and threads that it has synchronised with, have written before.
__device__ __forceinline__ void store_release(unsigned long long* address,
                                              unsigned long long value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
__device__ __forceinline__ unsigned long long load_acquire(const unsigned long long* address) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

// Stores data that will not be read again soon: the cache evicts it first.
template <class T>
__device__ __forceinline__ void store_streaming(T* address, const T& value) {
  static_assert(sizeof(T) == 16);
  __stcs(reinterpret_cast<float4*>(address), reinterpret_cast<const float4&>(value));
}

// To be called between two polls of a word that another block will write.
__device__ __forceinline__ void pause() {
#if __CUDA_ARCH__ >= 700
  __nanosleep(20);
#endif
}

#endif  // __CUDACC__

}  // namespace facesat::gpu
