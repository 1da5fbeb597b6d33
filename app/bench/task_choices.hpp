// What `facesat bench tasks` measures, from the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "app/bench/bench_tasks.hpp"
#include "core/image.hpp"

namespace facesat::app {

enum class TaskProblem { knapsack, error_diffusion, sat };

struct TaskProblemChoice {
  TaskProblem problem;
  std::string name;         // as on the command line
  std::vector<Size> sizes;  // for the knapsack problem, items and capacity
};

struct TaskChoices {
  bool has_gpu = false;
  std::string left_out;  // why the GPU's rows are, although all were wanted; or empty
  std::vector<TaskProblemChoice> problems;
  std::vector<std::string> schedules;  // of all problems, of the GPU and of the CPU
};

// The ids of rows: of the GPU's solvers, none in builds without CUDA, and of the CPU's.
std::vector<std::string> gpu_schedules(TaskProblem problem);
std::vector<std::string> cpu_schedules(TaskProblem problem);

// Throws UsageError with a sentence. The sizes of error diffusion are empty if an image is given
// without sizes.
TaskChoices task_choices(const BenchTasksCommand& command);

}  // namespace facesat::app
