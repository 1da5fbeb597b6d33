// The convolution of a pixel as it is defined, for kernels that read the picture from global
// memory.
#pragma once

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {

inline constexpr int naive_width = 32, naive_height = 8;  // threads of a block

// The sum for pixel (x, y). `weight(i)` is weight i of the mask, row by row.
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved(const Pass& pass, int x, int y,
                                                        Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      sum += weight(j * columns + i) *
             value_of<Pass>(pass.at(x + pass.radius.x - i, y + pass.radius.y - j));
  return sum;
}

// The same where the whole window lies within the picture. The loops count upwards: with an index
// that runs from radius to -radius, nvcc 13.0 sums up the wrong pixels for some radii (-O3, sm_90).
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved_inside(const Pass& pass, int x, int y,
                                                               Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j) {
    const auto* const last =
        pass.input + (y + pass.radius.y - j) * pass.input_pitch + x + pass.radius.x;
    for (int i = 0; i < columns; ++i) sum += weight(j * columns + i) * value_of<Pass>(last[-i]);
  }
  return sum;
}

// A read for each weight.
inline double reads_of_window(const FilterTask& task) {
  return static_cast<double>(task.mask.radius.area());
}

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height) naive_kernel(Pass pass) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

template <class Pass>
void launch_naive(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(naive_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                 dim3(naive_width, naive_height), stream, pass);
}

}  // namespace facesat::gpu
