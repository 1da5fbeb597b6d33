// A pass: a FilterTask as kernels see it, with static types.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "filters/border.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {

// rounded_pixel(sum, divisor) for sums of 32 bits, without a division.
struct RoundedQuotient {
  std::uint32_t divisor = 1;
  float inverse = 1;

  // An estimate that is wrong by less than 1, and then right.
  __device__ __forceinline__ std::uint32_t operator()(std::int32_t sum) const {
    if (sum <= 0) return 0;
    const std::uint32_t dividend = static_cast<std::uint32_t>(sum) + divisor / 2;
    const float estimate = static_cast<float>(dividend) * inverse;
    if (estimate >= 256.0f) return 255;
    const auto quotient = static_cast<std::uint32_t>(estimate);
    const auto rest = static_cast<std::int32_t>(dividend - quotient * divisor);
    const std::uint32_t corrected = quotient + (rest < 0                                     ? -1
                                                : rest >= static_cast<std::int32_t>(divisor) ? 1
                                                                                             : 0);
    return corrected > 255 ? 255 : corrected;
  }
};

template <class In_, class Out_>
struct FilterPass {
  using In = In_;
  using Out = Out_;
  // Of sums and weights. Signed integers are summed as unsigned ones, which give the same bits and
  // may overflow.
  using Sum = std::conditional_t<std::is_same_v<Out, float>, float, std::uint32_t>;

  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* output;
  std::ptrdiff_t output_pitch;
  Border border;
  Radius radius;
  const Sum *weights, *row, *column;  // of the mask
  RoundedQuotient quotient;           // for results of 8 bits
  float divisor;                      // for real numbers

  // The element at any place in or outside of the picture.
  __device__ __forceinline__ In at(int x, int y) const {
    const int from_x = source_of(x, size.width, border);
    const int from_y = source_of(y, size.height, border);
    return from_x == no_source || from_y == no_source ? In{} : input[from_y * input_pitch + from_x];
  }
  __device__ __forceinline__ Out result(Sum sum) const {
    if constexpr (std::is_same_v<Out, float>)
      return sum / divisor;
    else if constexpr (sizeof(Out) == 1)
      return static_cast<Out>(quotient(static_cast<std::int32_t>(sum)));
    else
      return static_cast<Out>(sum);
  }
  __device__ __forceinline__ void store(int x, int y, Sum sum) const {
    output[y * output_pitch + x] = result(sum);
  }
  __device__ __forceinline__ bool has(int x, int y) const {
    return x < size.width && y < size.height;
  }
};

// The pixel as what it is multiplied and summed as.
template <class Pass>
__device__ __forceinline__ typename Pass::Sum value_of(typename Pass::In pixel) {
  return static_cast<typename Pass::Sum>(pixel);
}

template <class In, class Out>
FilterPass<In, Out> make_pass(const FilterTask& task) {
  using Sum = typename FilterPass<In, Out>::Sum;
  const DeviceMask& mask = task.mask;
  return {task.size,
          static_cast<const In*>(task.input),
          task.input_pitch,
          static_cast<Out*>(task.output),
          task.output_pitch,
          task.border,
          mask.radius,
          static_cast<const Sum*>(mask.weights),
          static_cast<const Sum*>(mask.row),
          static_cast<const Sum*>(mask.column),
          {static_cast<std::uint32_t>(mask.divisor), static_cast<float>(1 / mask.divisor)},
          static_cast<float>(mask.divisor)};
}

// Calls launch(pass).
template <class Launch>
void with_pass(const FilterTask& task, Launch launch) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) { launch(make_pass<In, Out>(task)); });
}

// The pixel of this thread, and the grid of blocks of `width` x `height` threads, for kernels with
// a thread per pixel.
struct Pixel {
  int x, y;
};
__device__ __forceinline__ Pixel pixel_of_thread() {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
          static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y)};
}
inline dim3 grid_of(Size size, int width, int height) {
  return dim3(static_cast<unsigned>(divide_up(size.width, width)),
              static_cast<unsigned>(divide_up(size.height, height)));
}

// ---- algorithms

// An algorithm of the lecture, with one launch and without a workspace.
constexpr FilterAlgorithm of_lecture(std::string_view id, std::string_view title,
                                     double (*reads)(const FilterTask&),
                                     void (*enqueue)(const FilterTask&, void*, StreamHandle)) {
  return {.id = id, .title = title, .source = "lecture", .reads = reads, .enqueue = enqueue};
}

// An algorithm that does not take every task.
constexpr FilterAlgorithm limited(FilterAlgorithm algorithm,
                                  std::string (*why_not)(const FilterTask&)) {
  algorithm.why_not = why_not;
  return algorithm;
}

// FilterAlgorithm::reads of algorithms that read their windows from global memory.
inline double reads_of_window(const FilterTask& task) {
  return static_cast<double>(task.mask.radius.area());
}

inline constexpr std::size_t most_shared_bytes = 99 << 10;  // of a block, on every GPU from 8.6 on

}  // namespace facesat::gpu
