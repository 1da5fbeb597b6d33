#include "app/bench/bench_tasks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/bench_cpu_tasks.hpp"
#include "app/bench/machine.hpp"
#include "app/bench/quantile.hpp"
#include "app/bench/report_file.hpp"
#include "app/bench/row_times.hpp"
#include "app/bench/scene.hpp"
#include "app/bench/task_choices.hpp"
#include "app/bench/task_report.hpp"
#include "app/common/messages.hpp"
#include "kernels/bench/task_bench.hpp"
#include "library/media/stamp.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
#include "library/support/same_file.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;
using TaskRows = std::vector<gpu::TaskBenchRow>;

// What was measured of one problem at one size.
struct Measured {
  const TaskProblemChoice& choice;
  Size size;
  TaskRows rows;
};

bool is_right(const gpu::TaskBenchRow& row) {
  return row.failure.empty() && row.checked && !row.us.empty();
}

// The fastest of the conventional rows, with a launch per step; null if there is none.
const gpu::TaskBenchRow* fastest_steps(const TaskRows& rows) {
  const gpu::TaskBenchRow* fastest = nullptr;
  for (const gpu::TaskBenchRow& row : rows)
    if (row.id.starts_with("steps") && is_right(row) &&
        (!fastest || quantile(row.us, 0.5) < quantile(fastest->us, 0.5)))
      fastest = &row;
  return fastest;
}

// The bytes that the floor writes and, in the other problems, reads.
double bytes_of(const Measured& measured) {
  const double width = measured.size.width, height = measured.size.height;
  switch (measured.choice.problem) {
    case TaskProblem::knapsack:
      return width * 4 * static_cast<double>(gpu::taken_words(measured.size.height));
    case TaskProblem::error_diffusion:
      return 2 * width * height;
    case TaskProblem::sat:
      return 8 * width * height;
  }
  return 0;
}

Json to_row(const Measured& measured, const gpu::TaskBenchRow& row, gpu::HalftoneRule rule) {
  const bool is_knapsack = measured.choice.problem == TaskProblem::knapsack;
  Json json{{"id", row.id}, {"problem", measured.choice.name}};
  if (measured.choice.problem == TaskProblem::error_diffusion)
    json["rule"] = rule == gpu::HalftoneRule::real ? "32f" : "integer";
  json[is_knapsack ? "items" : "width"] = measured.size.width;
  json[is_knapsack ? "capacity" : "height"] = measured.size.height;
  if (!row.failure.empty()) {
    json["failure"] = row.failure;
    return json;
  }
  const auto floor = std::find_if(measured.rows.begin(), measured.rows.end(),
                                  [](const gpu::TaskBenchRow& r) { return r.id == "floor"; });
  const bool has_floor = floor != measured.rows.end() && floor->failure.empty();
  add_times(json, row.us, has_floor ? quantile(floor->us, 0.5) : 0, bytes_of(measured));
  if (row.id == "floor") return json;
  if (!row.id.starts_with("cpu_")) json["launches"] = row.launches;
  if (const gpu::TaskBenchRow* const steps = fastest_steps(measured.rows))
    json["speedup"] = quantile(steps->us, 0.5) / quantile(row.us, 0.5);
  json["checked"] = row.checked;
  return json;
}

constexpr std::string_view task_row_format = "{:<16} {:<16} {:>14} {:>8} ";

void print_task_title() {
  write_all(1,
            fmt::format(task_row_format, "problem", "schedule", "size", "launches") +
                fmt::format("{:>12} {:>12} {:>12} {:>9} {:>8}\n", "median us", "min", "p95",
                            "ratio", "speed-up"),
            "standard output");
}

void print_task_row(const Json& row, Size size) {
  const auto number_or_dash = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.2f}", row[key].get<double>()) : std::string("-");
  };
  std::string line =
      fmt::format(task_row_format, row["problem"].get<std::string>(), row["id"].get<std::string>(),
                  fmt::format("{}x{}", size.width, size.height),
                  row.contains("launches") ? fmt::to_string(row["launches"].get<int>()) : "-");
  if (row.contains("failure"))
    line += row["failure"].get<std::string>();
  else
    line += fmt::format("{:>12.2f} {:>12.2f} {:>12.2f} {:>9} {:>8}", row["median_us"].get<double>(),
                        row["min_us"].get<double>(), row["p95_us"].get<double>(),
                        number_or_dash("ratio"), number_or_dash("speedup"));
  if (row.contains("checked")) line += row["checked"].get<bool>() ? "  checked" : "  WRONG";
  write_all(1, line + "\n", "standard output");
}

void append(TaskRows& rows, const TaskRows& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

void write_halftone(const std::string& file, const Image<std::uint8_t>& halftone) {
  Image<Bgr> colour(halftone.size());
  for (int y = 0; y < halftone.size().height; ++y)
    std::transform(halftone.row(y), halftone.row(y) + halftone.size().width, colour.row(y),
                   [](std::uint8_t grey) {
                     return Bgr{grey, grey, grey};
                   });
  write_picture(file, colour.view());
}

// All rows of one problem at one size. `picture`: the one for error diffusion; null: a ramp.
TaskRows measure(const TaskProblemChoice& choice, Size size, const TaskChoices& choices,
                 const BenchTasksCommand& command, const Picture* picture) {
  const gpu::TaskBenchSettings settings{choices.schedules, command.device, command.runs};
  TaskRows rows;
  const auto report = [&](const gpu::TaskBenchRow& row) { rows.push_back(row); };
  switch (choice.problem) {
    case TaskProblem::knapsack: {
      KnapsackProblem problem = make_knapsack(size.width, size.height);
      append(rows, solve(problem, choices.schedules, command.runs));
      if (choices.has_gpu)
        bench_tasks(gpu::KnapsackBenchTask{problem.values, problem.weights, problem.capacity,
                                           problem.expected},
                    settings, report);
      break;
    }
    case TaskProblem::error_diffusion: {
      HalftoneProblem problem{
          command.rule, picture ? make_scene(*picture, size).gray : halftone_ramp(size), {}};
      append(rows, solve(problem, choices.schedules, command.runs));
      if (!command.output.empty()) write_halftone(command.output, problem.expected);
      if (choices.has_gpu)
        bench_tasks(gpu::HalftoneBenchTask{command.rule, std::as_const(problem.picture).view(),
                                           std::as_const(problem.expected).view()},
                    settings, report);
      break;
    }
    case TaskProblem::sat:
      append(rows, solve_sat(size, choices.schedules, command.runs));
      if (choices.has_gpu) gpu::bench_tasks(size, settings, report);
  }
  return rows;
}

void refuse_what_cannot_be_written(const BenchTasksCommand& command) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"--json", command.json}, {"--report", command.report}, {"--output", command.output}};
  for (std::size_t i = 0; i < files.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (!files[i].second.empty() && !files[k].second.empty() &&
          same_file(files[i].second, files[k].second))
        throw UsageError(
            fmt::format("{} and {} need different files", files[k].first, files[i].first));
  require_writable_table(command.json);
  if (!command.report.empty()) require_writable_report(command.report);
  if (command.output.empty()) return;
  if (!has_extension(command.output, {".png"}))
    throw UsageError(
        fmt::format("--output {}: a halftone is written as a .png file, which keeps "
                    "every pixel",
                    command.output));
  if (!command.image.empty() && same_file(command.output, command.image))
    throw UsageError("--image and --output need different files");
  require_writable(command.output);
  if (has_contents(command.output) && !is_stamped(command.output)) refuse_foreign(command.output);
}

}  // namespace

int run_bench_tasks(const BenchTasksCommand& command) {
  TaskChoices choices = task_choices(command);
  refuse_what_cannot_be_written(command);
  std::optional<Picture> picture;
  if (!command.image.empty()) {
    picture = read_scene_picture(command.image);
    choices.problems.front().sizes = scene_sizes(command.sizes, picture->pixels.size);
  }
  if (!choices.left_out.empty())
    say(fmt::format("facesat: GPU schedules are left out: {}\n", choices.left_out));
  Json rows = Json::array();
  print_task_title();
  for (const TaskProblemChoice& choice : choices.problems)
    for (const Size size : choice.sizes) {
      Measured measured{choice, size, {}};
      try {
        measured.rows = measure(choice, size, choices, command, picture ? &*picture : nullptr);
      } catch (const MemoryError& error) {
        measured.rows.push_back({.id = "all", .failure = error.what()});
      }
      for (const gpu::TaskBenchRow& row : measured.rows) {
        rows.push_back(to_row(measured, row, command.rule));
        print_task_row(rows.back(), size);
      }
    }
  if (!command.json.empty()) write_table(command.json, rows);
  if (!command.report.empty())
    write_report(command.report, to_html(TaskReport{rows, machine_json(), command.line}));
  const bool all_right = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
  return all_right ? 0 : 1;
}

}  // namespace facesat::app
