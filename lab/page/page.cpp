#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "lab/page/chart.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"
#include "lab/problem.hpp"

namespace facesat::lab {
namespace {

// What a page is about.
struct Run {
  const Json& rows;            // as --json writes them
  const Json& machine;         // machine_json()
  const std::string& command;  // the command line; empty: unknown
};

// The properties of the machine, and the command, as an HTML list.
std::string machine_list(const Run& run) {
  std::string list;
  const auto add = [&](std::string_view name, const std::string& text) {
    list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), text);
  };
  for (const auto& [key, value] : run.machine.items()) {
    std::string text;
    if (value.is_array())
      for (const Json& part : value)
        text +=
            (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
    else
      text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) add(key, escaped(text));
  }
  if (!run.command.empty()) add("command", "<code>" + escaped(run.command) + "</code>");
  return list.empty() ? "" : "<dl>\n" + list + "</dl>\n";
}

// How many rows were correct, wrong, or could not be measured, as an HTML paragraph.
std::string outcome(const Rows& rows) {
  const auto count = [&](auto predicate) {
    return std::count_if(rows.begin(), rows.end(), predicate);
  };
  const auto right = count([](const Row& row) { return row.all_right == true; });
  const auto wrong = count([](const Row& row) { return row.all_right == false; });
  const auto failed = count([](const Row& row) { return !row.failure.empty(); });
  if (rows.empty()) return "<p>No rows were measured.</p>\n";
  std::string text = fmt::format("{} rows checked and correct", right);
  if (wrong > 0) text += fmt::format("; {} <strong class=\"bad\">WRONG</strong>", wrong);
  if (failed > 0) text += fmt::format("; {} could not be measured", failed);
  return fmt::format("<p class=\"outcome\">{}.</p>\n", text);
}

std::string method(const Rows& rows, const PageText& text) {
  if (!text.method.empty())
    return fmt::format("\n<p class=\"method\">{}</p>\n", escaped(text.method));
  const auto is_of_cpu = [](const Row& row) { return row.id.starts_with("cpu_"); };
  std::string html;
  if (!std::all_of(rows.begin(), rows.end(), is_of_cpu))
    html += fmt::format(
        "\n<p class=\"method\">Algorithms take turns: one timed run of each, then the next of "
        "each; "
        "an untimed one before it, on other data, brings the code into the caches. Times are "
        "measured between two events of a CUDA stream around one run; a kernel before them "
        "blocks the stream until all launches of the run are enqueued, unless there are very many. "
        "The table has the median, the minimum and the 95th percentile. Buffers rotate over more "
        "memory than the L2 cache holds. {} The "
        "floor is {}, timed in the same run; GB/s counts {}, whatever else an algorithm "
        "moves.</p>\n",
        text.check, text.floor, text.bytes);
  if (std::any_of(rows.begin(), rows.end(), is_of_cpu))
    html += fmt::format(
        "\n<p class=\"method\">CPU rows are timed with the host’s clock, repeatedly on the same "
        "{}, "
        "so that data that fit into the caches stay there.{}</p>\n",
        text.input, text.cpu.empty() ? "" : " " + text.cpu);
  return html;
}

// Explains the ids of the rows, with the markers that they have in the charts.
std::string algorithms_table(const Rows& rows, const Looks& looks, const Report& report) {
  std::string head =
      "<th scope=\"col\">id</th><th class=\"words\" scope=\"col\">idea</th>"
      "<th class=\"words\" scope=\"col\">source</th>";
  for (const std::string& title : report.explained_columns())
    head += fmt::format("<th class=\"words\" scope=\"col\">{}</th>", title);
  std::string body = "<tbody>\n";
  for (const Rows& line : by_algorithm(rows)) {
    const std::string id = line.front().algorithm();
    const auto reference = report.references.find(id);
    Explanation words =
        reference == report.references.end() ? report.explain(id) : reference->second;
    words.more.resize(report.explained_columns().size());
    body += fmt::format("<tr id=\"id-{0}\"><th scope=\"row\">{1}{0}</th>", escaped(id),
                        swatch(looks.at(line.front().id))) +
            words_cell(words.idea) + words_cell(words.source);
    for (const std::string& more : words.more) body += words_cell(more);
    body += "</tr>\n";
  }
  return table(head, body + "</tbody>\n");
}

}  // namespace

std::string winner(const Rows& rows) {
  Rows candidates = filtered(by_size(rows).back(), [](const Row& row) {
    return row.median_us > 0 && row.all_right == true && !row.is_reference();
  });
  if (candidates.size() < 2) return "";
  const Row& best =
      *std::min_element(candidates.begin(), candidates.end(),
                        [](const Row& a, const Row& b) { return a.median_us < b.median_us; });
  return fmt::format("<p>Of {} algorithms at {}, <b>{}</b> is the fastest: {}{}.</p>\n",
                     candidates.size(), size_text(best), escaped(best.id),
                     microseconds(best.median_us),
                     best.ratio > 0 ? fmt::format(", {} the floor", multiple(best.ratio)) : "");
}

namespace {

// Gives an algorithm that has several rows of one case different ids, so that each becomes a line
// of its own in the charts.
void make_ids_distinct(Rows& rows) {
  using Case = std::tuple<std::string, std::string, int, int, double>;
  std::map<Case, std::set<std::string>> settings;
  for (const Row& row : rows)
    settings[{row.id, row.section, row.width, row.height, row.value.value_or(0)}].insert(
        row.settings);
  std::set<std::string> ambiguous;
  for (const auto& [one, different] : settings)
    if (different.size() > 1) ambiguous.insert(std::get<0>(one));
  for (Row& row : rows)
    if (ambiguous.contains(row.id)) row.id += ":" + row.settings;
}

}  // namespace

std::string Report::section(const Rows& rows, const Looks& looks) const {
  return winner(rows) + ratio_chart(rows, looks) + order_charts(rows) + model_chart(rows, looks) +
         "<h3>All figures</h3>\n" + figures_table(rows);
}

std::string page_of(const Report& report, const Json& json, const Json& machine,
                    const std::string& line) {
  Rows rows = rows_of(json, [&](Row& row, const Json& one) { report.complete(row, one); });
  if (!report.speedup_over().empty()) set_speedups(rows, report.speedup_over());
  make_ids_distinct(rows);
  const PageText text = report.page_text();
  const Looks looks = looks_of(rows);
  const Run run{json, machine, line};
  std::string body = "<header>\n<h1>" + escaped(text.title) + "</h1>\n" + machine_list(run) +
                     outcome(rows) + method(rows, text) + "</header>\n";
  for (const Rows& group : grouped(rows, [](const Row& row) { return row.section; })) {
    const std::string beside = report.heading(group.front(), json);
    body += fmt::format("<section>\n<h2>{}{}</h2>\n", escaped(group.front().type),
                        beside.empty() ? "" : fmt::format(" <small>{}</small>", escaped(beside))) +
            report.section(group, looks) + "</section>\n";
  }
  if (!rows.empty())
    body += "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n" +
            algorithms_table(rows, looks, report) + "</section>\n";
  return html::document(text.title, body,
                        {{"machine", machine}, {"command", line}, {"rows", json}});
}

}  // namespace facesat::lab
