// A pass: a SatTask as kernels see it, with static types and one table at a time.
#pragma once

#include "kernels/device/platform.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// Of algorithms whose look-backs can do without a block that is halted, but would be slower for it
// in some cases even if none is (see kernels/device/soft_synchronization.cuh).
inline constexpr double fallback_choices[]{0, 1};
inline constexpr SatParameter fallback_parameter{
    .name = "fallback",
    .meaning = "when look-backs give up on a halted block (0: where that costs no time, 1: always)",
    .least = 0,
    .greatest = 1,
    .is_whole = true,
    .choices = fallback_choices};

// The sum over columns [x, end_x) and rows [y, end_y) of a picture, as far as they are in it, of
// its values or of their squares, by one thread: what a look-back needs if a block is halted.
template <class Out, bool of_squares, class In>
__device__ Out sum_of_box(const In* input, std::ptrdiff_t pitch, Size size, int x, int end_x, int y,
                          int end_y) {
  const int right = end_x < size.width ? end_x : size.width;
  const int bottom = end_y < size.height ? end_y : size.height;
  Out sum{};
  for (; y < bottom; ++y)
    for (int i = x; i < right; ++i) {
      const Out v = static_cast<Out>(input[y * pitch + i]);
      sum += of_squares ? v * v : v;
    }
  return sum;
}

// A picture, and the table to be made of its values or of their squares.
template <class In_, class Out_, bool of_squares>
struct Pass {
  using In = In_;
  using Out = Out_;

  Size size;
  const In* input;
  std::ptrdiff_t input_pitch;
  Out* table;
  std::ptrdiff_t pitch;

  // The value that is summed up for a pixel.
  __device__ static Out value(In pixel) {
    const Out v = static_cast<Out>(pixel);
    return of_squares ? v * v : v;
  }
  __device__ const In* input_row(int y) const { return input + y * input_pitch; }
  __device__ Out* row(int y) const { return table + y * pitch; }
  __device__ bool has(int x, int y) const { return x < size.width && y < size.height; }
  // The value of pixel (x, y); zero past the picture's right and lower edges.
  __device__ Out value_at(int x, int y) const { return has(x, y) ? value(input_row(y)[x]) : Out{}; }
  __device__ Out sum_of(int x, int end_x, int y, int end_y) const {
    return sum_of_box<Out, of_squares>(input, input_pitch, size, x, end_x, y, end_y);
  }
};

template <class In, class Out, bool of_squares>
Pass<In, Out, of_squares> make_pass(const SatTask& task) {
  return {task.size, static_cast<const In*>(task.input), task.input_pitch,
          static_cast<Out*>(of_squares ? task.squared_sum : task.sum),
          of_squares ? task.squared_pitch : task.sum_pitch};
}

// Calls launch(pass) for each table that the task wants, for algorithms that compute one at a time.
template <class Launch>
void for_each_table(const SatTask& task, Launch launch) {
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    if (task.sum) launch(make_pass<In, Out, false>(task));
    if constexpr (sizeof(In) == 1)
      if (task.squared_sum) launch(make_pass<In, Out, true>(task));
  });
}

// SatAlgorithm::workspace_bytes of algorithms that need none.
inline std::size_t no_workspace(SatType, Size) {
  return 0;
}

}  // namespace facesat::gpu
