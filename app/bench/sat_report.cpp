#include "app/bench/sat_report.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/bench/report/charts.hpp"
#include "app/bench/report/looks.hpp"
#include "app/bench/report/rows.hpp"
#include "app/bench/report/style.hpp"
#include "app/bench/report/tables.hpp"
#include "app/bench/report/text.hpp"

namespace facesat::app {
namespace {

using namespace report;

using Json = nlohmann::ordered_json;

// The properties of the machine, and the command, as an HTML list.
std::string machine_list(const SatReport& report) {
  std::string list;
  const auto add = [&](std::string_view name, const std::string& text) {
    list += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), text);
  };
  for (const auto& [key, value] : report.machine.items()) {
    std::string text;
    if (value.is_array())
      for (const Json& part : value)
        text +=
            (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
    else
      text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) add(key, escaped(text));
  }
  if (!report.command.empty()) add("command", "<code>" + escaped(report.command) + "</code>");
  return list.empty() ? "" : "<dl>\n" + list + "</dl>\n";
}

// How many rows were correct, wrong, or could not be measured, as an HTML paragraph.
std::string outcome(const Rows& rows) {
  const auto count = [&](auto predicate) {
    return std::count_if(rows.begin(), rows.end(), predicate);
  };
  const auto right = count([](const Row& row) { return row.checked == true; });
  const auto wrong = count([](const Row& row) { return row.checked == false; });
  const auto failed = count([](const Row& row) { return !row.failure.empty(); });
  if (rows.empty()) return "<p>No rows were measured.</p>\n";
  std::string text = fmt::format("{} rows checked and correct", right);
  if (wrong > 0) text += fmt::format("; {} <strong class=\"bad\">WRONG</strong>", wrong);
  if (failed > 0) text += fmt::format("; {} could not be measured", failed);
  return fmt::format("<p class=\"outcome\">{}.</p>\n", text);
}

// A sentence on the fastest algorithm with correct tables, at the largest size.
std::string winner(const Rows& rows) {
  Rows candidates = filtered(by_size(rows).back(), [](const Row& row) {
    return row.median_us > 0 && row.checked == true && !row.is_reference();
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

constexpr std::string_view method = R"(
<p class="method">Times are measured between two events of a CUDA stream around one run; a kernel before them blocks the stream until
all launches of the run are enqueued, unless there are very many. Warm-up runs are not counted; the table has the median, the minimum and the
95th percentile of the others. Buffers rotate over more memory than the L2 cache holds. Afterwards every element of every table is compared. The floor is a kernel that reads every pixel once and writes every element once, timed in the same run; GB/s counts the picture once
and each table once, whatever else an algorithm moves.</p>
)";

constexpr std::string_view method_on_cpu = R"(
<p class="method">CPU rows are timed with the host’s clock, repeatedly on the same picture, so that data that fit into the caches stay there.</p>
)";

// The data as JSON for a <script> element, with the characters escaped that could end the element
// or that XML would interpret.
std::string embedded(const SatReport& report) {
  const std::string json =
      Json{{"machine", report.machine}, {"command", report.command}, {"rows", report.rows}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (const char c : json)
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  return out;
}

// The charts and figures of one type.
std::string section(const Rows& rows, const Looks& looks) {
  const Row& first = rows.front();
  return fmt::format("<section>\n<h2>{} <small>{}</small></h2>\n", escaped(first.type),
                     type_text(first)) +
         winner(rows) + ratio_chart(rows, looks) + order_charts(rows) + model_chart(rows, looks) +
         "<h3>All figures</h3>\n" + figures_table(rows) + "</section>\n";
}

}  // namespace

std::string to_html(const SatReport& report) {
  const Rows rows = rows_of(report.rows);
  const Looks looks = looks_of(rows);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
      "<title>Summed area tables, measured</title>\n<style>";
  page += style;
  page += "</style>\n</head>\n<body>";
  page += marker_shapes;
  page += "<main>\n<header>\n<h1>Summed area tables, measured</h1>\n" + machine_list(report) +
          outcome(rows);
  const auto is_of_cpu = [](const Row& row) { return row.id.starts_with("cpu_"); };
  if (!std::all_of(rows.begin(), rows.end(), is_of_cpu)) page += method;
  if (std::any_of(rows.begin(), rows.end(), is_of_cpu)) page += method_on_cpu;
  page += "</header>\n";
  for (const Rows& group :
       grouped(rows, [](const Row& row) { return std::pair(row.type, row.squares); }))
    page += section(group, looks);
  if (!rows.empty())
    page +=
        "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n<p>Reads and writes are per element "
        "of the table, of picture and tables together.</p>\n" +
        algorithms_table(rows, report.algorithms, looks) + "</section>\n";
  page += "</main>\n<script type=\"application/json\" id=\"data\">" + embedded(report) +
          "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace facesat::app
