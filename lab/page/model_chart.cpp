#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {

namespace {

// The factor between model and measurement, at least 1, whichever of them is greater.
double factor(const Row& row) {
  return std::exp(std::abs(std::log(row.median_us / row.model_us)));
}

// A chart with measured times on the vertical axis, and those that the models predict on the
// horizontal one.
std::string scatter(const Rows& rows, const Looks& looks) {
  std::vector<double> values;
  for (const Row& row : rows) values.insert(values.end(), {row.median_us, row.model_us});
  const LogAxis axis(values);
  constexpr double height = 440;
  const auto x = [&](double us) { return axis.at(us); };
  const auto y = [&](double us) { return height * (1 - axis.at(us)); };
  std::string svg = "<g class=\"grid\">";
  for (const double tick : axis.ticks(7))
    svg += level(y(tick), tick_text(tick)) + below(x(tick), height, tick_text(tick)) +
           fmt::format("<line x1=\"{0}\" x2=\"{0}\" y2=\"{1:.0f}\" />", percent(x(tick)), height);
  svg += fmt::format("</g><line class=\"floor\" x2=\"100%\" y1=\"{:.0f}\" />\n<g class=\"all\">\n",
                     height);
  for (const Rows& line : by_id(rows)) {
    const Look& look = looks.at(line.front().id);
    svg += fmt::format("<g class=\"series {}\">", look.classes());
    for (const Row& row : line) svg += point(row, look, x(row.model_us), y(row.median_us));
    svg += "</g>\n";
  }
  svg += fmt::format(
      "</g><text class=\"middle muted\" x=\"50%\" y=\"{:.0f}\" dy=\"38\">"
      "µs by the model</text>\n",
      height);
  return chart("scatter", 0, "<b>Measured</b> µs against those of the model, both logarithmic",
               height, "Measured microseconds against the model's", svg);
}

// The legend: the marker of each algorithm.
std::string key(const Rows& rows, const Looks& looks) {
  std::string items;
  for (const Rows& line : by_id(rows)) {
    const std::string& id = line.front().id;
    items += fmt::format("<li>{}{}</li>\n", swatch(looks.at(id)), escaped(id));
  }
  return fmt::format("<ul class=\"key\">\n{}</ul>", items);
}

}  // namespace

std::string model_chart(const Rows& all, const Looks& looks) {
  Rows rows = filtered(all, [](const Row& row) { return row.model_us > 0 && row.median_us > 0; });
  if (rows.empty()) return "";
  const std::string drawing = scatter(rows, looks) + key(rows, looks);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return factor(a) < factor(b); });
  const Row& farthest = rows.back();
  return fmt::format(
      "<h3>Model and measurement</h3>\n<p>On the diagonal both agree; above it, measured times are "
      "longer. The median factor between them is {}; the largest, {}, is that of {} at {}."
      "</p>\n<div class=\"model\">\n{}</div>\n",
      figure(factor(rows[rows.size() / 2]), 2), multiple(factor(farthest)), escaped(farthest.id),
      size_text(farthest), drawing);
}

}  // namespace facesat::lab
