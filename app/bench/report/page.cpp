#include "app/bench/report/page.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "app/bench/report/looks.hpp"
#include "app/bench/report/style.hpp"
#include "app/bench/report/text.hpp"

namespace facesat::app::report {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

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

std::string page(const std::string& title, const Run& run, const std::string& header,
                 const std::string& sections) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<title>" +
      escaped(title) + "</title>\n<style>";
  html += style;
  html += "</style>\n</head>\n<body>";
  html += marker_shapes;
  html += "<main>\n<header>\n<h1>" + escaped(title) + "</h1>\n" + machine_list(run) + header +
          "</header>\n" + sections;
  html += "</main>\n<script type=\"application/json\" id=\"data\">" + embedded(run) +
          "</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace facesat::app::report
