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

// The style sheet. Colours in order: paper, ink, muted ink, rules, bars, good, bad, and those of
// the families of algorithms (see Look). The second set is for dark displays.
constexpr std::string_view style = R"(
:root{color-scheme:light dark;--paper:#fcfcfa;--ink:#1c2126;--muted:#5a636b;--rule:#e2e3df;--bar:#6f8db3;--good:#1d6b3c;--bad:#b3261e;
--c0:#3963c8;--c1:#e05b3c;--c2:#037242;--c3:#b162ae;--c4:#5d4505;--c5:#065462;--c6:#73259c;--c7:#b14f67}
@media(prefers-color-scheme:dark){:root{--paper:#16181b;--ink:#e3e6e9;--muted:#9ba5ae;--rule:#2c3035;--bar:#55749f;--good:#7fc596;--bad:#ff8a80;
--c0:#557dce;--c1:#c97268;--c2:#8fbb7e;--c3:#a069a0;--c4:#e8ad26;--c5:#28aeae;--c6:#b0aaf8;--c7:#fdb6c3}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif;-webkit-text-size-adjust:100%}
main{max-width:84rem;margin:0 auto;padding:2.5rem clamp(1rem,4vw,3rem) 4rem}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 1.25rem}
h2{font-size:1.4rem;line-height:1.3;letter-spacing:-.01em;margin:0 0 .5rem;padding-top:1.25rem;border-top:1px solid var(--rule)}
h3{font-size:1.1rem;margin:2.5rem 0 .25rem}
h2 small{font-size:1rem;font-weight:400;letter-spacing:0;color:var(--muted)}
section{margin-top:3.5rem}
p{max-width:46rem;margin:.5rem 0}
code,th[scope=row]{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font-size:.875em;overflow-wrap:anywhere}
dl{display:grid;gap:.35rem;margin:0 0 1.5rem}
dl div{display:grid;grid-template-columns:6.5rem 1fr}
dt,.method,.muted,figcaption{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
.method{font-size:.9375rem}
.outcome{font-weight:600}
.good{color:var(--good)}
.bad{color:var(--bad);font-weight:600}
figure{margin:1.5rem 0 0}
figcaption{font-size:.875rem;margin-bottom:.5rem}
figcaption b{color:var(--ink)}
.plot{font-size:12px;line-height:1;font-variant-numeric:tabular-nums}
.plot svg{display:block;width:100%;overflow:visible}
.plot text{fill:currentColor}
.plot .muted{fill:var(--muted)}
.plot .bad{fill:var(--bad)}
.left{text-anchor:end}
.middle{text-anchor:middle}
.lines .plot{padding:28px calc(var(--letters)*.6em + 4.6em + 30px) 48px 4em}
.bars .plot{padding:0 10.5em 0 calc(var(--letters)*.6em + 8px)}
.scatter .plot{padding:8px 12px 48px 4em}
.grid text{fill:var(--muted)}
.grid line{stroke:var(--rule)}
.grid line.size{stroke-dasharray:1 4;stroke:var(--muted);opacity:.6}
line.floor{stroke:var(--ink);stroke-dasharray:4 3;opacity:.65}
.series line,.series path.lead{stroke:currentColor;stroke-width:1.75;fill:none}
.series .lead,.swatch .lead{stroke-width:1;opacity:.45}
.series use{stroke:var(--paper);stroke-width:1.25;paint-order:stroke}
.series use,.swatch use{fill:currentColor}
.series .wrong use{stroke:var(--bad);stroke-width:5}
.series text{fill:var(--ink)}
.all:hover .series:not(:hover){opacity:.18}
.all .series:hover line{stroke-width:2.75}
.d1 line{stroke-dasharray:6 4}.d2 line{stroke-dasharray:2 3}.d3 line{stroke-dasharray:9 3 2 3}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}.c6{color:var(--c6)}.c7{color:var(--c7)}
.ref{color:var(--muted)}
.bar text{fill:var(--ink)}
.bar rect{fill:var(--bar)}
.bar.ref rect{fill:var(--muted)}
.bar:hover rect{opacity:.75}
.tear{stroke:var(--paper);stroke-width:2.5;fill:none}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,31rem),1fr));gap:1rem 3rem}
.model{display:flex;flex-wrap:wrap;gap:0 3rem;align-items:center}
.scatter{flex:1 1 20rem;max-width:40rem}
.key{flex:1 1 14rem;columns:14rem;list-style:none;margin:1.5rem 0 0;padding:0;font-size:12px;line-height:1.8}
.shapes{position:absolute}
.swatch{width:26px;height:14px;margin-right:.6em;vertical-align:-.15em}
.swatch line{stroke:currentColor;stroke-width:1.75}
.scroll{overflow-x:auto;margin-top:1.25rem}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;min-width:min(100%,62rem)}
th,td{padding:.3rem .75rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap;vertical-align:baseline}
th:first-child,td:first-child{padding-left:0}
th[scope=row],th.size,th:first-child,.words{text-align:left}
th[scope=row]{font-weight:400;font-size:.8125rem;position:sticky;left:0;background:var(--paper)}
thead th{color:var(--muted);font-weight:500;border-bottom-color:var(--muted)}
th.size{padding-top:1.4rem;font-size:1rem}
td.words{white-space:normal;min-width:8rem}
#algorithms td.words{min-width:15rem}
tbody tr:hover>:not(.size){background:color-mix(in srgb,var(--bar) 14%,var(--paper))}
a{color:inherit;text-decoration-color:var(--rule);text-underline-offset:.2em}
a:hover{text-decoration-color:currentColor}
tr:target th{color:var(--c0);font-weight:600}
:focus-visible{outline:2px solid var(--c0);outline-offset:2px}
@media(max-width:44rem){.plot{font-size:10px}.grid text.size,.bars tspan.muted{display:none}.bars .plot{padding-right:6em}th,td{padding:.3rem .5rem}th[scope=row]{font-size:.75rem}h1{font-size:1.6rem}}
@media print{.panels{display:block}figure,tr{break-inside:avoid}}
)";

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

// The data as JSON for a <script> element, with the characters escaped that could end the element
// or that XML would interpret.
std::string embedded(const Run& run) {
  const std::string json =
      Json{{"machine", run.machine}, {"command", run.command}, {"rows", run.rows}}.dump(
          -1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (const char c : json)
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  return out;
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
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>" +
      escaped(text.title) + "</title>\n<style>";
  html += style;
  html += "</style>\n</head>\n<body>";
  html += marker_shapes;
  html += "<main>\n<header>\n<h1>" + escaped(text.title) + "</h1>\n" + machine_list(run) +
          outcome(rows) + method(rows, text) + "</header>\n";
  for (const Rows& group : grouped(rows, [](const Row& row) { return row.section; })) {
    const std::string beside = report.heading(group.front(), json);
    html += fmt::format("<section>\n<h2>{}{}</h2>\n", escaped(group.front().type),
                        beside.empty() ? "" : fmt::format(" <small>{}</small>", escaped(beside))) +
            report.section(group, looks) + "</section>\n";
  }
  if (!rows.empty())
    html += "<section id=\"algorithms\">\n<h2>The algorithms</h2>\n" +
            algorithms_table(rows, looks, report) + "</section>\n";
  return html + "</main>\n<script type=\"application/json\" id=\"data\">" + embedded(run) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace facesat::lab
