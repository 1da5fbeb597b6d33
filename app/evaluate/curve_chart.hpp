// Charts of curves, as SVG.
#pragma once

#include <string>
#include <vector>

#include "support/html_chart.hpp"

namespace facesat::app {

struct ChartPoint {
  double x, y;
  std::string title;  // shown when the pointer is over the point
};

struct ChartLine {
  html::Look look;
  std::vector<ChartPoint> points;
  bool has_markers = true;  // at each point
};

// An axis with its title: linear, or logarithmic; then values that are not positive lie at its low
// end, which is labelled 0.
struct ChartAxis {
  std::string title;
  bool is_logarithmic = false;
  bool is_percentage = false;  // ticks are in per cent; ends at 100 %
};

// Empty if no line has two points.
std::string curve_chart(const std::string& caption, const ChartAxis& x, const ChartAxis& y,
                        const std::vector<ChartLine>& lines);

}  // namespace facesat::app
