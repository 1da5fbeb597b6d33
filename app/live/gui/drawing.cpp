#include "app/live/gui/drawing.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

#include "core/parse_number.hpp"

namespace facesat::app {
namespace {

// The value of an attribute of an element, which stands in a line of its own; empty: it has none.
std::string_view attribute(std::string_view element, std::string_view name) {
  const std::string begins = ' ' + std::string(name) + "=\"";
  std::size_t begin = element.find(begins);
  if (begin == element.npos) return {};
  begin += begins.size();
  return element.substr(begin, element.find('"', begin) - begin);
}

float number(std::string_view element, std::string_view name) {
  return parse_number<float>(attribute(element, name)).value_or(0);
}

// Of #rrggbb.
ImU32 colour(std::string_view element, std::string_view name) {
  const std::string_view text = attribute(element, name);
  unsigned rgb = 0;
  if (text.size() == 7) std::from_chars(text.data() + 1, text.data() + 7, rgb, 16);
  return IM_COL32(rgb >> 16, rgb >> 8 & 255, rgb & 255, 255);
}

}  // namespace

Drawing::Drawing(std::string_view svg) {
  while (!svg.empty()) {
    const std::size_t length = std::min(svg.find('\n'), svg.size() - 1) + 1;
    const std::string_view element = svg.substr(0, length);
    svg.remove_prefix(length);
    const auto point = [&](const char* x, const char* y) {
      return ImVec2{number(element, x), number(element, y)};
    };
    if (element.starts_with("<svg")) {
      size_ = point("width", "height");
    } else if (element.starts_with("<rect")) {
      const ImVec2 begin = point("x", "y"), extent = point("width", "height");
      shapes_.push_back({.kind = Kind::rectangle,
                         .begin = begin,
                         .end = {begin.x + extent.x, begin.y + extent.y},
                         .colour = colour(element, "fill")});
    } else if (element.starts_with("<line")) {
      shapes_.push_back({.kind = Kind::line,
                         .begin = point("x1", "y1"),
                         .end = point("x2", "y2"),
                         .colour = colour(element, "stroke")});
    } else if (element.starts_with("<text")) {
      const std::string_view anchor = attribute(element, "text-anchor");
      const std::size_t begin = element.find('>') + 1;
      shapes_.push_back({.kind = Kind::text,
                         .begin = point("x", "y"),
                         .end = {},
                         .colour = colour(element, "fill"),
                         .font_size = number(element, "font-size"),
                         .anchor = anchor == "middle" ? Anchor::middle
                                   : anchor == "end"  ? Anchor::end
                                                      : Anchor::start,
                         .text = element.substr(begin, element.rfind("</") - begin)});
    }
  }
}

void Drawing::draw(ImVec2 corner, float scale) const {
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const auto place = [&](ImVec2 at) {
    return ImVec2{corner.x + at.x * scale, corner.y + at.y * scale};
  };
  for (const Shape& shape : shapes_) {
    if (shape.kind == Kind::rectangle) {
      list->AddRectFilled(place(shape.begin), place(shape.end), shape.colour);
    } else if (shape.kind == Kind::line) {
      list->AddLine(place(shape.begin), place(shape.end), shape.colour);
    } else {
      const char *const begin = shape.text.data(), *const end = begin + shape.text.size();
      const float font_size = shape.font_size * scale;
      const float width = ImGui::GetFont()->CalcTextSizeA(font_size, 1e9f, 0, begin, end).x;
      ImVec2 at = place(shape.begin);
      at.x -= shape.anchor == Anchor::middle ? width / 2 : shape.anchor == Anchor::end ? width : 0;
      at.y -= 0.8f * font_size;  // above the baseline
      list->AddText(ImGui::GetFont(), font_size, at, shape.colour, begin, end);
    }
  }
}

const Drawing* drawing_of_sat(std::string_view id) {
  static const std::map<std::string_view, Drawing> drawings = [] {
    std::map<std::string_view, Drawing> all;
    for (const auto& [name, svg] : std::map<std::string_view, std::string_view>{
#include "sat_drawings.inc"
         })
      all.emplace(name, Drawing(svg));
    return all;
  }();
  const auto found = drawings.find(id);
  return found == drawings.end() ? nullptr : &found->second;
}

}  // namespace facesat::app
