// A chart of stacked columns with an axis, drawn with Dear ImGui.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

namespace facesat::app {

// A value that at least one value in a hundred, but never a single one, may exceed; 0 of none. The
// 99th percentile, by the rank below.
double percentile_99(std::vector<double> values);

// The upper end of an axis for values up to `value`: 1, 2 or 5 times a power of ten. It becomes
// smaller than `previous` only if the values are clearly smaller, so that the axis does not jump
// between two ends.
double axis_top(double value, double previous);

// Round numbers from 0 to `top`, which axis_top() gave.
std::vector<double> axis_ticks(double top);

// A dashed line across the columns.
struct ChartLine {
  double value = 0;
  std::string label;
};

// From the first to the last.
struct ColumnRange {
  std::size_t first = 0, last = 0;
};

struct Chart {
  std::vector<ImU32> colours;    // of the series, at least one, from the bottom of a column up
  std::vector<double> values;    // column by column, from the left; in each one value per series
  std::size_t slots = 1;         // as many columns fill the width; fewer are aligned to the right
  double top = 1;                // of the axis; higher columns are cut, with a triangle above them
  std::vector<ChartLine> lines;  // drawn if they are below `top`
  std::vector<std::size_t> marked;      // columns with a triangle below them
  std::optional<ColumnRange> selected;  // columns with a ground of their own
};

struct ChartPointer {
  bool is_over_chart = false;
  std::optional<std::size_t> column;   // the one under the pointer
  bool is_clicked = false;             // the chart was clicked
  std::optional<ColumnRange> dragged;  // between where the button was pressed and the pointer
};

// Draws a chart of this height, in pixels, across the width that is left in the window. It is an
// item of Dear ImGui with the given id; the column under the pointer has an outline.
ChartPointer draw_chart(const char* id, const Chart& chart, float height);

}  // namespace facesat::app
