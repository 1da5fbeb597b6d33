#include "lab/page/text.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include <fmt/format.h>

namespace facesat::lab {

std::string microseconds(double us) {
  return figure(us, us < 10 ? 2 : us < 1000 ? 1 : 0) + " µs";
}

std::string multiple(double ratio) {
  return figure(ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0) + "×";
}

std::string size_text(const Row& row) {
  if (row.n == 0) return fmt::format("{}×{}", row.width, row.height);
  const auto n = static_cast<unsigned>(row.n);
  return n >= 1024 && std::has_single_bit(n) ? fmt::format("2^{}", std::countr_zero(n))
                                             : figure(row.n, 0);
}

std::string tooltip(const Row& row) {
  std::string text = fmt::format("{}, {}: ", row.id, size_text(row));
  if (!row.settings.empty()) text += row.settings + ": ";
  if (row.median_us == 0) return text + "not measured";
  text += microseconds(row.median_us);
  if (row.ratio > 0) text += fmt::format(", {} the floor", multiple(row.ratio));
  if (row.model_us > 0) text += fmt::format("; model {} {}", row.model, microseconds(row.model_us));
  if (row.all_right == false) text += "; WRONG";
  return fmt::format("<title>{}</title>", escaped(text));
}

namespace {

// The cell that says whether the result is right.
std::string verdict(const Row& row) {
  if (!row.all_right) return "<td class=\"words muted\">–</td>";
  return *row.all_right ? "<td class=\"words good\">checked</td>"
                        : "<td class=\"words bad\">WRONG</td>";
}

}  // namespace

std::string figure_cell(double value, int decimals) {
  return value > 0 ? fmt::format("<td>{}</td>", figure(value, decimals)) : "<td>–</td>";
}

std::string figures_table(const Rows& rows) {
  // If any row has a time that a cost model predicts, two columns (that time and the name of the
  // model) are added to the other 7; if any has settings, one for these.
  const bool has_model =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.model_us > 0; });
  const bool has_settings =
      std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.settings.empty(); });
  const int columns = 7 + (has_model ? 2 : 0) + (has_settings ? 1 : 0);
  std::string body;
  for (const Rows& of_size : by_size(rows)) {
    body += fmt::format(
        "<tbody><tr><th class=\"size\" colspan=\"{}\" scope=\"rowgroup\">{}</th>"
        "</tr>\n",
        columns, size_text(of_size.front()));
    for (const Row& row : of_size) {
      body += fmt::format("<tr><th scope=\"row\"><a href=\"#id-{}\">{}</a></th>",
                          escaped(row.algorithm()), escaped(row.id));
      if (has_settings) body += words_cell(row.settings);
      if (!row.failure.empty())
        body += fmt::format("<td class=\"words bad\" colspan=\"{}\">{}</td>",
                            columns - (has_settings ? 2 : 1), escaped(row.failure));
      else
        body +=
            figure_cell(row.median_us, 2) + figure_cell(row.min_us, 2) +
            figure_cell(row.p95_us, 2) + figure_cell(row.gb_per_s, 0) + figure_cell(row.ratio, 2) +
            (has_model ? figure_cell(row.model_us, 2) + words_cell(row.model) : "") + verdict(row);
      body += "</tr>\n";
    }
    body += "</tbody>\n";
  }
  return table(
      fmt::format(
          "<th scope=\"col\">algorithm</th>{}<th scope=\"col\">median µs</th>"
          "<th scope=\"col\">min µs</th><th scope=\"col\">p95 µs</th>"
          "<th scope=\"col\">GB/s</th><th scope=\"col\">time / floor</th>{}"
          "<th class=\"words\" scope=\"col\">result</th>",
          has_settings ? "<th class=\"words\" scope=\"col\">settings</th>" : "",
          has_model ? "<th scope=\"col\">model µs</th><th class=\"words\" scope=\"col\">model</th>"
                    : ""),
      body);
}

}  // namespace facesat::lab
