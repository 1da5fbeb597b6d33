#include "app/bench/sat_report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

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

constexpr std::string_view method = R"(
<p class="method">Times are measured between two events of a CUDA stream around one run; a kernel before them blocks the stream until
all launches of the run are enqueued, unless there are very many. Warm-up runs are not counted; the table has the median, the minimum and the
95th percentile of the others. Buffers rotate over more memory than the L2 cache holds. Afterwards every element of every table is compared. The floor is a kernel that reads every pixel once and writes every element once, timed in the same run; GB/s counts the picture once
and each table once, whatever else an algorithm moves.</p>
)";

constexpr std::string_view method_on_cpu = R"(
<p class="method">CPU rows are timed with the host’s clock, repeatedly on the same picture, so that data that fit into the caches stay there.</p>
)";

// The charts and figures of one type.
std::string section(const Rows& all, const Looks& looks, const SatReport& report) {
  const Row& first = all.front();
  const Rows rows = filtered(all, [](const Row& row) { return !row.searched; });
  return fmt::format("<section>\n<h2>{} <small>{}</small></h2>\n", escaped(first.type),
                     type_text(first)) +
         winner(rows) + ratio_chart(rows, looks) + order_charts(rows) + speedup_chart(rows, looks) +
         parameter_charts(all, report.algorithms) + model_chart(rows, looks) +
         "<h3>All figures</h3>\n" + figures_table(all) + "</section>\n";
}

}  // namespace

std::string to_html(const SatReport& report) {
  const Rows rows = rows_of(report.rows);
  const Looks looks = looks_of(rows);
  const auto is_of_cpu = [](const Row& row) { return row.id.starts_with("cpu_"); };
  std::string header = outcome(rows);
  if (!std::all_of(rows.begin(), rows.end(), is_of_cpu)) header += method;
  if (std::any_of(rows.begin(), rows.end(), is_of_cpu)) header += method_on_cpu;
  std::string sections;
  for (const Rows& group :
       grouped(rows, [](const Row& row) { return std::pair(row.type, row.squares); }))
    sections += section(group, looks, report);
  if (!rows.empty())
    sections +=
        "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n<p>Reads and writes are per element "
        "of the table, of picture and tables together.</p>\n" +
        algorithms_table(rows, report.algorithms, looks) + "</section>\n";
  return page("Summed area tables, measured", {report.rows, report.machine, report.command}, header,
              sections);
}

}  // namespace facesat::app
