// How a GPU runs a task array. Includes no CUDA headers.
#pragma once

#include <array>
#include <string_view>

namespace facesat::gpu {

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

}  // namespace facesat::gpu
