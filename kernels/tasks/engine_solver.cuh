// Solvers that are a task array and a schedule.
#pragma once

#include <utility>

#include "kernels/tasks/task_array.cuh"
#include "kernels/tasks/task_solver.hpp"

namespace facesat::gpu {

constexpr std::size_t round_up_256(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

// `Form::of(problem, memory)` is a problem as a task array, with Form::table_bytes(problem) bytes
// of device memory of its own, which lie in the workspace past the schedule's.
template <class Problem, class Form, TaskSchedule schedule>
TaskSolver<Problem> engine_solver(std::string_view id, std::string_view title,
                                  std::string_view source) {
  using Array = decltype(Form::of(std::declval<const Problem&>(), nullptr));
  static constexpr auto schedule_bytes = [](const Problem& problem) {
    return round_up_256(task_workspace_bytes<Array>(Form::of(problem, nullptr).rows, schedule));
  };
  return {.id = id,
          .title = title,
          .source = source,
          .workspace_bytes =
              [](const Problem& problem) {
                return schedule_bytes(problem) + Form::table_bytes(problem);
              },
          .launches =
              [](const Problem& problem) {
                return task_launches(Form::of(problem, nullptr), schedule);
              },
          .enqueue =
              [](const Problem& problem, void* workspace, StreamHandle stream) {
                void* const table = static_cast<std::byte*>(workspace) + schedule_bytes(problem);
                enqueue_tasks(Form::of(problem, table), schedule, workspace, stream);
              }};
}

}  // namespace facesat::gpu
