// The rows of a benchmark: printed one by one as they come, and kept for --json and --report.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lab/measure.hpp"

namespace facesat::lab {

// Of what is printed. Columns with a negative width are aligned on the left.
struct Column {
  std::string title;
  int width;
  std::function<std::string(const Json& row)> text;  // "-" where there is nothing
  bool is_figure = false;  // follows the times, and is missing in rows without them
};

// The figure at `key` with two decimals, or "-".
Column figure_column(std::string title, int width, std::string key);

class Table {
 public:
  // Prints the titles.
  explicit Table(std::vector<Column> columns);

  // Prints the row and keeps it.
  void add(Json row);
  // Measures subjects (measure.hpp) and adds a row for each: id, the fields of the case and its
  // own, the times and the verdict. Absent ones are added only if `wanted` has them. The subject
  // "floor" is what the ratios of the others refer to. `complete` may add to a row before it is
  // printed.
  void measure(const Json& fields, std::span<const Subject> subjects, int runs, std::size_t room,
               const std::vector<std::string>& wanted,
               const std::function<void(const Subject&, Json& row)>& complete = nullptr);
  // The same with measurements that are there already.
  void add_measured(const Json& fields, std::span<const Subject> subjects,
                    std::span<const Measurement> measurements,
                    const std::vector<std::string>& wanted,
                    const std::function<void(const Subject&, Json& row)>& complete = nullptr);
  // Calls measure_case(); if it lacks memory, the row "all" says so.
  void attempt(const Json& fields, const std::function<void()>& measure_case);
  // The floor of another case no longer counts.
  void begin_case() { floor_us_ = 0; }

  Json& rows() { return rows_; }
  // Was everything measured, and no result wrong?
  bool all_right() const;

 private:
  std::vector<Column> columns_;
  Json rows_ = Json::array();
  double floor_us_ = 0;
};

}  // namespace facesat::lab
