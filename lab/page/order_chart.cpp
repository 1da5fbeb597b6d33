#include <algorithm>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {
namespace {

constexpr double pitch = 19, thickness = 11;  // of bars, in pixels

// The label to the left of a bar.
std::string name(const Row& row, double middle) {
  return fmt::format("<text class=\"left\" dx=\"-8\" y=\"{:.1f}\" dy=\".35em\">{}</text>", middle,
                     escaped(row.id));
}

// `end` is the time at the end of the axis; longer bars are cut off there, with a tear mark.
std::string bar(const Row& row, double top, double end) {
  const double middle = top + pitch / 2;
  const std::string width = percent(std::min(row.median_us / end, 1.0));
  std::string svg = fmt::format(
      "<g class=\"bar{}\">{}{}<rect width=\"{}\" y=\"{:.1f}\" height=\"{:.0f}\" rx=\"2\" />",
      row.is_reference() ? " ref" : "", tooltip(row), name(row, middle), width,
      middle - thickness / 2, thickness);
  if (row.median_us > end)
    svg += fmt::format(
        "<svg x=\"100%\"><path class=\"tear\" d=\"M-18 {0:.1f}l6-{1:.0f}m1 {1:.0f}l6-{1:.0f}\" />"
        "</svg>",
        top + pitch - 2, pitch - 4);
  return svg + fmt::format("<text x=\"{}\" dx=\"6\" y=\"{:.1f}\" dy=\".35em\">{}{}{}</text></g>\n",
                           width, middle, microseconds(row.median_us),
                           row.ratio > 0 ? fmt::format(" <tspan class=\"muted\">{}</tspan>",
                                                       multiple(row.ratio))
                                         : "",
                           row.all_right == false ? " <tspan class=\"bad\">WRONG</tspan>" : "");
}

std::string no_bar(const Row& row, double top) {
  const double middle = top + pitch / 2;
  return fmt::format(
      "<g class=\"bar\">{}{}<text class=\"muted\" dx=\"6\" y=\"{:.1f}\" dy=\".35em\">not measured"
      "</text></g>\n",
      tooltip(row), name(row, middle), middle);
}

// One bar for each row of a size, the fastest first. The axis begins at zero and ends at 2.5 times
// the median or earlier, so that slow algorithms do not squash the others.
std::string order_chart(const Rows& of_size) {
  Rows rows = filtered(of_size, [](const Row& row) { return row.median_us > 0; });
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.median_us < b.median_us; });
  const double end = std::min(rows.back().median_us, 2.5 * rows[rows.size() / 2].median_us);
  std::string svg;
  double height = 0;
  for (const Row& row : rows) {
    svg += bar(row, height, end);
    height += pitch;
  }
  for (const Row& row : filtered(of_size, [](const Row& r) { return r.median_us == 0; })) {
    svg += no_bar(row, height);
    height += pitch;
  }
  for (const Row& row : rows)
    if (row.id == "floor" && row.median_us <= end)
      svg += fmt::format("<line class=\"floor\" x1=\"{0}\" x2=\"{0}\" y2=\"{1:.0f}\" />\n",
                         percent(row.median_us / end), height);
  const std::string size = size_text(rows.front());
  return chart("bars", longest_id(of_size), fmt::format("<b>{}</b>", size), height,
               "Microseconds at " + size + ", the fastest first", svg);
}

}  // namespace

std::string order_charts(const Rows& rows) {
  std::string panels;
  for (const Rows& of_size : by_size(rows)) panels += order_chart(of_size);
  if (panels.empty()) return "";
  const auto where = [&](const char* mark, const char* sentence) {
    return panels.find(mark) == std::string::npos ? "" : sentence;
  };
  return fmt::format(
      "<h3>In order</h3>\n<p>Medians, the fastest first; bars begin at zero.{}{}</p>\n"
      "<div class=\"panels\">\n{}</div>\n",
      where("class=\"tear\"", " Bars with a tear are longer than the chart."),
      where("class=\"floor\"", " The broken line is the floor."), panels);
}

}  // namespace facesat::lab
