// The parts of charts, as SVG, and what distinguishes lines in every chart of a page: colour,
// marker and dashes. Widths are in per cent and heights in pixels, so that charts fill the width of
// the window while the size of letters does not change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace facesat::html {

// Numbers of a colour, marker shape and dash pattern. Colour -1: grey, for what others are compared
// with.
struct Look {
  static constexpr int colors = 8, markers = 7;  // as in the style sheet and in marker_shapes
  int color = -1, marker = 0, dash = 0;

  std::string classes() const;  // CSS classes
};

// The definitions of the markers, which a page contains once.
extern const std::string_view marker_shapes;

// A marker on a piece of line, for tables and legends.
std::string swatch(const Look& look);

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

std::string tick_text(double tick);  // the label of an axis tick
std::string percent(double part);    // "50.00%" for 0.5

// A line across the whole chart, with its label on the left.
std::string level(double y, const std::string& text);
// A label below the chart, at a position on the x axis.
std::string below(double x, double height, const std::string& text);

// A figure of CSS class `kind`. `letters` is the space, in letters, for names next to the plot,
// `name` is the label for screen readers, and `content` is the content of the SVG element.
std::string chart(const char* kind, std::size_t letters, const std::string& caption, double height,
                  const std::string& name, const std::string& content);

}  // namespace facesat::html
