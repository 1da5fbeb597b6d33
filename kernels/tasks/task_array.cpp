#include "kernels/tasks/task_array.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "facesat/types.hpp"

namespace facesat::gpu {

TaskArrayKind kind_of(std::span<const TaskEdge> edges) {
  TaskArrayKind kind = TaskArrayKind::forward;
  for (const TaskEdge& edge : edges) {
    if (edge.up < 1)
      throw ArgumentError(
          fmt::format("tasks could wait for each other for ever: task (i, j) would need task (i + "
                      "{}, j {} {}), "
                      "but edges must lead from a row further up",
                      -edge.up, edge.right < 0 ? '-' : '+', std::abs(edge.right)));
    kind = std::max(kind, edge.right < 0    ? TaskArrayKind::forward
                          : edge.right == 0 ? TaskArrayKind::fair
                                            : TaskArrayKind::backward);
  }
  return kind;
}

int slope_of(std::span<const TaskEdge> edges) {
  if (kind_of(edges) == TaskArrayKind::forward) return 0;
  // The step of task (i, j) must exceed that of task (i - up, j + right): slope * up > right.
  int slope = 0;
  for (const TaskEdge& edge : edges)
    if (edge.right >= 0) slope = std::max(slope, divide_up(edge.right + 1, edge.up));
  return slope;
}

void require_vertical_order(std::span<const TaskEdge> edges) {
  if (kind_of(edges) == TaskArrayKind::backward)
    throw ArgumentError(
        "a backward task array cannot run column by column: tasks need others in columns further "
        "right");
}

void require_warps(int threads) {
  if (threads != 32)
    throw ArgumentError(fmt::format(
        "a task of {} threads cannot be performed by a warp: choose a schedule of blocks",
        threads));
}

}  // namespace facesat::gpu
