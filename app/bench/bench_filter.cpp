#include "app/bench/bench_filter.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/bench_cpu_filter.hpp"
#include "app/bench/filter_choices.hpp"
#include "app/bench/filter_report.hpp"
#include "app/bench/machine.hpp"
#include "app/bench/quantile.hpp"
#include "app/bench/report_file.hpp"
#include "app/bench/row_times.hpp"
#include "app/bench/sat_ids.hpp"
#include "app/common/messages.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"
#include "library/support/same_file.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view filter_row_format = "{:<29} {:<18} {:>11} {:>6} ";

void print_filter_title() {
  write_all(1,
            fmt::format(filter_row_format, "algorithm", "filter", "size", "radius") +
                fmt::format("{:>12} {:>12} {:>12} {:>8} {:>9} {:>9}\n", "median us", "min", "p95",
                            "GB/s", "ratio", "reads"),
            "standard output");
}

void print_filter_row(const Json& row) {
  const auto text = [&](const char* key) { return row[key].get<std::string>(); };
  const auto number = [&](const char* key) { return row[key].get<double>(); };
  const auto number_or_dash = [&](const char* key) {
    return row.contains(key) ? fmt::format("{:.2f}", number(key)) : "-";
  };
  std::string line =
      fmt::format(filter_row_format, text("id"), text("filter"),
                  fmt::format("{}x{}", row["width"].get<int>(), row["height"].get<int>()),
                  row["radius"].get<int>());
  if (row.contains("failure"))
    line += text("failure");
  else
    line += fmt::format("{:>12.2f} {:>12.2f} {:>12.2f} {:>8.2f} {:>9} {:>9}", number("median_us"),
                        number("min_us"), number("p95_us"), number("gb_per_s"),
                        number_or_dash("ratio"), number_or_dash("reads"));
  if (row.contains("checked")) line += row["checked"].get<bool>() ? "  checked" : "  WRONG";
  write_all(1, line + "\n", "standard output");
}

// The row of one measurement. Results that are not compared, which are those of the floor and of
// NPP, are neither right nor wrong. Without a GPU there is no floor, and floor_us is 0.
Json to_row(const gpu::FilterBenchRow& measured, const gpu::FilterBenchTask& task,
            double floor_us) {
  Json row{{"id", measured.id},
           {"filter", name_of(task.filter)},
           {"radius", task.radius},
           {"border", name_of(task.border)},
           {"width", task.picture.size.width},
           {"height", task.picture.size.height}};
  if (!measured.failure.empty()) {
    row["failure"] = measured.failure;
    return row;
  }
  add_times(row, measured.us, floor_us, measured.bytes);
  if (measured.reads > 0) row["reads"] = measured.reads;
  if (measured.launches > 0) row["launches"] = measured.launches;
  if (measured.is_compared) row["checked"] = measured.checked;
  return row;
}

// The rows of one filter, size and radius, with a picture that is not yet there. An algorithm that
// is not available is reported only if it was requested by name.
void bench(gpu::FilterBenchTask task, const BenchFilterCommand& command, bool has_gpu, Json& rows) {
  double floor_us = 0;
  const auto report = [&](const gpu::FilterBenchRow& measured) {
    if (measured.is_absent && !contains(command.algorithms, measured.id)) return;
    if (measured.id == "floor" && measured.failure.empty()) floor_us = quantile(measured.us, 0.5);
    rows.push_back(to_row(measured, task, floor_us));
    print_filter_row(rows.back());
  };
  const auto report_lack_of_memory = [&](auto measure) {
    try {
      measure();
    } catch (const MemoryError& error) {
      report({.id = "all", .failure = error.what()});
    }
  };
  report_lack_of_memory([&] {
    const Image<std::uint8_t> picture = noise_picture(task.picture.size);
    task.picture = picture.view();
    if (has_gpu) report_lack_of_memory([&] { gpu::bench_filters(task, report); });
    bench_cpu_filters(task, report);
  });
}

void refuse_what_cannot_be_written(const BenchFilterCommand& command) {
  if (!command.json.empty() && !command.report.empty() && same_file(command.json, command.report))
    throw UsageError("--json and --report need different files");
  require_writable_table(command.json);
  if (!command.report.empty()) require_writable_report(command.report);
}

}  // namespace

int run_bench_filter(const BenchFilterCommand& command) {
  const FilterChoices choices = filter_choices(command);
  refuse_what_cannot_be_written(command);
  if (!choices.left_out.empty())
    say(fmt::format("facesat: GPU algorithms are left out: {}\n", choices.left_out));
  Json rows = Json::array();
  print_filter_title();
  for (const FilterRadii& filter : choices.filters)
    for (const Size size : choices.sizes)
      for (const int radius : filter.radii)
        bench({filter.filter,
               {nullptr, size, 0},
               radius,
               command.border,
               choices.ids,
               command.device,
               command.runs},
              command, choices.has_gpu, rows);
  if (!command.json.empty()) write_table(command.json, rows);
  if (!command.report.empty())
    write_report(command.report, to_html(FilterReport{rows, machine_json(), command.line,
                                                      gpu::filter_algorithms()}));
  const bool all_right = std::none_of(rows.begin(), rows.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
  return all_right ? 0 : 1;
}

}  // namespace facesat::app
