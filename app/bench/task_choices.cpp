#include "app/bench/task_choices.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bench/gpu.hpp"
#include "app/bench/sat_ids.hpp"
#include "app/common/parse_size.hpp"
#include "kernels/tasks/knapsack.hpp"
#include "kernels/tasks/sat.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

constexpr std::array<std::pair<TaskProblem, std::string_view>, 3> problems{
    {{TaskProblem::knapsack, "knapsack"},
     {TaskProblem::error_diffusion, "error-diffusion"},
     {TaskProblem::sat, "sat"}}};

constexpr int largest_task_side = 32768;

void add_missing(std::vector<std::string>& list, const std::vector<std::string>& more) {
  for (const std::string& id : more)
    if (!contains(list, id)) list.push_back(id);
}

template <class Solver>
std::vector<std::string> ids_of(std::span<const Solver> solvers) {
  std::vector<std::string> ids;
  for (const Solver& solver : solvers) ids.emplace_back(solver.id);
  return ids;
}

// The sizes that Funasaka et al. measure.
std::vector<Size> standard_sizes(TaskProblem problem) {
  std::vector<Size> sizes;
  for (int k = 0; k < 6; ++k)
    sizes.push_back(problem == TaskProblem::knapsack ? Size{4096, (16384 << k) - 1}
                                                     : Size{1024 << k, 1024 << k});
  return sizes;
}

Size size_of(TaskProblem problem, const std::string& text) {
  const Size size = parse_size(text);
  if (problem != TaskProblem::knapsack) {
    if (size.width < 1 || size.height < 1 || size.width > largest_task_side ||
        size.height > largest_task_side)
      throw UsageError(fmt::format("--size {}: sides are from 1 to {}", text, largest_task_side));
  } else if (text.find('x') == std::string::npos || size.width < 1 || size.height < 1 ||
             size.width > gpu::most_items || size.height > gpu::largest_capacity) {
    throw UsageError(
        fmt::format("--size {}: expected ITEMSxCAPACITY for the knapsack problem, from 1 to {} "
                    "items and a capacity from 1 to {}",
                    text, gpu::most_items, gpu::largest_capacity));
  }
  return size;
}

// An image or an output without a problem are about error diffusion.
std::vector<std::string> problem_names(const BenchTasksCommand& command) {
  const bool is_halftone = !command.image.empty() || !command.output.empty();
  std::vector<std::string> names = command.problems;
  if (contains(names, "all") || names.empty()) {
    names.clear();
    for (const auto& [problem, name] : problems) names.emplace_back(name);
    if (is_halftone) names = {"error-diffusion"};
  }
  if (is_halftone && names != std::vector<std::string>{"error-diffusion"})
    throw UsageError("--image and --output are for --problem error-diffusion alone");
  if (!command.sizes.empty() && names.size() > 1)
    throw UsageError("--size: the problems have different sizes; choose one with --problem");
  return names;
}

}  // namespace

std::vector<std::string> gpu_schedules(TaskProblem problem) {
  switch (problem) {
    case TaskProblem::knapsack:
      return ids_of(gpu::knapsack_solvers());
    case TaskProblem::error_diffusion:
      return ids_of(gpu::halftone_solvers());
    case TaskProblem::sat:
      return ids_of(gpu::sat_solvers());
  }
  return {};
}

std::vector<std::string> cpu_schedules(TaskProblem problem) {
  switch (problem) {
    case TaskProblem::knapsack:
      return {"cpu_serial", "cpu_threads"};
    case TaskProblem::error_diffusion:
      return {"cpu_collection", "cpu_diffusion"};
    case TaskProblem::sat:
      return {"cpu_4r1w"};
  }
  return {};
}

TaskChoices task_choices(const BenchTasksCommand& command) {
  TaskChoices choices;
  std::vector<std::string> of_gpu, known;
  for (const std::string& name : problem_names(command)) {
    const auto found = std::find_if(problems.begin(), problems.end(),
                                    [&](const auto& problem) { return problem.second == name; });
    if (found == problems.end())
      throw UsageError(fmt::format(
          "--problem {}: there is no such problem; known are knapsack, error-diffusion, sat, all",
          name));
    const TaskProblem problem = found->first;
    TaskProblemChoice choice{problem, name, {}};
    for (const std::string& text : command.sizes) choice.sizes.push_back(size_of(problem, text));
    if (command.sizes.empty() && command.image.empty())
      choice.sizes =
          command.output.empty() ? standard_sizes(problem) : std::vector{Size{1024, 1024}};
    choices.problems.push_back(choice);
    add_missing(of_gpu, gpu_schedules(problem));
    add_missing(known, cpu_schedules(problem));
  }
  known.insert(known.begin(), of_gpu.begin(), of_gpu.end());
  if (!command.output.empty() && command.sizes.size() > 1)
    throw UsageError("--output takes the halftone of one size; several are given");

  const std::string no_gpu = why_no_gpu(command.device);
  choices.has_gpu = no_gpu.empty();
  for (const std::string& id : command.schedules) {
    if (id == "all") continue;
    // Builds without CUDA do not know the ids of the GPU's schedules.
    const bool may_need_gpu =
        of_gpu.empty() && (id == "facesat" || id.starts_with("skss_") || id.starts_with("steps"));
    if (!contains(known, id) && !may_need_gpu)
      throw UsageError(fmt::format("--schedule {}: there is no such schedule; known are {}", id,
                                   fmt::join(known, ", ")));
    if (!no_gpu.empty() && (may_need_gpu || contains(of_gpu, id)))
      throw UsageError(fmt::format("--schedule {} needs a GPU: {}", id, no_gpu));
  }
  const bool wants_all = command.schedules.empty() || contains(command.schedules, "all");
  choices.schedules = wants_all ? known : command.schedules;
  if (wants_all) choices.left_out = no_gpu;
  return choices;
}

}  // namespace facesat::app
