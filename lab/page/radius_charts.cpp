// What the page of filters shows over their radii: times in a chart and in tables, and from which
// radius on a method is faster than another.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
    for (const Rows& line : lines_)
      svg += series(
          line, looks_.at(line.front().id), [&](const Row& row) { return x(*row.value); },
          [&](const Row& row) { return y(row.median_us); });
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

namespace {

// Algorithms that compute a filter in the same way.
struct FilterMethod {
  std::string_view name;
  std::array<std::string_view, 2> prefixes;  // of their ids; "": none

  bool has(const std::string& id) const {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
      return !prefix.empty() && id.starts_with(prefix);
    });
  }
};

namespace methods {

constexpr FilterMethod integral_box{"the box from an integral image",
                                    {"integral_box", "facesat_box"}};
constexpr FilterMethod direct{"the fastest direct convolution", {"lecture_2d_", "lecture_1d_"}};
constexpr FilterMethod separable{"the fastest separable convolution",
                                 {"lecture_separable", "facesat_separable"}};
constexpr FilterMethod three_boxes{"the approximation by three boxes", {"three_boxes"}};
constexpr FilterMethod npp{"NPP", {"peer_npp"}};
constexpr FilterMethod integral_sums{"the computation from integral images",
                                     {"integral_statistics"}};
constexpr FilterMethod direct_sums{"the computation from every pixel of the window",
                                   {"direct_statistics"}};
constexpr FilterMethod cpu_integral{"on the CPU, the integral image", {"cpu_integral"}};
constexpr FilterMethod cpu_separable{"the separable convolution", {"cpu_separable"}};
constexpr FilterMethod cpu_direct{"the direct computation", {"cpu_direct"}};

}  // namespace methods

constexpr std::pair<const FilterMethod&, const FilterMethod&> compared_methods[]{
    {methods::integral_box, methods::direct},    {methods::integral_box, methods::separable},
    {methods::integral_box, methods::npp},       {methods::separable, methods::direct},
    {methods::three_boxes, methods::separable},  {methods::integral_sums, methods::direct_sums},
    {methods::integral_sums, methods::npp},      {methods::cpu_integral, methods::cpu_separable},
    {methods::cpu_integral, methods::cpu_direct}};

// The fastest of the chosen rows at each radius. Wrong rows do not count.
using FastestRows = std::map<double, const Row*>;
template <class IsChosen>
FastestRows fastest_rows(const Rows& rows, IsChosen is_chosen) {
  FastestRows fastest;
  for (const Row& row : rows) {
    if (row.median_us == 0 || row.all_right == false || !is_chosen(row)) continue;
    const Row*& best = fastest[row.value.value_or(0)];
    if (!best || row.median_us < best->median_us) best = &row;
  }
  return fastest;
}
FastestRows fastest_rows(const Rows& rows, const FilterMethod& method) {
  return fastest_rows(rows, [&](const Row& row) { return row.value && method.has(row.id); });
}

// A radius at which both methods were measured.
struct RadiusPair {
  double radius;
  const Row *own, *other;
  bool is_faster() const { return own->median_us < other->median_us; }
};

// "is faster than ... from radius 3 on", without the beginning.
std::string verdict_on(const std::vector<RadiusPair>& pairs, std::string_view other) {
  std::vector<double> faster;
  for (const RadiusPair& pair : pairs)
    if (pair.is_faster()) faster.push_back(pair.radius);
  if (pairs.size() == 1)
    return fmt::format("{} faster than {} at radius {}", faster.empty() ? "is not" : "is", other,
                       pairs.front().radius);
  if (faster.empty())
    return fmt::format("is not faster than {} at any radius from {} to {}", other,
                       pairs.front().radius, pairs.back().radius);
  if (faster.size() == pairs.size())
    return fmt::format("is faster than {} at every radius from {} to {}", other,
                       pairs.front().radius, pairs.back().radius);
  if (!pairs.back().is_faster())
    return fmt::format("is faster than {} only at radi{} {}", other,
                       faster.size() == 1 ? "us" : "i", fmt::join(faster, ", "));
  std::size_t first = pairs.size() - 1;
  while (pairs[first - 1].is_faster()) --first;
  return fmt::format("is faster than {} from radius {} on", other, pairs[first].radius);
}

}  // namespace

std::string radius_comparisons(const Rows& rows) {
  std::string sentences;
  for (const auto& [method, other] : compared_methods) {
    const FastestRows own = fastest_rows(rows, method), others = fastest_rows(rows, other);
    std::vector<RadiusPair> pairs;
    for (const auto& [radius, row] : own)
      if (const auto found = others.find(radius); found != others.end())
        pairs.push_back({radius, row, found->second});
    if (pairs.empty()) continue;
    const RadiusPair& last = pairs.back();
    std::string sentence = fmt::format("{} {}", method.name, verdict_on(pairs, other.name));
    sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
    sentences += fmt::format("<li>{}. At radius {}, {} takes {}, and {} {}.</li>\n", sentence,
                             last.radius, escaped(last.own->id), microseconds(last.own->median_us),
                             escaped(last.other->id), microseconds(last.other->median_us));
  }
  return sentences.empty() ? "" : "<ul class=\"comparisons\">\n" + sentences + "</ul>\n";
}

namespace {

// A table with a line for each algorithm and a column for each radius. The cells are those of
// cell_of(row); lines without any are left out.
template <class CellOf>
std::string table_over_radii(const Rows& rows, CellOf cell_of) {
  std::set<double> radii;
  for (const Row& row : rows) radii.insert(row.value.value_or(0));
  std::string head = "<th scope=\"col\">radius</th>", body;
  for (const double radius : radii) head += fmt::format("<th scope=\"col\">{}</th>", radius);
  for (const Rows& line : by_id(rows)) {
    std::string cells;
    bool is_empty = true;
    for (const double radius : radii) {
      const auto row =
          std::find_if(line.begin(), line.end(), [&](const Row& r) { return r.value == radius; });
      const std::string text = row == line.end() ? "" : cell_of(*row);
      cells += text.empty() ? "<td>–</td>" : text;
      is_empty &= text.empty();
    }
    if (!is_empty)
      body += fmt::format("<tr><th scope=\"row\"><a href=\"#id-{}\">{}</a></th>{}</tr>\n",
                          escaped(line.front().algorithm()), escaped(line.front().id), cells);
  }
  return body.empty() ? "" : table(head, "<tbody>\n" + body + "</tbody>\n", "radii");
}

}  // namespace

std::string medians_over_radii(const Rows& rows, const Rows& comparable) {
  const FastestRows fastest =
      fastest_rows(comparable, [](const Row& row) { return !row.is_reference(); });
  const std::string table = table_over_radii(rows, [&](const Row& row) -> std::string {
    if (row.median_us == 0) return "";
    const std::string text = figure(row.median_us, row.median_us < 1000 ? 2 : 0);
    if (row.all_right == false) return fmt::format("<td class=\"bad\">{} WRONG</td>", text);
    const auto best = fastest.find(row.value.value_or(0));
    return best != fastest.end() && best->second->id == row.id
               ? fmt::format("<td class=\"good\"><b>{}</b></td>", text)
               : fmt::format("<td>{}</td>", text);
  });
  if (table.empty()) return "";
  return "<h3>Microseconds</h3>\n<p>Medians; the fastest of each radius is in bold type.</p>\n" +
         table;
}

std::string reads_over_radii(const Rows& rows) {
  const std::string table = table_over_radii(rows, [&](const Row& row) {
    return row.reads > 0 ? fmt::format("<td>{}</td>", figure(row.reads, 2)) : "";
  });
  if (table.empty()) return "";
  return "<h3>Reads per pixel of the result</h3>\n<p>Of pixels, and of elements of integral "
         "images, from global memory and the caches in front of it.</p>\n" +
         table;
}

}  // namespace facesat::lab
