#include "app/bench/task_report.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/bench/report/charts.hpp"
#include "app/bench/report/looks.hpp"
#include "app/bench/report/page.hpp"
#include "app/bench/report/rows.hpp"
#include "app/bench/report/tables.hpp"
#include "app/bench/report/text.hpp"
#include "kernels/tasks/error_diffusion.hpp"
#include "kernels/tasks/knapsack.hpp"
#include "kernels/tasks/sat.hpp"

namespace facesat::app {
namespace {

using namespace report;

constexpr std::string_view task_method = R"(
<p class="method">Schedules are measured one after the other. Times are measured between two events of a CUDA stream around one run; a kernel
before them blocks the stream until all launches of the run are enqueued, unless there are very many. Warm-up runs are not counted; the table
has the median, the minimum and the 95th percentile of the others. After each run the whole result is compared with the CPU’s. The floor is
the time to write the bits of the choices (knapsack), to copy the picture (error diffusion), or to read every pixel and write every element of the
table (sat); GB/s counts those bytes, whatever else a schedule moves.</p>
)";

// The rows with what the charts need: a type, which is the problem, and a size.
nlohmann::ordered_json with_sizes(nlohmann::ordered_json rows) {
  for (auto& row : rows) {
    row["type"] =
        row.value("problem", "") + (row.value("rule", "") == "integer" ? ", whole numbers" : "");
    if (!row.contains("items")) continue;
    row["width"] = row["items"];
    row["height"] = row["capacity"];
  }
  return rows;
}

// By id: what the schedule is, and its source. Solvers whose ids differ only in a number share an
// entry.
struct Explained {
  std::string title, paper;
};
using Explanations = std::map<std::string, Explained>;

template <class Solver>
void explain(std::span<const Solver> solvers, Explanations& all) {
  const auto add = [](std::string& text, std::string_view more) {
    if (text.find(more) == std::string::npos)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", more);
  };
  for (const Solver& solver : solvers) {
    Explained& entry = all[std::string(solver.id.substr(0, solver.id.find(':')))];
    add(entry.title, solver.title);
    add(entry.paper, solver.paper);
  }
}

Explanations explanations() {
  Explanations all{
      {"floor", {"The bytes of the problem, written or copied", ""}},
      {"cpu_serial", {"One thread of the CPU: the table, item by item", ""}},
      {"cpu_threads", {"All threads of the CPU: the capacities of each item divided", ""}},
      {"cpu_collection", {"One thread of the CPU: each pixel collects its neighbours’ errors", ""}},
      {"cpu_diffusion", {"One thread of the CPU: each pixel adds its error to its neighbours", ""}},
      {"cpu_4r1w", {"One thread of the CPU: each element from its three neighbours", ""}}};
  explain(gpu::knapsack_solvers(), all);
  explain(gpu::halftone_solvers(), all);
  explain(gpu::sat_solvers(), all);
  return all;
}

std::string schedules_table(const Rows& rows, const Looks& looks) {
  const Explanations all = explanations();
  std::string body;
  for (const Rows& line : grouped(rows, [](const Row& row) { return row.algorithm(); })) {
    const std::string id = line.front().algorithm();
    const auto found = all.find(id);
    const Explained entry = found == all.end() ? Explained{} : found->second;
    body += fmt::format(
        "<tr id=\"id-{0}\"><th scope=\"row\">{1}{0}</th><td class=\"words\">{2}</td>"
        "<td class=\"words\">{3}</td></tr>\n",
        escaped(id), swatch(looks.at(line.front().id)), escaped(entry.title), escaped(entry.paper));
  }
  return "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">id</th>"
         "<th class=\"words\" scope=\"col\">idea</th><th class=\"words\" scope=\"col\">source</th>"
         "</tr></thead>\n<tbody>\n" +
         body + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string to_html(const TaskReport& report) {
  const Rows rows = rows_of(with_sizes(report.rows));
  const Looks looks = looks_of(rows);
  std::string sections;
  for (const Rows& group : grouped(rows, [](const Row& row) { return row.type; }))
    sections += fmt::format("<section>\n<h2>{}</h2>\n", escaped(group.front().type)) +
                winner(group) + ratio_chart(group, looks) + order_charts(group) +
                "<h3>All figures</h3>\n" + figures_table(group) + "</section>\n";
  if (!rows.empty())
    sections += "<section id=\"algorithms\">\n<h2>The schedules</h2>\n" +
                schedules_table(rows, looks) + "</section>\n";
  return page("Task arrays, measured", {report.rows, report.machine, report.command},
              outcome(rows) + std::string(task_method), sections);
}

}  // namespace facesat::app
