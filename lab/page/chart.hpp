// The parts of the charts of benchmarks, as SVG, and what distinguishes algorithms in every chart
// of a page: colour, marker and dashes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lab/page/rows.hpp"

namespace facesat::lab {

// Families of algorithms (the part of the id before the first underscore) differ in colour, and
// their members in marker. Once colours or markers run out, dashes distinguish the rest.
struct Look {
  // Numbers of a colour, marker shape and dash pattern. Colour -1: the references, which are the
  // floor (a kernel that only reads the picture and writes the table) and memcpy.
  int color = -1, marker = 0, dash = 0;

  std::string classes() const;  // CSS classes
};
using Looks = std::map<std::string, Look>;  // by the algorithm's id

Looks looks_of(const Rows& rows);

// The definitions of the markers, which the page contains once.
extern const std::string_view marker_shapes;

// A marker on a piece of line, for tables and legends.
std::string swatch(const Look& look);

// ---- parts of charts. Widths are in per cent and heights in pixels, so that charts fill the width
// of the window while the size of letters does not change.

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

// A line through the points of rows, with the SVG of a label between them. For where points are:
// see point().
std::string series(const Rows& line, const Look& look, const std::function<double(const Row&)>& x,
                   const std::function<double(const Row&)>& y, const std::string& label = "");

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
