#include "app/bench/filter_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "app/bench/filter_chart.hpp"
#include "app/bench/filter_comparison.hpp"
#include "app/bench/report/charts.hpp"
#include "app/bench/report/looks.hpp"
#include "app/bench/report/page.hpp"
#include "app/bench/report/rows.hpp"
#include "app/bench/report/tables.hpp"
#include "app/bench/report/text.hpp"

namespace facesat::app {
namespace {

using namespace report;

constexpr std::string_view filter_method = R"(
<p class="method">Times are measured between two events of a CUDA stream around one run; a kernel before them blocks the stream until the
launches of the run are enqueued. Warm-up runs are not counted; the tables have the median, the minimum and the 95th percentile of the others.
Buffers rotate over more memory than the L2 cache holds. Afterwards every element of the result is compared with that of the CPU, except
NPP’s, which rounds in its own way and replicates borders whatever the others do. The floor is a kernel that only reads every pixel and
writes every element of the result, timed in the same run; GB/s counts the picture once and the result once, whatever else an algorithm
moves.</p>
)";

constexpr std::string_view filter_method_on_cpu = R"(
<p class="method">CPU rows use all threads of the machine. They are timed with the host’s clock, repeatedly on the same picture, so that data
that fit into the caches stay there.</p>
)";

// The rows with what charts and tables need: the filter as the type, the radius as the value.
nlohmann::ordered_json with_radii(nlohmann::ordered_json rows) {
  for (auto& row : rows) {
    row["type"] = row.value("filter", "");
    row["value"] = row.value("radius", 0);
    row["settings"] = fmt::format("radius {}", row.value("radius", 0));
  }
  return rows;
}

// The reads per pixel of the rows; report::Row does not have them.
class ReadsPerPixel {
 public:
  ReadsPerPixel(const Rows& rows, const nlohmann::ordered_json& json) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      reads_[key_of(rows[i])] = json[i].value("reads", 0.0);
  }
  double operator()(const Row& row) const { return reads_.at(key_of(row)); }

 private:
  using Key = std::tuple<std::string, std::string, int, int, double>;
  static Key key_of(const Row& row) {
    return {row.id, row.type, row.width, row.height, row.value.value_or(0)};
  }
  std::map<Key, double> reads_;
};

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
  if (body.empty()) return "";
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table class=\"radii\">\n<thead><tr>{}</tr></thead>\n"
      "<tbody>\n{}</tbody>\n</table></div>\n",
      head, body);
}

// The fastest row of each radius. Wrong rows and the floor do not count.
std::map<double, const Row*> fastest_of_radii(const Rows& rows) {
  std::map<double, const Row*> fastest;
  for (const Row& row : rows) {
    if (row.median_us == 0 || row.checked == false || row.is_reference()) continue;
    const Row*& best = fastest[row.value.value_or(0)];
    if (!best || row.median_us < best->median_us) best = &row;
  }
  return fastest;
}

// `comparable`: the rows of which one can be the fastest.
std::string medians_over_radii(const Rows& rows, const Rows& comparable) {
  const std::map<double, const Row*> fastest = fastest_of_radii(comparable);
  const std::string table = table_over_radii(rows, [&](const Row& row) -> std::string {
    if (row.median_us == 0) return "";
    const std::string text = figure(row.median_us, row.median_us < 1000 ? 2 : 0);
    if (row.checked == false) return fmt::format("<td class=\"bad\">{} WRONG</td>", text);
    const auto best = fastest.find(row.value.value_or(0));
    return best != fastest.end() && best->second->id == row.id
               ? fmt::format("<td class=\"good\"><b>{}</b></td>", text)
               : fmt::format("<td>{}</td>", text);
  });
  if (table.empty()) return "";
  return "<h3>Microseconds</h3>\n<p>Medians; the fastest of each radius is in bold type.</p>\n" +
         table;
}

std::string reads_over_radii(const Rows& rows, const ReadsPerPixel& reads) {
  const std::string table = table_over_radii(rows, [&](const Row& row) {
    const double count = reads(row);
    return count > 0 ? fmt::format("<td>{}</td>", figure(count, 2)) : "";
  });
  if (table.empty()) return "";
  return "<h3>Reads per pixel of the result</h3>\n<p>Of pixels, and of elements of integral "
         "images, from global memory and the caches in front of it.</p>\n" +
         table;
}

using FilterAlgorithms = std::span<const gpu::FilterAlgorithm* const>;

// Null if the registry does not have it.
const gpu::FilterAlgorithm* find_filter_in(FilterAlgorithms algorithms, const std::string& id) {
  const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                  [&](const gpu::FilterAlgorithm* one) { return one->id == id; });
  return found == algorithms.end() ? nullptr : *found;
}

std::string_view title_of_filter_peer(const std::string& id) {
  static const std::map<std::string, std::string_view> titles{
      {"floor", "A kernel that only reads every pixel and writes every element of the result"},
      {"integral_statistics", "Sums of windows from integral images (summed area tables)"},
      {"direct_statistics", "Sums over every pixel of the window"},
      {"three_boxes", "An approximation of the Gaussian: three boxes one after the other"},
      {"peer_npp", "NPP, NVIDIA’s library of image processing"},
      {"cpu_integral",
       "All threads of the CPU: sums of windows from an integral image (summed area table)"},
      {"cpu_separable", "All threads of the CPU: along rows, then along columns"},
      {"cpu_direct", "All threads of the CPU: every pixel of the window"}};
  const auto found = titles.find(id);
  return found == titles.end() ? "" : found->second;
}

// Explains the ids of the rows.
std::string filters_table(const Rows& rows, FilterAlgorithms algorithms, const Looks& looks) {
  std::string body;
  for (const Rows& line : by_algorithm(rows)) {
    const std::string id = line.front().algorithm();
    const gpu::FilterAlgorithm* const found = find_filter_in(algorithms, id);
    body += fmt::format(
        "<tr id=\"id-{0}\"><th scope=\"row\">{1}{0}</th><td class=\"words\">{2}</td>"
        "<td class=\"words\">{3}</td></tr>\n",
        escaped(id), swatch(looks.at(line.front().id)),
        escaped(found ? found->title : title_of_filter_peer(id)),
        escaped(found ? found->source : ""));
  }
  return "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">id</th>"
         "<th class=\"words\" scope=\"col\">idea</th><th class=\"words\" scope=\"col\">source</th>"
         "</tr></thead>\n<tbody>\n" +
         body + "</tbody>\n</table></div>\n";
}

// One filter at one size.
std::string filter_section(const Rows& rows, const std::string& border, const Looks& looks,
                           const ReadsPerPixel& reads, FilterAlgorithms algorithms) {
  // Algorithms that compute a part of the result have less to do.
  const Rows comparable = filtered(rows, [&](const Row& row) {
    const gpu::FilterAlgorithm* const found = find_filter_in(algorithms, row.id);
    return !found || !found->is_valid_part;
  });
  const std::string chart = radius_chart(rows, looks);
  return fmt::format("<section>\n<h2>{} <small>{}, border {}</small></h2>\n",
                     escaped(rows.front().type), size_text(rows.front()), escaped(border)) +
         comparisons(comparable) + (chart.empty() ? order_charts(rows) : chart) +
         medians_over_radii(rows, comparable) + reads_over_radii(rows, reads) +
         "<h3>All figures</h3>\n" + figures_table(rows) + "</section>\n";
}

}  // namespace

std::string to_html(const FilterReport& report) {
  const nlohmann::ordered_json json = with_radii(report.rows);
  const Rows rows = rows_of(json);
  const Looks looks = looks_of(rows);
  const ReadsPerPixel reads(rows, json);
  const auto is_of_cpu = [](const Row& row) { return row.id.starts_with("cpu_"); };
  std::string header = outcome(rows);
  if (!std::all_of(rows.begin(), rows.end(), is_of_cpu)) header += filter_method;
  if (std::any_of(rows.begin(), rows.end(), is_of_cpu)) header += filter_method_on_cpu;
  std::string sections;
  for (const Rows& group :
       grouped(rows, [](const Row& row) { return std::tuple(row.type, row.width, row.height); }))
    sections +=
        filter_section(group, json.front().value("border", ""), looks, reads, report.algorithms);
  if (!rows.empty())
    sections += "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n" +
                filters_table(rows, report.algorithms, looks) + "</section>\n";
  return page("Filters, measured", {report.rows, report.machine, report.command}, header, sections);
}

}  // namespace facesat::app
