#include "lab/page/text.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace facesat::lab {

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

std::string tick_text(double tick) {
  return tick < 1000 ? fmt::format("{:g}", tick) : figure(tick, 0);
}

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
  if (row.checked == false) text += "; WRONG";
  return fmt::format("<title>{}</title>", escaped(text));
}

}  // namespace facesat::lab
