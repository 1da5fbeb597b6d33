#include "app/bench/bench_sat.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/bench/bench_cpu_sat.hpp"
#include "app/bench/gpu.hpp"
#include "app/bench/machine.hpp"
#include "app/bench/quantile.hpp"
#include "app/bench/report_file.hpp"
#include "app/bench/row_times.hpp"
#include "app/bench/sat_ids.hpp"
#include "app/bench/sat_kernels.hpp"
#include "app/bench/sat_report.hpp"
#include "app/common/messages.hpp"
#include "app/common/parse_size.hpp"
#include "kernels/bench/micro.hpp"
#include "kernels/bench/sat_bench.hpp"
#include "kernels/sat/algorithm.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
#include "library/support/same_file.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int largest_side = 32768;  // of a picture

std::vector<gpu::SatType> chosen_types(const std::vector<std::string>& asked) {
  std::vector<gpu::SatType> types;
  std::vector<std::string_view> known;
  for (const gpu::SatTypeInfo& info : gpu::sat_types) known.push_back(info.name);
  for (const std::string& name : asked) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw UsageError(fmt::format("--type {}: there is no such type; known are {}", name,
                                   fmt::join(known, ", ")));
    types.push_back(gpu::sat_types[static_cast<std::size_t>(found - known.begin())].type);
  }
  return types;
}

std::vector<Size> chosen_sizes(const std::vector<std::string>& asked) {
  std::vector<Size> sizes;
  for (const std::string& text : asked) {
    const Size size = parse_size(text);
    if (size.width < 1 || size.height < 1 || size.width > largest_side ||
        size.height > largest_side)
      throw UsageError(fmt::format("--size {}: sides are from 1 to {}", text, largest_side));
    sizes.push_back(size);
  }
  return sizes;
}

void print_title(bool has_models) {
  write_all(1,
            fmt::format("{:<30} {:<8} {:>11} {:>10} {:>10} {:>10} {:>8} {:>7}{}\n", "algorithm",
                        "type", "size", "median us", "min", "p95", "GB/s", "ratio",
                        has_models ? "   model us throughput" : ""),
            "standard output");
}

void print_row(const Json& row, bool has_models) {
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  const auto number_or_dash = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.2f}", number(key)) : "-";
  };
  std::string line = fmt::format(
      "{:<30} {:<8} {:>11} ", row["id"].get<std::string>(), row["type"].get<std::string>(),
      fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()));
  if (row.contains("failure"))
    line += row["failure"].get<std::string>();
  else
    line += fmt::format("{:>10.2f} {:>10.2f} {:>10.2f} {:>8.0f} {:>7}", number("median_us"),
                        number("min_us"), number("p95_us"), number("gb_per_s"),
                        number_or_dash("ratio"));
  if (has_models && !row.contains("failure"))
    line +=
        fmt::format(" {:>10} {:>10}", number_or_dash("model_us"), number_or_dash("throughput_us"));
  if (row.contains("checked")) line += row["checked"].get<bool>() ? "  checked" : "  WRONG";
  write_all(1, line + "\n", "standard output");
}

// The row of one measurement. The rows "floor" (a kernel that only reads the picture and writes the
// table) and "memcpy" have no integral images to check. Without a GPU there is no floor, and
// floor_us is 0.
Json to_row(const gpu::SatBenchRow& measured, const gpu::SatBenchTask& task, double floor_us) {
  Json row{{"id", measured.id},
           {"type", gpu::info_of(task.type).name},
           {"squares", task.squares},
           {"width", task.size.width},
           {"height", task.size.height}};
  const auto sat = gpu::choose_sat(measured.id).algorithm;
  if (sat && sat->parameter) row["value"] = sat->value;
  if (!measured.failure.empty()) {
    row["failure"] = measured.failure;
    return row;
  }
  add_times(row, measured.us, floor_us, measured.bytes);
  if (measured.id != "floor" && measured.id != "memcpy") row["checked"] = measured.checked;
  return row;
}

// Only the project's own GPU algorithms have a model; other rows stay as they are.
void add_model(Json& row, const gpu::SatBenchTask& task, const gpu::MicroFigures& figures,
               const std::vector<gpu::SatBenchLaunch>& measured) {
  const auto sat = gpu::choose_sat(row["id"].get<std::string>()).algorithm;
  if (!sat) return;
  const gpu::SatTypeInfo& type = gpu::info_of(task.type);
  const int tables = task.squares ? 2 : 1;
  row["model_us"] = sat->model.us(*sat, type, task.size, tables, figures);
  row["model"] = sat->model.name;
  if (!sat->model.throughput_us) return;
  std::vector<gpu::LaunchFigures> launches;
  for (const gpu::SatBenchLaunch& launch : measured) launches.push_back(launch.figures);
  row["throughput_us"] = sat->model.throughput_us(*sat, type, task.size, tables, figures, launches);
}

// Marks the fastest of an algorithm's rows from row `first` on, and prints its parameter. Rows that
// are wrong or were not measured do not count.
void name_fastest(const std::string& algorithm, std::size_t first, Json& rows) {
  Json* fastest = nullptr;
  int count = 0;
  for (std::size_t i = first; i < rows.size(); ++i) {
    Json& row = rows[i];
    if (base_of(row["id"]) != algorithm || !row.value("checked", false)) continue;
    ++count;
    if (!fastest || row["median_us"] < (*fastest)["median_us"]) fastest = &row;
  }
  if (!fastest) return;
  (*fastest)["fastest"] = true;
  write_all(1,
            fmt::format("{} at {}x{}: {} = {} is the fastest of {} values\n", algorithm,
                        (*fastest)["width"].get<int>(), (*fastest)["height"].get<int>(),
                        gpu::find_sat(algorithm)->parameter->name,
                        (*fastest)["value"].get<double>(), count),
            "standard output");
}

// An algorithm that is not available is reported only if it was requested by name. Rows get a model
// time if there are figures to compute it from. `searched`: the ids of task.ids that are there only
// for the search.
void bench(const gpu::SatBenchTask& task, bool has_gpu, const BenchSatCommand& command,
           const std::vector<std::string>& searched,
           const std::optional<gpu::MicroFigures>& figures, Json& rows) {
  const std::size_t first = rows.size();
  double floor_us = 0;
  const auto report = [&](const gpu::SatBenchRow& measured) {
    if (measured.is_absent && !contains(command.algorithms, measured.id)) return;
    if (measured.id == "floor") floor_us = quantile(measured.us, 0.5);
    Json row = to_row(measured, task, floor_us);
    if (contains(searched, measured.id)) row["searched"] = true;
    if (figures && measured.failure.empty()) add_model(row, task, *figures, measured.launches);
    if (command.kernels && !measured.launches.empty())
      row["kernels"] = kernels_json(measured.launches);
    print_row(row, figures.has_value());
    rows.push_back(std::move(row));
  };
  if (has_gpu) gpu::bench_sats(task, report);
  bench_cpu_sats(task, report);
  std::string last;
  for (const std::string& id : searched)
    if (const std::string algorithm = base_of(id); algorithm != std::exchange(last, algorithm))
      name_fastest(algorithm, first, rows);
}

}  // namespace

int run_bench_sat(const BenchSatCommand& command) {
  const std::vector<Size> sizes = chosen_sizes(command.sizes);
  const std::string no_gpu = why_no_gpu(command.device);
  const bool has_gpu = no_gpu.empty();
  if (command.model && !has_gpu) throw UsageError(fmt::format("--model needs a GPU: {}", no_gpu));
  if (command.search && !has_gpu) throw UsageError(fmt::format("--search needs a GPU: {}", no_gpu));
  if (command.kernels && !has_gpu)
    throw UsageError(fmt::format("--kernels needs a GPU: {}", no_gpu));
  const std::vector<std::string> ids = chosen_ids(command.algorithms, no_gpu);
  if (command.search && std::none_of(ids.begin(), ids.end(), has_parameter))
    throw UsageError("--search: none of the chosen algorithms has a parameter");
  const std::vector<gpu::SatType> types = chosen_types(command.types);
  if (!command.json.empty() && !command.report.empty() && same_file(command.json, command.report))
    throw UsageError("--json and --report need different files");
  require_writable_table(command.json);
  if (!command.report.empty()) require_writable_report(command.report);
  if (!has_gpu && wants_all(command.algorithms))
    say(fmt::format("facesat: GPU algorithms are left out: {}\n", no_gpu));
  std::optional<gpu::MicroFigures> figures;
  if (command.model) figures = gpu::measure_micro(command.device);
  Json rows = Json::array();
  print_title(command.model);
  for (const gpu::SatType type : types)
    for (const Size size : sizes) {
      const std::vector<std::string> searched =
          command.search ? searched_ids(ids, size) : std::vector<std::string>();
      std::vector<std::string> all = ids;
      all.insert(all.end(), searched.begin(), searched.end());
      bench({type, size, command.squares && gpu::info_of(type).input_bytes == 1, all,
             command.device, command.runs, command.kernels || command.model},
            has_gpu, command, searched, figures, rows);
    }
  if (command.kernels) write_all(1, fmt::format("\n{}", kernels_table(rows)), "standard output");
  if (!command.json.empty()) write_table(command.json, rows);
  if (!command.report.empty())
    write_report(command.report,
                 to_html({rows, machine_json(), command.line, gpu::sat_algorithms()}));
  const bool all_right = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
  return all_right ? 0 : 1;
}

}  // namespace facesat::app
