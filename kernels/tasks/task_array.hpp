// Task arrays: tasks in rows and columns that need each other's results, and the orders in which
// they can run. Includes no CUDA headers; kernels/tasks/task_array.cuh runs them on a GPU.
//
// Source: S. Funasaka, K. Nakano, Y. Ito, "Single Kernel Soft Synchronization Technique for Task
// Arrays on CUDA-enabled GPUs, with Applications", CANDAR 2017, section II.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/registry.hpp"

namespace facesat::gpu {

// Task (i, j), in row i and column j, needs the tasks of row i - up in columns 0 to j + right. (It
// needs the tasks to its left in any case, so that one edge stands for all of these.) Rows and
// columns that do not exist are not waited for.
struct TaskEdge {
  int up, right;
};

// By where edges lead: from columns further left only (forward), from none further right (fair), or
// from any column (backward).
enum class TaskArrayKind { forward, fair, backward };

// Throws ArgumentError, with a sentence, if an edge does not lead from a row further up. Rows that
// need each other could wait for ever, and so could a task that needs one to its right.
TaskArrayKind kind_of(std::span<const TaskEdge> edges);

// Tasks can run in steps: step s takes the tasks (i, j) with j + slope * i = s, all at once.
// Returns the smallest slope for which every task comes in a later step than those that it needs: 0
// for a forward array (step s is column s), 1 for a fair one (an anti-diagonal), for a backward one
// the largest (right + 1) / up, rounded up. Throws ArgumentError as kind_of() does.
int slope_of(std::span<const TaskEdge> edges);

// The tasks of a step: (first_row + k, first_column - slope * k) for k from 0 to count - 1.
struct TaskStep {
  int first_row = 0, first_column = 0, count = 0;
};

constexpr int steps_of(int rows, int columns, int slope) {
  return columns + slope * (rows - 1);
}
constexpr TaskStep task_step(int step, int rows, int columns, int slope) {
  if (slope == 0) return {0, step, rows};
  const int first = step < columns ? 0 : divide_up(step - columns + 1, slope);
  const int last = std::min(rows - 1, step / slope);
  return {first, step - slope * first, std::max(last - first + 1, 0)};
}

// ---- on the host, one task after the other: perform(i, j) ----

// Row by row; every kind of array.
template <class Perform>
void run_horizontally(int rows, int columns, Perform perform) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) perform(i, j);
}

// Column by column; forward and fair arrays. Throws ArgumentError for others.
void require_vertical_order(std::span<const TaskEdge> edges);
template <class Perform>
void run_vertically(int rows, int columns, std::span<const TaskEdge> edges, Perform perform) {
  require_vertical_order(edges);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) perform(i, j);
}

// Step by step; every kind of array.
template <class Perform>
void run_in_steps(int rows, int columns, std::span<const TaskEdge> edges, Perform perform) {
  const int slope = slope_of(edges);
  for (int s = 0; s < steps_of(rows, columns, slope); ++s) {
    const TaskStep step = task_step(s, rows, columns, slope);
    for (int k = 0; k < step.count; ++k) perform(step.first_row + k, step.first_column - slope * k);
  }
}

// ---- on a GPU ----

enum class TaskSchedule {
  steps,            // a launch per column, anti-diagonal or step: Parallel Forward, Fair, Backward
  blocks,           // SKSS: a block per row
  resident_blocks,  // SKSS: as many blocks as the GPU runs at a time; each takes rows in turn
  warps             // SKSS: a warp per row, in blocks of two
};

struct TaskScheduleInfo {
  TaskSchedule schedule;
  std::string_view id, title;
};
inline constexpr std::array<TaskScheduleInfo, 4> task_schedules{
    {{TaskSchedule::steps, "steps", "one launch per column, anti-diagonal or step"},
     {TaskSchedule::blocks, "skss_blocks", "SKSS, one block per row"},
     {TaskSchedule::resident_blocks, "skss_resident", "SKSS, as many blocks as run at a time"},
     {TaskSchedule::warps, "skss_warps", "SKSS, one warp per row"}}};

// Throws ArgumentError unless tasks are those of a warp.
void require_warps(int threads);

// A way to solve a problem that is a task array, on a GPU: the contract of all of them. `Problem`
// is one with its data in device memory.
template <class Problem>
struct TaskSolver {
  std::string_view id, title, source;

  // Bytes of scratch memory for a problem, whose arrays are not looked at. The memory belongs to
  // the caller, starts on a 256-byte boundary, must be zero before the first use for problems of
  // this size, and is left ready for the next use. Only one call's launches at a time may use it.
  std::size_t (*workspace_bytes)(const Problem&);
  int (*launches)(const Problem&);
  // Enqueues the whole solution; allocates nothing, waits for nothing. Throws CudaError.
  void (*enqueue)(const Problem&, void* workspace, StreamHandle stream);
};

}  // namespace facesat::gpu
