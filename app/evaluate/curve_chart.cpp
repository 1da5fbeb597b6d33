#include "app/evaluate/curve_chart.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "support/html.hpp"

namespace facesat::app {
namespace {

constexpr double chart_height = 340;  // pixels

struct Tick {
  double place;  // 0 .. 1
  std::string text;
};

struct Scale {
  std::function<double(double)> at;  // the place of a value, 0 .. 1
  std::vector<Tick> ticks;
};

std::string label_of(double value, bool is_percentage) {
  return is_percentage ? fmt::format("{:g} %", 100 * value) : html::tick_text(value);
}

// The step of ticks: 1, 2 or 5 times a power of ten, for at most eight of them.
double step_over(double range) {
  double step = std::pow(10, std::floor(std::log10(range)) - 1);
  for (const double factor : {2.0, 2.5, 2.0, 2.0, 2.5, 2.0}) {
    if (range / step <= 8) break;
    step *= factor;
  }
  return step;
}

Scale linear(const std::vector<double>& values, bool is_percentage) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  double low = is_percentage ? std::min(*least, 0.9) : *least, high = is_percentage ? 1 : *most;
  if (high <= low) high = low + 1;
  const double step = step_over(high - low);
  low = step * std::floor(low / step + 1e-9);
  if (!is_percentage) high = step * std::ceil(high / step - 1e-9);
  Scale scale{[low, high](double value) { return (value - low) / (high - low); }, {}};
  for (int i = 0; low + i * step <= high + 1e-9 * step; ++i)
    scale.ticks.push_back({scale.at(low + i * step), label_of(low + i * step, is_percentage)});
  return scale;
}

Scale logarithmic(std::vector<double> values, bool is_percentage) {
  const std::size_t all = values.size();
  std::erase_if(values, [](double value) { return value <= 0; });
  if (values.empty()) values = {1};
  const html::LogAxis axis(values);
  const double from = values.size() < all ? 0.08 : 0;  // room for zero
  Scale scale{
      [axis, from](double value) { return value > 0 ? from + (1 - from) * axis.at(value) : 0; },
      {}};
  if (from > 0) scale.ticks.push_back({0, label_of(0, is_percentage)});
  for (const double tick : axis.ticks(9))
    scale.ticks.push_back({scale.at(tick), label_of(tick, is_percentage)});
  return scale;
}

Scale scale_of(const CurveAxis& axis, const std::vector<DrawnCurve>& lines,
               double CurvePoint::*value) {
  std::vector<double> values;
  for (const DrawnCurve& line : lines)
    for (const CurvePoint& point : line.points) values.push_back(point.*value);
  return axis.is_logarithmic ? logarithmic(values, axis.is_percentage)
                             : linear(values, axis.is_percentage);
}

std::string svg_of(const DrawnCurve& line, const Scale& x, const Scale& y) {
  const auto across = [&](const CurvePoint& point) { return html::percent(x.at(point.x)); };
  const auto down = [&](const CurvePoint& point) { return chart_height * (1 - y.at(point.y)); };
  std::string svg = fmt::format("<g class=\"series {}\">", line.look.classes());
  for (std::size_t i = 1; i < line.points.size(); ++i) {
    const CurvePoint &a = line.points[i - 1], &b = line.points[i];
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" />", across(a),
                       down(a), across(b), down(b));
  }
  for (const CurvePoint& point : line.points) {
    const std::string title = fmt::format("<title>{}</title>", html::escaped(point.title));
    svg += line.has_markers
               ? fmt::format("<g class=\"point\">{}<use href=\"#m{}\" x=\"{}\" y=\"{:.1f}\" /></g>",
                             title, line.look.marker, across(point), down(point))
               : fmt::format("<g class=\"spot\">{}<circle cx=\"{}\" cy=\"{:.1f}\" r=\"5\" /></g>",
                             title, across(point), down(point));
  }
  return svg + "</g>\n";
}

}  // namespace

std::string curve_chart(const std::string& caption, const CurveAxis& x, const CurveAxis& y,
                        const std::vector<DrawnCurve>& lines) {
  if (std::none_of(lines.begin(), lines.end(),
                   [](const DrawnCurve& line) { return line.points.size() > 1; }))
    return "";
  const Scale across = scale_of(x, lines, &CurvePoint::x), up = scale_of(y, lines, &CurvePoint::y);
  std::string svg = "<g class=\"grid\">\n";
  for (const auto& [place, text] : up.ticks) svg += html::level(chart_height * (1 - place), text);
  for (const auto& [place, text] : across.ticks)
    svg += fmt::format("<line x1=\"{0}\" x2=\"{0}\" y2=\"{1:.0f}\" />", html::percent(place),
                       chart_height) +
           html::below(place, chart_height, text);
  svg += fmt::format(
      "<text x=\"100%\" y=\"{:.0f}\" dy=\"36\" text-anchor=\"end\">{}</text>\n"
      "<text x=\"0\" y=\"-14\" dx=\"-3.2em\">{}</text></g>\n<g class=\"all\">\n",
      chart_height, html::escaped(x.title), html::escaped(y.title));
  for (const DrawnCurve& line : lines) svg += svg_of(line, across, up);
  return html::chart("curves", 0, caption, chart_height, x.title + ", " + y.title, svg + "</g>\n");
}

}  // namespace facesat::app
