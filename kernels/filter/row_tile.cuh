// One-dimensional convolution along rows in shared memory.
#pragma once

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {

inline constexpr int row_threads = 256;

// Loads what the convolution of row_threads elements from `first` on needs, with `value(x)` for the
// element at place x of the row: all threads load their own elements; then the first `radius` ones
// load the first and the last missing elements. Includes the barrier.
template <class T, class Value>
__device__ __forceinline__ void load_row_tile(int first, int radius, Value value) {
  const DynamicShared<T> tile;
  const int thread = static_cast<int>(threadIdx.x);
  tile[radius + thread] = value(first + thread);
  for (int i = thread; i < radius; i += row_threads) {
    tile[i] = value(first - radius + i);
    tile[radius + row_threads + i] = value(first + row_threads + i);
  }
  __syncthreads();
}

// The convolution at this thread's element. `product(i, value)` multiplies by weight i.
template <class T, class Sum, class Product>
__device__ __forceinline__ Sum convolved_in_row_tile(int radius, Product product) {
  const DynamicShared<T> tile;
  const int thread = static_cast<int>(threadIdx.x);
  Sum sum{};
  for (int i = 0; i <= 2 * radius; ++i)
    sum += product(i, static_cast<Sum>(static_cast<T>(tile[thread + 2 * radius - i])));
  return sum;
}

inline std::size_t row_tile_bytes(int radius, std::size_t element) {
  return static_cast<std::size_t>(row_threads + 2 * radius) * element;
}

}  // namespace facesat::gpu
