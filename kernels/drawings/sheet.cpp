#include "kernels/drawings/sheet.hpp"

#include <array>

#include <fmt/format.h>

namespace facesat::drawings {

void Sheet::rectangle(double x, double y, double width, double height, const char* colour) {
  body_ += fmt::format(
      "<rect x=\"{:.4g}\" y=\"{:.4g}\" width=\"{:.4g}\" height=\"{:.4g}\" fill=\"{}\"/>\n", x, y,
      width, height, colour);
}

void Sheet::line(double x1, double y1, double x2, double y2, const char* colour) {
  body_ +=
      fmt::format("<line x1=\"{:.4g}\" y1=\"{:.4g}\" x2=\"{:.4g}\" y2=\"{:.4g}\" stroke=\"{}\"/>\n",
                  x1, y1, x2, y2, colour);
}

void Sheet::text(double x, double y, int size, const std::string& text, Anchor anchor) {
  constexpr std::array<const char*, 3> names{"start", "middle", "end"};
  body_ += fmt::format(
      "<text x=\"{:.4g}\" y=\"{:.4g}\" font-size=\"{}\" text-anchor=\"{}\" "
      "fill=\"#222222\">{}</text>\n",
      x, y, size, names[static_cast<std::size_t>(anchor)], text);
}

std::string Sheet::finish(int height) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\">\n"
      "<rect x=\"0\" y=\"0\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{2}</svg>\n",
      width_, height, body_);
}

}  // namespace facesat::drawings
