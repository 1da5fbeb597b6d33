#include "support/html.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/files.hpp"
#include "support/html_chart.hpp"

namespace facesat::html {
namespace {

// Colours in order: paper, ink, muted ink, rules, bars, good, bad, and those of lines (see Look).
// The second set is for dark displays.
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

// The data as JSON for a <script> element, with the characters escaped that could end the element
// or that XML would interpret.
std::string embedded(const nlohmann::ordered_json& data) {
  const std::string json =
      data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out;
  for (const char c : json)
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      out += c;
  return out;
}

// A page ends with a comment that identifies it, as long as nobody has edited the file.
constexpr std::string_view mark_begin = "<!-- facesat ";
std::string with_mark(const std::string& page) {
  return fmt::format("{}{}{:016x} -->\n", page, mark_begin, checksum(page));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) >= ' ' ? c : ' ';
    }
  return out;
}

std::string figure(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > 3; at -= 3)  // narrow no-break spaces between thousands
    text.insert(at - 3, "\u202f");
  return text;
}

std::string table(const std::string& head, const std::string& body, const std::string& kind) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table{}>\n<thead><tr>{}</tr></thead>\n{}</table>"
      "</div>\n",
      kind.empty() ? "" : fmt::format(" class=\"{}\"", kind), head, body);
}

std::string words_cell(std::string_view text) {
  return fmt::format("<td class=\"words\">{}</td>", escaped(text));
}

std::string document(const std::string& title, const std::string& body,
                     const nlohmann::ordered_json& data, std::string_view more_style) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>" +
      escaped(title) + "</title>\n<style>";
  html += style;
  html += more_style;
  html += "</style>\n</head>\n<body>";
  html += marker_shapes;
  return html + "<main>\n" + body + "</main>\n<script type=\"application/json\" id=\"data\">" +
         embedded(data) + "</script>\n</body>\n</html>\n";
}

void require_writable_page(const std::string& file) {
  if (file.empty()) return;
  require_writable(file);
  const std::vector<unsigned char> bytes = read_file(file);
  const std::string text(bytes.begin(), bytes.end());
  if (!text.empty() && with_mark(text.substr(0, text.rfind(mark_begin))) != text)
    refuse_foreign(file);
}

void write_page(const std::string& file, const std::string& page) {
  write_text(file, with_mark(page));
}

}  // namespace facesat::html
