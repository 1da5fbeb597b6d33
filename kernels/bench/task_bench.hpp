// Measures the ways to run task arrays, for `facesat bench tasks`, without CUDA headers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/tasks/error_diffusion.hpp"
#include "kernels/tasks/knapsack.hpp"

namespace facesat::gpu {

struct TaskBenchSettings {
  std::vector<std::string> schedules;  // ids of solvers; others are ignored
  int device = 0;
  int runs = 31;
};

struct TaskBenchRow {
  std::string id;            // "floor", or the solver's
  std::vector<double> us{};  // time of each run, sorted
  int launches = 1;
  bool checked = false;   // every element of every run was right
  std::string failure{};  // why it was not measured
};
using ReportTaskRow = std::function<void(const TaskBenchRow&)>;

// A problem with its right result, from the definitions in kernels/tasks, in the host's memory.
struct KnapsackBenchTask {
  std::span<const float> values;
  std::span<const int> weights;
  int capacity = 0;
  const KnapsackTable& expected;
};
struct HalftoneBenchTask {
  HalftoneRule rule = HalftoneRule::real;
  View<const std::uint8_t> picture, expected;
};

// Call `report` for the floor and then for each chosen solver, one after the other, because the
// tables of the largest problems do not fit into memory together. The floor writes the bits of the
// choices (knapsack), copies the picture (error diffusion), or reads every pixel and writes every
// element of the table (SAT; type 32f32f). Pictures rotate over more memory than the L2 cache
// holds. Each run is timed between two events in the stream, and its result is compared. Throw
// DeviceError or MemoryError where there is no device or no room for inputs and results.
void bench_tasks(const KnapsackBenchTask& task, const TaskBenchSettings& settings,
                 const ReportTaskRow& report);
void bench_tasks(const HalftoneBenchTask& task, const TaskBenchSettings& settings,
                 const ReportTaskRow& report);
void bench_tasks(Size size, const TaskBenchSettings& settings, const ReportTaskRow& report);

}  // namespace facesat::gpu
