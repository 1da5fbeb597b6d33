#include "app/bench/report/tables.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/bench/report/text.hpp"

namespace facesat::app::report {
namespace {

std::string table(const std::string& head, const std::string& body) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>{}</tr></thead>\n{}</table>"
      "</div>\n",
      head, body);
}

// A cell with a number, or with a dash if there is none.
std::string cell(double value, int decimals) {
  return value > 0 ? fmt::format("<td>{}</td>", figure(value, decimals)) : "<td>–</td>";
}

// A cell with text.
std::string words(std::string_view text) {
  return fmt::format("<td class=\"words\">{}</td>", escaped(text));
}

// The cell that says whether the integral images are correct.
std::string verdict(const Row& row) {
  if (!row.checked) return "<td class=\"words muted\">–</td>";
  return *row.checked ? "<td class=\"words good\">checked</td>"
                      : "<td class=\"words bad\">WRONG</td>";
}

// Titles of the rows that are not in the registry of SAT algorithms.
std::string_view title_of_other(const std::string& id) {
  static const std::map<std::string, std::string_view> titles{
      {"floor", "A kernel that reads every pixel once and writes every element once"},
      {"memcpy", "cudaMemcpy that reads and writes as many bytes in all as the floor"},
      {"peer_cub", "CUB: block-wide scans of rows, then scans of columns (2R2W)"},
      {"peer_npp", "NPP: nppiIntegral, with the types and the layout that NPP has"},
      {"cpu_2r2w", "One thread of the CPU: running sums down the columns, then along the rows"},
      {"cpu_4r1w", "One thread of the CPU: each element from its three neighbours"},
      {"cpu_backend",
       "One thread of the CPU: the detector’s CPU backend, which computes the integral and the "
       "squared integral image together, with SIMD instructions"}};
  const auto found = titles.find(id);
  return found == titles.end() ? "" : found->second;
}

}  // namespace

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
      if (has_settings) body += words(row.settings);
      if (!row.failure.empty())
        body += fmt::format("<td class=\"words bad\" colspan=\"{}\">{}</td>",
                            columns - (has_settings ? 2 : 1), escaped(row.failure));
      else
        body += cell(row.median_us, 2) + cell(row.min_us, 2) + cell(row.p95_us, 2) +
                cell(row.gb_per_s, 0) + cell(row.ratio, 2) +
                (has_model ? cell(row.model_us, 2) + words(row.model) : "") + verdict(row);
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

std::string algorithms_table(const Rows& rows, std::span<const gpu::SatAlgorithm* const> algorithms,
                             const Looks& looks) {
  std::string body = "<tbody>\n";
  for (const Rows& line : by_algorithm(rows)) {
    const std::string id = line.front().algorithm();
    body += fmt::format("<tr id=\"id-{0}\"><th scope=\"row\">{1}{0}</th>", escaped(id),
                        swatch(looks.at(line.front().id)));
    const auto found = std::find_if(algorithms.begin(), algorithms.end(),
                                    [&](const gpu::SatAlgorithm* sat) { return sat->id == id; });
    if (found == algorithms.end())
      body += words(title_of_other(id)) + words("") + "<td></td><td></td>";
    else
      body += words((*found)->title) + words((*found)->paper) +
              fmt::format("<td>{}</td><td>{:.3g} / {:.3g}</td>",
                          (*found)->launches > 0 ? std::to_string((*found)->launches)
                                                 : "one per anti-diagonal",
                          (*found)->reads, (*found)->writes);
    body += "</tr>\n";
  }
  return table(
      "<th scope=\"col\">id</th><th class=\"words\" scope=\"col\">idea</th>"
      "<th class=\"words\" scope=\"col\">source</th><th scope=\"col\">launches</th>"
      "<th scope=\"col\">reads / writes</th>",
      body + "</tbody>\n");
}

}  // namespace facesat::app::report
