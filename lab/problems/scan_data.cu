// The floor of a prefix scan, which reads each element once and writes each once; and kernels that
// fill an array and check a result.
#include <algorithm>

#include "core/image.hpp"
#include "kernels/device/platform.hpp"
#include "lab/problems/scan.hpp"

namespace facesat::gpu {
namespace {

constexpr int threads = 256;  // of a block
constexpr int groups_per_thread = 2;

template <class T>
struct alignas(16) Group {
  static constexpr int size = 16 / sizeof(T);
  T v[size];
};

// The threads of a block take adjacent groups, and then again.
template <class T>
__global__ void floor_kernel(int n, const T* input, T* output) {
  constexpr int size = Group<T>::size;
  const int first = size * (static_cast<int>(blockIdx.x) * groups_per_thread * threads +
                            static_cast<int>(threadIdx.x));
  Group<T> groups[groups_per_thread];
  FACESAT_UNROLL
  for (int g = 0; g < groups_per_thread; ++g) {
    const int i = first + g * size * threads;
    if (i + size <= n) groups[g] = *reinterpret_cast<const Group<T>*>(input + i);
  }
  FACESAT_UNROLL
  for (int g = 0; g < groups_per_thread; ++g) {
    const int i = first + g * size * threads;
    if (i + size <= n)
      *reinterpret_cast<Group<T>*>(output + i) = groups[g];
    else
      for (int k = i; k < n; ++k) output[k] = input[k];
  }
}

template <class T>
__global__ void fill_kernel(ScanTask task, T* input, std::uint32_t seed) {
  for (int i = static_cast<int>(blockIdx.x * threads + threadIdx.x); i < task.n;
       i += static_cast<int>(gridDim.x) * threads)
    input[i] = scan_input<T>(task.op, task.n, i, seed);
}

template <class T>
__global__ void check_kernel(ScanTask task, const T* output, std::uint32_t seed, unsigned* wrong) {
  for (int i = static_cast<int>(blockIdx.x * threads + threadIdx.x); i < task.n;
       i += static_cast<int>(gridDim.x) * threads)
    if (output[i] != scan_expected<T>(task, output, i, seed)) atomicAdd(wrong, 1u);
}

// The grid of kernels whose threads take elements in turn.
dim3 grid_of_elements(int n) {
  return dim3(static_cast<unsigned>(std::min(divide_up(n, threads), on_host ? 2 : 8192)));
}

}  // namespace

void enqueue_fill(const ScanTask& task, std::uint32_t seed, StreamHandle stream) {
  visit_type(task.type, [&]<class T>(T) {
    auto* const input = const_cast<T*>(static_cast<const T*>(task.input));
    FACESAT_LAUNCH(fill_kernel<T>, grid_of_elements(task.n), dim3(threads), stream, task, input,
                   seed);
  });
}

void enqueue_floor(const ScanTask& task, StreamHandle stream) {
  visit_type(task.type, [&]<class T>(T) {
    const int of_block = Group<T>::size * groups_per_thread * threads;
    FACESAT_LAUNCH(floor_kernel<T>, dim3(static_cast<unsigned>(divide_up(task.n, of_block))),
                   dim3(threads), stream, task.n, static_cast<const T*>(task.input),
                   static_cast<T*>(task.output));
  });
}

void enqueue_check(const ScanTask& task, std::uint32_t seed, unsigned* wrong, StreamHandle stream) {
  visit_type(task.type, [&]<class T>(T) {
    FACESAT_LAUNCH(check_kernel<T>, grid_of_elements(task.n), dim3(threads), stream, task,
                   static_cast<const T*>(task.output), seed, wrong);
  });
}

}  // namespace facesat::gpu
