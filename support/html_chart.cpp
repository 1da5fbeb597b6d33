#include "support/html_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/html.hpp"

namespace facesat::html {

std::string Look::classes() const {
  return (color < 0 ? "ref" : fmt::format("c{}", color)) + fmt::format(" d{}", dash);
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

LogAxis::LogAxis(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  // Octaves that the values lack of a factor of two. The margin is half of them, 4% of the values'
  // range, and a bit more, so that no marker touches an end of the axis.
  const double missing = std::max(0.0, 1 - std::log2(*most / *least));
  const double margin = 0.04 * std::log2(*most / *least) + 0.06 + missing / 2;
  low_ = std::log2(*least) - margin;
  high_ = std::log2(*most) + margin;
}

double LogAxis::at(double value) const {
  return (std::log2(value) - low_) / (high_ - low_);
}

std::vector<double> LogAxis::ticks(std::size_t most) const {
  // The digits of the ticks in each decade, from few to many.
  static const std::vector<std::vector<double>> steps{
      {1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 6, 8}};
  std::vector<double> best;
  for (const auto& step : steps) {
    std::vector<double> ticks;
    for (int decade = -12; decade < 15; ++decade)  // more than times and ratios can span
      for (const double digit : step) {
        const double tick = digit * std::pow(10, decade), place = at(tick);
        if (place >= 0 && place <= 1) ticks.push_back(tick);
      }
    if (ticks.size() <= most) best = ticks;
  }
  return best;
}

std::string percent(double part) {
  return fmt::format("{:.2f}%", 100 * part);
}

std::string level(double y, const std::string& text) {
  return fmt::format(
      "<line x2=\"100%\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" />"
      "<text class=\"left\" dx=\"-8\" y=\"{0:.1f}\" dy=\".35em\">{1}</text>\n",
      y, text);
}

std::string below(double x, double height, const std::string& text) {
  return fmt::format("<text class=\"middle\" x=\"{}\" y=\"{:.0f}\" dy=\"18\">{}</text>\n",
                     percent(x), height, text);
}

std::string tick_text(double tick) {
  return tick < 1000 ? fmt::format("{:g}", tick) : figure(tick, 0);
}

std::string chart(const char* kind, std::size_t letters, const std::string& caption, double height,
                  const std::string& name, const std::string& content) {
  return fmt::format(
      "<figure class=\"{}\" style=\"--letters:{}\"><figcaption>{}</figcaption>\n"
      "<div class=\"plot\"><svg height=\"{:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg></div>"
      "</figure>\n",
      kind, letters, caption, height, escaped(name), content);
}

}  // namespace facesat::html
