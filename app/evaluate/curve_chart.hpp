// Charts of curves, as SVG.
#pragma once

#include <string>
#include <vector>

#include "support/html_chart.hpp"

namespace facesat::app {

struct CurvePoint {
  double x, y;
  std::string title;  // shown when the pointer is over the point
};

struct DrawnCurve {
  html::Look look;
  std::vector<CurvePoint> points;
  bool has_markers = true;  // at each point
};

// An axis with its title: linear, or logarithmic; then values that are not positive lie at its low
// end, which is labelled 0.
struct CurveAxis {
  std::string title;
  bool is_logarithmic = false;
  bool is_percentage = false;  // ticks are in per cent; ends at 100 %
};

// Empty if no line has two points.
std::string curve_chart(const std::string& caption, const CurveAxis& x, const CurveAxis& y,
                        const std::vector<DrawnCurve>& lines);

}  // namespace facesat::app
