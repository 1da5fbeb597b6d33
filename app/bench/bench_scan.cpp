#include "app/bench/bench_scan.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/bench_cpu_scan.hpp"
#include "app/bench/gpu.hpp"
#include "app/bench/machine.hpp"
#include "app/bench/quantile.hpp"
#include "app/bench/report_file.hpp"
#include "app/bench/row_times.hpp"
#include "app/bench/scan_choices.hpp"
#include "app/bench/scan_report.hpp"
#include "app/bench/scan_search.hpp"
#include "app/common/messages.hpp"
#include "kernels/bench/micro.hpp"
#include "kernels/sat/model.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
#include "library/support/same_file.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

std::string scan_columns(std::string_view algorithm, std::string_view settings,
                         std::string_view type, std::string_view n) {
  return fmt::format("{:<24} {:<36} {:<4} {:>10} ", algorithm, settings, type, n);
}

void print_scan_title(bool has_models) {
  write_all(1,
            scan_columns("algorithm", "settings", "type", "n") +
                fmt::format("{:>10} {:>10} {:>10} {:>8} {:>7}{}\n", "median us", "min", "p95",
                            "GB/s", "ratio", has_models ? "   model us" : ""),
            "standard output");
}

void print_scan_row(const Json& row, bool has_models) {
  const auto text = [&](const char* key) { return row[key].get<std::string>(); };
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  const auto number_or_dash = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.2f}", number(key)) : "-";
  };
  std::string line =
      scan_columns(text("id"), text("settings"), text("type"), fmt::to_string(row["n"].get<int>()));
  if (row.contains("failure")) {
    line += text("failure");
  } else {
    line += fmt::format("{:>10.2f} {:>10.2f} {:>10.2f} {:>8.0f} {:>7}", number("median_us"),
                        number("min_us"), number("p95_us"), number("gb_per_s"),
                        number_or_dash("ratio"));
    if (has_models) line += fmt::format(" {:>10}", number_or_dash("model_us"));
  }
  if (row.contains("checked")) line += row["checked"].get<bool>() ? "  checked" : "  WRONG";
  write_all(1, line + "\n", "standard output");
}

// The row of one measurement. The rows "floor" (a kernel that only copies the array) and "memcpy"
// have no results to check. Without a GPU there is no floor, and floor_us is 0.
Json to_row(const gpu::ScanBenchRow& measured, const gpu::ScanBenchTask& task, double floor_us) {
  const gpu::ScanAlgorithm* const scan = gpu::find_scan(measured.id);
  Json row{{"id", measured.id},
           {"settings", scan ? gpu::settings_text(*scan, measured.settings) : ""},
           {"type", gpu::info_of(task.type).name},
           {"operator", gpu::name_of(task.op)},
           {"inclusive", task.is_inclusive},
           {"in_place", task.in_place},
           {"n", task.n}};
  if (!measured.failure.empty()) {
    row["failure"] = measured.failure;
    return row;
  }
  const double bytes = 2.0 * task.n * static_cast<double>(gpu::info_of(task.type).bytes);
  add_times(row, measured.us, floor_us, bytes);
  if (measured.id != "floor" && measured.id != "memcpy") row["checked"] = measured.checked;
  return row;
}

// The "bytes" model: the time to read and write the elements at the speed of a copy, plus the
// launches. Only the project's own GPU algorithms have it; other rows stay as they are.
void add_scan_model(Json& row, const gpu::ScanBenchTask& task, const gpu::ScanBenchRow& measured,
                    const gpu::MicroFigures& figures) {
  const gpu::ScanAlgorithm* const scan = gpu::find_scan(measured.id);
  if (!scan || !measured.failure.empty()) return;
  const gpu::ScanCost cost = scan->cost(gpu::to_scan_task(task, measured.settings));
  const double bytes =
      (cost.reads + cost.writes) * task.n * static_cast<double>(gpu::info_of(task.type).bytes);
  row["model_us"] = bytes / gpu::copy_bytes_per_us(figures) + cost.launches * figures.launch_us;
  row["model"] = "bytes";
}

// The rows of one type and length.
void bench(const gpu::ScanBenchTask& task, const ScanChoices& choices,
           const std::optional<gpu::MicroFigures>& figures, Json& rows) {
  double floor_us = 0;
  const auto report = [&](const gpu::ScanBenchRow& measured) {
    if (measured.id == "floor" && measured.failure.empty()) floor_us = quantile(measured.us, 0.5);
    Json row = to_row(measured, task, floor_us);
    if (figures) add_scan_model(row, task, measured, *figures);
    print_scan_row(row, figures.has_value());
    rows.push_back(std::move(row));
  };
  if (choices.has_gpu) search_scans(task, choices.searched, report);
  bench_cpu_scans(task, report);
}

void refuse_what_cannot_be_written(const BenchScanCommand& command) {
  if (!command.json.empty() && !command.report.empty() && same_file(command.json, command.report))
    throw UsageError("--json and --report need different files");
  require_writable_table(command.json);
  if (!command.report.empty()) require_writable_report(command.report);
}

}  // namespace

int run_bench_scan(const BenchScanCommand& command) {
  const ScanChoices choices = scan_choices(command);
  refuse_what_cannot_be_written(command);
  if (!choices.left_out.empty())
    say(fmt::format("facesat: GPU algorithms are left out: {}\n", choices.left_out));
  std::optional<gpu::MicroFigures> figures;
  if (command.model) figures = gpu::measure_micro(command.device);
  Json rows = Json::array();
  print_scan_title(command.model);
  for (const gpu::ScanType type : choices.types)
    for (const int n : choices.lengths)
      bench({type, command.op, !command.is_exclusive, command.in_place, n, choices.contenders,
             command.device, command.runs},
            choices, figures, rows);
  if (!command.json.empty()) write_table(command.json, rows);
  if (!command.report.empty())
    write_report(command.report,
                 to_html({rows, machine_json(), command.line, gpu::scan_algorithms()}));
  const bool all_right = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
  return all_right ? 0 : 1;
}

}  // namespace facesat::app
