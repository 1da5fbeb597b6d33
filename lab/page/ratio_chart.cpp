#include <algorithm>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"

namespace facesat::lab {
namespace {

// Moves the wanted positions, which ascend, as little as needed for them to be at least `gap` apart
// and within the height; neighbours that would collide are centred on the mean of their wanted
// positions.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double height) {
  struct Cluster {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Cluster last{wanted[i] - gap * static_cast<double>(i), 1};
    for (; !clusters.empty() && clusters.back().mean() > last.mean(); clusters.pop_back())
      last = {last.sum + clusters.back().sum, last.count + clusters.back().count};
    clusters.push_back(last);
  }
  const double lowest = std::max(0.0, height - gap * static_cast<double>(wanted.size() - 1));
  std::vector<double> places;
  for (const Cluster& cluster : clusters)
    for (std::size_t i = 0; i < cluster.count; ++i)
      places.push_back(std::clamp(cluster.mean(), 0.0, lowest) +
                       gap * static_cast<double>(places.size()));
  return places;
}

// A member of Row: the ratio that a chart shows.
using Ratio = double Row::*;

// The name and last ratio of a line, on the right of the chart. `place`: the height at which there
// is room for them.
std::string end_label(const Row& last, Ratio ratio, const Look& look, double x, double y,
                      double place) {
  return fmt::format(
      "<line class=\"lead\" x1=\"{}\" x2=\"100%\" y1=\"{:.1f}\" y2=\"{:.1f}\" />"
      "<svg x=\"100%\"><path class=\"lead\" d=\"M0 {:.1f}L22 {:.1f}\" />"
      "<use href=\"#m{}\" x=\"30\" y=\"{:.1f}\" />"
      "<text class=\"left muted\" x=\"30\" dx=\"4em\" y=\"{:.1f}\" dy=\".35em\">{}</text>"
      "<text x=\"30\" dx=\"4.6em\" y=\"{:.1f}\" dy=\".35em\">{}</text></svg>",
      percent(x), y, y, y, place, look.marker, place, place, multiple(last.*ratio), place,
      escaped(last.id));
}

// One line per algorithm, sorted by the ratio at its largest size, the greatest first. Within a
// line, small sizes come first.
std::vector<Rows> lines_of(const Rows& rows, Ratio ratio) {
  std::vector<Rows> lines = by_id(rows);
  for (Rows& line : lines)
    std::stable_sort(line.begin(), line.end(),
                     [](const Row& a, const Row& b) { return a.pixels() < b.pixels(); });
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const Rows& a, const Rows& b) { return a.back().*ratio > b.back().*ratio; });
  return lines;
}

class RatioChart {
 public:
  RatioChart(const Rows& rows, Ratio ratio) : rows_(rows), ratio_(ratio) {}

  std::string svg(const Looks& looks) const {
    return fmt::format(
        "<g class=\"grid\">{0}{1}</g>\n<line class=\"floor\" x2=\"100%\" y1=\"{2:.1f}\" "
        "y2=\"{2:.1f}\" />\n<g class=\"all\">\n{3}</g><text class=\"middle muted\" x=\"50%\" "
        "y=\"{4:.0f}\" dy=\"38\">million elements</text>\n",
        ticks(), size_lines(), y_of(1), all_series(looks), height_);
  }
  double height() const { return height_; }

 private:
  double x(const Row& row) const { return sizes_.at(row.pixels()); }
  double y_of(double ratio) const { return height_ * (1 - ratios_.at(ratio)); }
  double y(const Row& row) const { return y_of(row.*ratio_); }

  std::string ticks() const {
    std::string svg;
    for (const double tick : ratios_.ticks(12)) svg += level(y_of(tick), tick_text(tick) + "×");
    for (const double tick : sizes_.ticks(5))
      svg += below(sizes_.at(tick), height_, fmt::format("{:g}", tick / 1e6));
    return svg;
  }

  // Labels the sizes from the largest down, as far as there is room.
  std::string size_lines() const {
    std::string svg;
    double free = 1;  // the part of the width that is free
    const std::vector<Rows> columns = by_size(rows_);
    for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
      const Row& row = column->front();
      svg += fmt::format("<line class=\"size\" x1=\"{0}\" x2=\"{0}\" y2=\"{1:.0f}\" />",
                         percent(x(row)), height_);
      if (x(row) > free) continue;
      svg += fmt::format("<text class=\"middle size\" x=\"{}\" dy=\"-10\">{}</text>\n",
                         percent(x(row)), size_text(row));
      free = x(row) - 0.13;  // about the width of a label
    }
    return svg;
  }

  std::string all_series(const Looks& looks) const {
    std::vector<double> ends;
    for (const Rows& line : lines_) ends.push_back(y(line.back()));
    const std::vector<double> places = spread(ends, gap, height_);
    std::string svg;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Rows& line = lines_[i];
      const Look& look = looks.at(line.front().id);
      svg += series(
          line, look, [&](const Row& row) { return x(row); },
          [&](const Row& row) { return y(row); },
          end_label(line.back(), ratio_, look, x(line.back()), ends[i], places[i]));
    }
    return svg;
  }

  static constexpr double gap = 16;  // between the names of lines, in pixels
  const Rows& rows_;
  const Ratio ratio_;
  const std::vector<Rows> lines_ = lines_of(rows_, ratio_);
  const double height_ = std::max(400.0, gap* static_cast<double>(lines_.size()));
  const LogAxis sizes_ = axis_of(rows_, [](const Row& row) { return row.pixels(); });
  // 1: the line of what the times are compared with is always shown.
  const LogAxis ratios_ = axis_of(rows_, [this](const Row& row) { return row.*ratio_; }, {1});
};

}  // namespace

std::string ratio_chart(const Rows& all, const Looks& looks) {
  const Rows rows = filtered(all, [](const Row& row) { return row.ratio > 0 && row.pixels() > 0; });
  if (rows.empty()) return "";
  const RatioChart ratios(rows, &Row::ratio);
  return chart("lines", longest_id(rows),
               "<b>Times the floor</b> against the size, both logarithmic; the names are in the "
               "order at the largest size",
               ratios.height(), "Ratio to the floor against size", ratios.svg(looks));
}

std::string speedup_chart(const Rows& all, const Looks& looks, const std::string& over,
                          const std::string& heading) {
  const Rows rows =
      filtered(all, [](const Row& row) { return row.speedup > 0 && row.pixels() > 0; });
  if (rows.empty()) return "";
  const RatioChart speedups(rows, &Row::speedup);
  return fmt::format("<h3>{}</h3>\n", heading) +
         chart("lines speedups", longest_id(rows),
               fmt::format("<b>The time of {} over an algorithm’s</b> against the size, both "
                           "logarithmic; above the broken line, algorithms are faster",
                           escaped(over)),
               speedups.height(), fmt::format("Speed-up over {} against size", over),
               speedups.svg(looks));
}

}  // namespace facesat::lab
