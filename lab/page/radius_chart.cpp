#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {
namespace {

constexpr double radius_chart_height = 480;

bool has_smaller_value(const Row& a, const Row& b) {
  return a.value < b.value;
}

// One line for each algorithm, radii in order; the slowest at its greatest radius first, as the
// lines end on the right of the chart.
std::vector<Rows> lines_over_radii(const Rows& rows) {
  std::vector<Rows> lines = by_id(rows);
  for (Rows& line : lines) std::stable_sort(line.begin(), line.end(), has_smaller_value);
  std::stable_sort(lines.begin(), lines.end(), [](const Rows& a, const Rows& b) {
    return a.back().median_us > b.back().median_us;
  });
  return lines;
}

class RadiusChart {
 public:
  // `rows` have a time and a value.
  RadiusChart(const Rows& rows, const Looks& looks) : rows_(rows), looks_(looks) {
    for (const Row& row : rows) values_.insert(*row.value);
  }

  bool has_several_radii() const { return values_.size() > 1; }

  std::string svg() const {
    std::string svg = "<g class=\"grid\">";
    for (const double tick : times_.ticks(12)) svg += level(y(tick), tick_text(tick));
    svg += radius_labels() + "</g>\n<g class=\"all\">\n";
    for (const Rows& line : lines_) svg += series(line);
    return svg + fmt::format(
                     "</g><text class=\"middle muted\" x=\"50%\" y=\"{:.0f}\" dy=\"38\">radius, in "
                     "pixels</text>\n",
                     radius_chart_height);
  }

  // The legend: the marker of each line, and its last time.
  std::string key() const {
    std::string items;
    for (const Rows& line : lines_) {
      const Row& last = line.back();
      items += fmt::format(
          "<li>{}{}: {}{}</li>\n", swatch(looks_.at(last.id)), escaped(last.id),
          microseconds(last.median_us),
          last.value < *values_.rbegin() ? fmt::format(" at radius {}", *last.value) : "");
    }
    return fmt::format("<ul class=\"key\">\n{}</ul>", items);
  }

 private:
  double x(double radius) const { return radii_.at(radius); }
  double y(double us) const { return radius_chart_height * (1 - times_.at(us)); }

  // Labels the radii from the greatest down, as far as there is room.
  std::string radius_labels() const {
    std::string svg;
    double free = 1;  // the part of the width that is free
    for (auto radius = values_.rbegin(); radius != values_.rend(); ++radius) {
      if (x(*radius) > free) continue;
      svg += below(x(*radius), radius_chart_height, fmt::format("{}", *radius));
      free = x(*radius) - 0.05;  // about the width of a label
    }
    return svg;
  }

  std::string series(const Rows& line) const {
    const Look& look = looks_.at(line.front().id);
    std::string svg = fmt::format("<g class=\"series {}\">", look.classes());
    for (std::size_t k = 1; k < line.size(); ++k)
      svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" />",
                         percent(x(*line[k - 1].value)), y(line[k - 1].median_us),
                         percent(x(*line[k].value)), y(line[k].median_us));
    for (const Row& row : line) svg += point(row, look, x(*row.value), y(row.median_us));
    return svg + "</g>\n";
  }

  const Rows& rows_;
  const Looks& looks_;
  std::set<double> values_;
  const std::vector<Rows> lines_ = lines_over_radii(rows_);
  const LogAxis radii_ = axis_of(rows_, [](const Row& row) { return *row.value; });
  const LogAxis times_ = axis_of(rows_, [](const Row& row) { return row.median_us; });
};

}  // namespace

std::string radius_chart(const Rows& all, const Looks& looks) {
  const Rows rows = filtered(all, [](const Row& row) { return row.value && row.median_us > 0; });
  if (rows.empty()) return "";
  const RadiusChart drawn(rows, looks);
  if (!drawn.has_several_radii()) return "";
  return fmt::format(
      "<div class=\"model\">\n{}{}</div>\n",
      chart("scatter radii", 0,
            "<b>Microseconds</b> against the radius, both logarithmic; the legend has the times at "
            "the greatest radius",
            radius_chart_height, "Time against radius", drawn.svg()),
      drawn.key());
}

}  // namespace facesat::lab
