// The parts of the charts of benchmarks, as SVG. Widths are in per cent and heights in
// pixels, so that charts fill the width of the window while the size of letters does not change.
#pragma once

#include <string>
#include <vector>

#include "lab/page/looks.hpp"
#include "lab/page/rows.hpp"

namespace facesat::lab {

// A logarithmic axis.
class LogAxis {
 public:
  // Covers the values and a little more; at least a factor of two.
  explicit LogAxis(const std::vector<double>& values);
  double at(double value) const;  // from 0 to 1

  // Round values: as many as possible, but at most `most`.
  std::vector<double> ticks(std::size_t most) const;

 private:
  double low_, high_;
};

// The axis for value(row) of all rows, and for further `values`.
template <class Value>
LogAxis axis_of(const Rows& rows, Value value, std::vector<double> values = {}) {
  for (const Row& row : rows) values.push_back(value(row));
  return LogAxis(values);
}

std::string percent(double part);  // "50.00%" for 0.5

// The marker of a row. `x`: a part of the width, 0 .. 1; `y`: in pixels from the top.
std::string point(const Row& row, const Look& look, double x, double y);

// A line across the whole chart, with its label on the left.
std::string level(double y, const std::string& text);
// A label below the chart, at a position on the x axis.
std::string below(double x, double height, const std::string& text);

// The number of letters in the longest id.
std::size_t longest_id(const Rows& rows);

// A figure of CSS class `kind`. `letters` is the space, in letters, for names next to the plot,
// `name` is the label for screen readers, and `content` is the content of the SVG element.
std::string chart(const char* kind, std::size_t letters, const std::string& caption, double height,
                  const std::string& name, const std::string& content);

}  // namespace facesat::lab
