#include "lab/table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "facesat/types.hpp"
#include "support/messages.hpp"

namespace facesat::lab {
namespace {

void print_line(const std::string& line) {
  print(line + "\n");
}

std::string cell(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}} ", text, -width) : fmt::format("{:>{}} ", text, width);
}

void add_times(Json& row, const std::vector<double>& us, double floor_us, double bytes) {
  const double median_us = quantile(us, 0.5);
  row["median_us"] = median_us;
  row["min_us"] = us.front();
  row["p95_us"] = quantile(us, 0.95);
  if (floor_us > 0) {
    row["floor_us"] = floor_us;
    row["ratio"] = median_us / floor_us;
  }
  row["gb_per_s"] = bytes / median_us / 1000;
}

// What every table has after the columns that say what a row is about.
const std::vector<Column>& time_columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> all{figure_column("median us", 12, "median_us"),
                            figure_column("min", 12, "min_us"), figure_column("p95", 12, "p95_us"),
                            figure_column("GB/s", 9, "gb_per_s"),
                            figure_column("ratio", 8, "ratio")};
    return all;
  }();
  return columns;
}

}  // namespace

Column figure_column(std::string title, int width, std::string key) {
  return {std::move(title), width,
          [key = std::move(key)](const Json& row) {
            return row.contains(key) ? fmt::format("{:.2f}", row[key].get<double>()) : "-";
          },
          true};
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  const auto figures = std::stable_partition(
      columns_.begin(), columns_.end(), [](const Column& column) { return !column.is_figure; });
  columns_.insert(figures, time_columns().begin(), time_columns().end());
  std::string line;
  for (const Column& column : columns_) line += cell(column.title, column.width);
  line.erase(line.find_last_not_of(' ') + 1);
  print_line(line);
}

void Table::add(Json row) {
  std::string line;
  for (const Column& column : columns_)
    if (!column.is_figure || !row.contains("failure")) line += cell(column.text(row), column.width);
  if (row.contains("failure")) line += row["failure"].get<std::string>() + " ";
  if (row.contains("checked")) line += row["checked"].get<bool>() ? " checked" : " WRONG";
  line.erase(line.find_last_not_of(' ') + 1);
  print_line(line);
  rows_.push_back(std::move(row));
}

void Table::measure(const Json& fields, std::span<const Subject> subjects, int runs,
                    std::size_t room, const std::vector<std::string>& wanted,
                    const std::function<void(const Subject&, Json&)>& complete) {
  add_measured(fields, subjects, lab::measure(subjects, runs, room), wanted, complete);
}

void Table::add_measured(const Json& fields, std::span<const Subject> subjects,
                         std::span<const Measurement> measurements,
                         const std::vector<std::string>& wanted,
                         const std::function<void(const Subject&, Json&)>& complete) {
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    const Measurement& measured = measurements[i];
    if (subject.is_absent && std::ranges::find(wanted, subject.id) == wanted.end()) continue;
    Json row{{"id", subject.id}};
    row.update(fields);
    row.update(subject.fields);
    if (!measured.failure.empty()) {
      row["failure"] = measured.failure;
    } else {
      if (subject.id == "floor") floor_us_ = quantile(measured.us, 0.5);
      add_times(row, measured.us, floor_us_, subject.bytes);
      if (measured.all_right) row["checked"] = *measured.all_right;
    }
    if (complete) complete(subject, row);
    add(std::move(row));
  }
}

void Table::attempt(const Json& fields, const std::function<void()>& measure_case) {
  try {
    measure_case();
  } catch (const MemoryError& error) {
    const Subject all{.id = "all", .failure = error.what()};
    const Measurement none{.failure = all.failure};
    add_measured(fields, {&all, 1}, {&none, 1}, {});
  }
}

bool Table::all_right() const {
  return std::none_of(rows_.begin(), rows_.end(), [](const Json& row) {
    return row.contains("failure") || (row.contains("checked") && !row["checked"].get<bool>());
  });
}

}  // namespace facesat::lab
