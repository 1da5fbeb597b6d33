// Error collection as a task array: a warp computes a parallelogram of 32 x 32 pixels, whose rows
// are each two columns further to the left than the one above.
//
// Shapes: task (i, j) has rows 32 i to 32 i + 31; lane l has columns 32 j - 2 l to 32 j - 2 l + 31.
//   The bottom row of parallelograms j + 1 and j + 2 above lies above the top row, so that the
//   array is backward.
// Reads and writes per pixel: 1 / 1; the error of every 32nd row, once each.
// Source: Funasaka, Nakano, Ito 2017, section V-C, figures 9 to 11.
#pragma once

#include "kernels/tasks/halftone_window.cuh"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {

// `by_words`: errors are handed on as words with their state.
template <class Rule, bool by_words>
struct HalftoneParallelograms {
  static constexpr bool hands_on_words = by_words;
  static constexpr int threads = 32, lag = 2;
  static constexpr std::array edges{TaskEdge{1, 2}};
  using Error = typename Rule::Error;
  using Element = Error;
  static constexpr int shared_elements = 0;
  using Carried = LaneErrors<Rule, lag>;
  struct Prepared {
    PixelWindow pixels;
  };

  using Bottom = HandedOn<Error, by_words>;
  HalftoneTask problem;
  Bottom bottom;  // the errors of the last row of each row of tasks: rows * width
  int rows = divide_up(problem.size.height, 32);
  int columns = halftone_windows(problem.size.width, lag);

  static HalftoneParallelograms of(const HalftoneTask& problem, void* memory) {
    HalftoneParallelograms tasks{problem, {static_cast<typename Bottom::Stored*>(memory), 0}};
    tasks.bottom.size = static_cast<std::ptrdiff_t>(tasks.rows) * problem.size.width;
    return tasks;
  }
  static std::size_t table_bytes(const HalftoneTask& problem) {
    return Bottom::bytes(of(problem, nullptr).bottom.size);
  }

  // The error above row i of tasks, which is zero outside the picture.
  template <class Team>
  __device__ Error above(int i, int column, const Team& team) const {
    const int width = problem.size.width;
    if (i == 0 || column >= width) return {};
    return bottom.read(team, static_cast<std::ptrdiff_t>(i - 1) * width + column);
  }

  template <class Team>
  __device__ Prepared prepare(int i, int j, const Team& team) const {
    return {load_window(problem, {32 * i + team.rank, 32 * j - lag * team.rank})};
  }

  template <class Team>
  __device__ void perform(int i, int j, const Prepared& prepared, Carried& carried,
                          const Team& team) const {
    const int first = 32 * j, last_lane_first = first - 31 * lag, width = problem.size.width;
    const Error above_lane = above(i, first + 1 + team.rank, team);
    if (j == 0 && team.rank == 0) carried.above[1] = above(i, 0, team);
    const std::ptrdiff_t last_row = static_cast<std::ptrdiff_t>(i) * width;
    collect_window(
        problem, 32 * i, first, j + 1 == columns, prepared.pixels, carried,
        [&](int t) { return __shfl_sync(full_warp, above_lane, t); },
        [&](int t, Error error) {
          const int column = last_lane_first + t;
          if (team.rank == 31 && column >= 0 && column < width)
            bottom.write(team, last_row + column, error);
        });
  }
};

}  // namespace facesat::gpu
