#include "lab/page/chart.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lab/page/text.hpp"

namespace facesat::lab {

Looks looks_of(const Rows& rows) {
  Looks looks;
  // A family are the ids with the same text before the first '_'; and the number of its ids so far.
  std::vector<std::pair<std::string, int>> families;
  for (const Row& row : rows) {
    if (looks.contains(row.id)) continue;
    Look& look = looks[row.id];
    if (row.is_reference()) {
      look = {-1, row.id == "floor" ? 0 : 1, row.id == "floor" ? 0 : 1};
      continue;
    }
    const std::string name = row.id.substr(0, row.id.find('_'));
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& known) { return known.first == name; });
    if (family == families.end()) family = families.insert(families.end(), {name, 0});
    const int index = static_cast<int>(family - families.begin()), member = family->second++;
    look = {index % Look::colors, (index + member) % Look::markers,
            index / Look::colors % 2 + 2 * (member / Look::markers % 2)};
  }
  return looks;
}

std::string point(const Row& row, const Look& look, double x, double y) {
  return fmt::format("<g class=\"point{}\">{}<use href=\"#m{}\" x=\"{}\" y=\"{:.1f}\" /></g>",
                     row.all_right == false ? " wrong" : "", tooltip(row), look.marker, percent(x),
                     y);
}

std::string series(const Rows& line, const Look& look, const std::function<double(const Row&)>& x,
                   const std::function<double(const Row&)>& y, const std::string& label) {
  std::string svg = fmt::format("<g class=\"series {}\">", look.classes());
  for (std::size_t k = 1; k < line.size(); ++k)
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" />",
                       percent(x(line[k - 1])), y(line[k - 1]), percent(x(line[k])), y(line[k]));
  svg += label;
  for (const Row& row : line) svg += point(row, look, x(row), y(row));
  return svg + "</g>\n";
}

std::size_t longest_id(const Rows& rows) {
  std::size_t longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.id.size());
  return longest;
}

}  // namespace facesat::lab
