#include "app/bench/scan_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "app/bench/report/charts.hpp"
#include "app/bench/report/looks.hpp"
#include "app/bench/report/page.hpp"
#include "app/bench/report/rows.hpp"
#include "app/bench/report/tables.hpp"
#include "app/bench/report/text.hpp"

namespace facesat::app {
namespace {

using namespace report;

constexpr std::string_view scan_method = R"(
<p class="method">Algorithms take turns: one run of each, then the next of each. Times are measured between two events of a CUDA stream around
one run; a kernel before them blocks the stream until all launches of the run are enqueued, unless there are very many. Warm-up runs are not
counted; the table has the median, the minimum and the 95th percentile of the others. Buffers rotate over more memory than the L2 cache holds.
After each run every element of the result is compared. The floor is a kernel that reads every element once and writes it once, timed in the
same run; GB/s counts the array read once and written once, whatever else an algorithm moves.</p>
)";

constexpr std::string_view scan_method_on_cpu = R"(
<p class="method">CPU rows are timed with the host’s clock, repeatedly on the same array, so that data that fit into the caches stay there.</p>
)";

// Gives an algorithm that has several rows at one size different ids, so that each becomes a line
// of its own in the charts.
Rows with_distinct_ids(Rows rows) {
  std::map<std::tuple<std::string, std::string, int>, std::set<std::string>> settings;
  for (const Row& row : rows) settings[{row.id, row.type, row.n}].insert(row.settings);
  std::set<std::string> ambiguous;
  for (const auto& [key, different] : settings)
    if (different.size() > 1) ambiguous.insert(std::get<0>(key));
  for (Row& row : rows)
    if (ambiguous.contains(row.id)) row.id += ":" + row.settings;
  return rows;
}

// What all rows have in common: "exclusive sum, in place".
std::string kind_of(const nlohmann::ordered_json& rows) {
  const auto& first = rows.front();
  return fmt::format("{} {}{}", first.value("inclusive", true) ? "inclusive" : "exclusive",
                     first.value("operator", "sum"),
                     first.value("in_place", false) ? ", in place" : "");
}

// The titles of rows that are not in the registry of scans.
std::string_view title_of_scan_peer(const std::string& id) {
  static const std::map<std::string, std::string_view> titles{
      {"floor", "A kernel that reads every element once and writes it once"},
      {"memcpy", "cudaMemcpy of the array"},
      {"peer_cub", "CUB: DeviceScan"},
      {"cpu_serial", "One thread of the CPU"},
      {"cpu_threads", "All threads of the CPU: reduces contiguous parts, then scans them"}};
  const auto found = titles.find(id);
  return found == titles.end() ? "" : found->second;
}

std::string parameters_of(const gpu::ScanAlgorithm& scan) {
  std::string list;
  for (const gpu::ScanParameter& parameter : scan.parameters)
    list += fmt::format("{}{}: {}", list.empty() ? "" : "; ", parameter.name, parameter.meaning);
  return list;
}

// Explains the ids of the rows.
std::string scan_table(const Rows& rows, std::span<const gpu::ScanAlgorithm* const> algorithms,
                       const Looks& looks) {
  std::string body;
  for (const Rows& line : grouped(rows, [](const Row& row) { return row.algorithm(); })) {
    const std::string id = line.front().algorithm();
    const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                    [&](const gpu::ScanAlgorithm* scan) { return scan->id == id; });
    const gpu::ScanAlgorithm* const scan = found == algorithms.end() ? nullptr : *found;
    body += fmt::format("<tr id=\"id-{0}\"><th scope=\"row\">{1}{0}</th>", escaped(id),
                        swatch(looks.at(line.front().id)));
    for (const std::string& text :
         {std::string(scan ? scan->title : title_of_scan_peer(id)),
          std::string(scan ? scan->paper : ""), scan ? parameters_of(*scan) : std::string()})
      body += fmt::format("<td class=\"words\">{}</td>", escaped(text));
    body += "</tr>\n";
  }
  return "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">id</th>"
         "<th class=\"words\" scope=\"col\">idea</th><th class=\"words\" scope=\"col\">source</th>"
         "<th class=\"words\" scope=\"col\">parameters</th></tr></thead>\n<tbody>\n" +
         body + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string to_html(const ScanReport& report) {
  const Rows rows = with_distinct_ids(rows_of(report.rows));
  const Looks looks = looks_of(rows);
  const auto is_of_cpu = [](const Row& row) { return row.id.starts_with("cpu_"); };
  std::string header = outcome(rows);
  if (!std::all_of(rows.begin(), rows.end(), is_of_cpu)) header += scan_method;
  if (std::any_of(rows.begin(), rows.end(), is_of_cpu)) header += scan_method_on_cpu;
  std::string sections;
  for (const Rows& group : grouped(rows, [](const Row& row) { return row.type; }))
    sections += fmt::format("<section>\n<h2>{} <small>{}</small></h2>\n",
                            escaped(group.front().type), escaped(kind_of(report.rows))) +
                winner(group) + ratio_chart(group, looks) + order_charts(group) +
                model_chart(group, looks) + "<h3>All figures</h3>\n" + figures_table(group) +
                "</section>\n";
  if (!rows.empty())
    sections += "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n" +
                scan_table(rows, report.algorithms, looks) + "</section>\n";
  return page("Prefix scans, measured", {report.rows, report.machine, report.command}, header,
              sections);
}

}  // namespace facesat::app
