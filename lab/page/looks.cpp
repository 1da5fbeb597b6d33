#include "lab/page/looks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace facesat::lab {
namespace {

constexpr int colors = 8, markers = 7;  // as in style.hpp and marker_shapes

}  // namespace

std::string Look::classes() const {
  return (color < 0 ? "ref" : fmt::format("c{}", color)) + fmt::format(" d{}", dash);
}

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
    look = {index % colors, (index + member) % markers,
            index / colors % 2 + 2 * (member / markers % 2)};
  }
  return looks;
}

const std::string_view marker_shapes = R"(
<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>
<circle id="m0" r="4" /><path id="m1" d="M-3.6-3.6h7.2v7.2h-7.2z" /><path id="m2" d="M0-4.8L4.6 3.4H-4.6z" />
<path id="m3" d="M0-5.2L5.2 0L0 5.2L-5.2 0z" /><path id="m4" d="M0 4.8L4.6-3.4H-4.6z" />
<path id="m5" d="M-1.6-4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2z" />
<path id="m6" d="M0.0 -5.2L1.4 -1.9L4.9 -1.6L2.2 0.7L3.1 4.2L0.0 2.3L-3.1 4.2L-2.2 0.7L-4.9 -1.6L-1.4 -1.9z" />
</defs></svg>
)";

std::string swatch(const Look& look) {
  return fmt::format(
      "<svg class=\"swatch {}\" viewBox=\"-13 -7 26 14\" aria-hidden=\"true\">"
      "<line x1=\"-13\" x2=\"13\" /><use href=\"#m{}\" /></svg>",
      look.classes(), look.marker);
}

}  // namespace facesat::lab
