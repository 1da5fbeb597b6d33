// The parts of the charts of benchmarks, as SVG, and what distinguishes algorithms in every chart
// of a page.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lab/page/rows.hpp"
#include "support/html_chart.hpp"

namespace facesat::lab {

using html::below;
using html::chart;
using html::level;
using html::LogAxis;
using html::Look;
using html::percent;
using html::swatch;

// Families of algorithms (the part of the id before the first underscore) differ in colour, and
// their members in marker. Once colours or markers run out, dashes distinguish the rest. The floor
// (a kernel that only reads the picture and writes the table) and memcpy are grey.
using Looks = std::map<std::string, Look>;  // by the algorithm's id

Looks looks_of(const Rows& rows);

// The axis for value(row) of all rows, and for further `values`.
template <class Value>
LogAxis axis_of(const Rows& rows, Value value, std::vector<double> values = {}) {
  for (const Row& row : rows) values.push_back(value(row));
  return LogAxis(values);
}

// The marker of a row. `x`: a part of the width, 0 .. 1; `y`: in pixels from the top.
std::string point(const Row& row, const Look& look, double x, double y);

// A line through the points of rows, with the SVG of a label between them. For where points are:
// see point().
std::string series(const Rows& line, const Look& look, const std::function<double(const Row&)>& x,
                   const std::function<double(const Row&)>& y, const std::string& label = "");

// The number of letters in the longest id.
std::size_t longest_id(const Rows& rows);

}  // namespace facesat::lab
