// The parts of charts. Widths are per cent and heights are pixels, so that charts are as wide as
// the window lets them be and letters stay as large as they are.
#pragma once

#include <string>
#include <vector>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"

namespace facesat::app::report {

class LogAxis {
 public:
  // Covers the values, at least a doubling, and a little more.
  explicit LogAxis(const std::vector<double>& values);
  double at(double value) const;  // from 0 to 1

  // Round values, as many as there can be up to `most`.
  std::vector<double> ticks(std::size_t most) const;

 private:
  double low_, high_;
};

template <class Value>
LogAxis axis_of(const Rows& rows, Value value, std::vector<double> values = {}) {
  for (const Row& row : rows) values.push_back(value(row));
  return LogAxis(values);
}

std::string percent(double part);

// The mark of a row.
std::string point(const Row& row, const Look& look, double x, double y);

// Across the whole chart, with what it stands for at its left.
std::string level(double y, const std::string& text);
// Below the chart, what stands for a place on its x axis.
std::string below(double x, double height, const std::string& text);

// Letters that the longest of the names takes.
std::size_t longest_id(const Rows& rows);

// A figure of that CSS class. `letters` is room for names beside it, `name` is for readers that do
// not see it, `content` is what the SVG element holds.
std::string chart(const char* kind, std::size_t letters, const std::string& caption, double height,
                  const std::string& name, const std::string& content);

}  // namespace facesat::app::report
