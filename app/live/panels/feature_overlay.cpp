#include "app/live/panels/feature_overlay.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <imgui.h>

#include "app/live/panels/reading.hpp"

namespace facesat::app {
namespace {

constexpr ImU32 shade = IM_COL32(0, 0, 0, 170);

ImU32 translucent(ImU32 colour, ImU32 alpha) {
  return (colour & ~IM_COL32_A_MASK) | alpha << IM_COL32_A_SHIFT;
}

// The corners of a rectangle on the screen, in the order of RectangleSum.
using Quad = std::array<ImVec2, 4>;

// Clockwise, as Dear ImGui expects it.
Quad around(const Quad& quad) {
  const bool is_tilted = quad[1].x < quad[0].x;  // its second corner is the left one
  return {quad[0], quad[is_tilted ? 2 : 1], quad[3], quad[is_tilted ? 1 : 2]};
}

// Their lengths on the screen.
ImVec2 sides_of(const Quad& quad) {
  return {std::hypot(quad[1].x - quad[0].x, quad[1].y - quad[0].y),
          std::hypot(quad[2].x - quad[0].x, quad[2].y - quad[0].y)};
}

void draw_line(ImDrawList& list, const Quad& quad, ImU32 colour, float width) {
  const Quad p = around(quad);
  list.AddQuad(p[0], p[1], p[2], p[3], colour, width);
}

void draw_area(ImDrawList& list, const Quad& quad, ImU32 colour) {
  const Quad p = around(quad);
  list.AddQuadFilled(p[0], p[1], p[2], p[3], colour);
}

void draw_text(ImDrawList& list, ImVec2 corner, const std::string& text) {
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
  list.AddRectFilled({corner.x - 2, corner.y}, {corner.x + extent.x + 2, corner.y + extent.y},
                     shade, 3);
  list.AddText(corner, IM_COL32_WHITE, text.c_str());
}

// In the middle of a rectangle, if there is room.
void draw_inside(ImDrawList& list, const Quad& quad, const std::string& text) {
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str()), sides = sides_of(quad);
  if (sides.x < extent.x + 8 || sides.y < extent.y + 4) return;
  draw_text(list, {(quad[0].x + quad[3].x - extent.x) / 2, (quad[0].y + quad[3].y - extent.y) / 2},
            text);
}

// A dark line under a light one is seen on any picture.
void draw_outline(ImDrawList& list, const Quad& quad, float width) {
  draw_line(list, quad, shade, width + 2);
  draw_line(list, quad, IM_COL32_WHITE, width);
}

// The elements of the integral image, outside of the rectangle next to its corners.
void draw_corners(ImDrawList& list, const Quad& quad, const RectangleSum& rectangle) {
  const float size = ImGui::GetFontSize();
  const ImVec2 sides = sides_of(quad);
  const float radius = std::min({size / 4, sides.x / 6, sides.y / 6});
  const ImVec2 centre{(quad[0].x + quad[3].x) / 2, (quad[0].y + quad[3].y) / 2};
  for (std::size_t i = 0; i < quad.size(); ++i) {
    list.AddCircleFilled(quad[i], radius + 1, shade);
    list.AddCircleFilled(quad[i], radius, IM_COL32_WHITE);
    const std::string text =
        std::string(1, static_cast<char>('A' + i)) + " " + with_commas(rectangle.read[i]);
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    const float across = quad[i].x - centre.x, down = quad[i].y - centre.y;
    ImVec2 corner{quad[i].x - extent.x / 2, quad[i].y - extent.y / 2};
    if (std::abs(across) > 1) corner.x += std::copysign(extent.x / 2 + size / 2, across);
    if (std::abs(down) > 1) corner.y += std::copysign(0.8f * size, down);
    draw_text(list, corner, text);
  }
}

}  // namespace

ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind) {
  const bool is_added = kind == FeatureKind::haar ? rectangle.weight > 0 : rectangle.bit;
  return is_added ? added_colour : subtracted_colour;
}

void draw_feature(const PictureView& view, const LevelTables& tables,
                  const Explanation& explanation, int chosen_rectangle) {
  const auto on_screen = [&](const std::array<rules::Corner, 4>& corners) {
    Quad quad;
    for (std::size_t i = 0; i < quad.size(); ++i)
      quad[i] = view.at((explanation.window.x + corners[i].x) * tables.across(),
                        (explanation.window.y + corners[i].y) * tables.down());
    return quad;
  };
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Size window = tables.cascade().window;
  draw_outline(list, on_screen(rules::corners_of({0, 0, window.width, window.height}, false)), 2);
  const FeatureKind kind = tables.cascade().kind;
  for (std::size_t i = 0; i < explanation.rectangles.size(); ++i) {
    const RectangleSum& rectangle = explanation.rectangles[i];
    const Quad quad = on_screen(rectangle.corner);
    const ImU32 colour = colour_of(rectangle, kind);
    const bool is_centre = kind == FeatureKind::lbp && i == 4;  // it has no bit
    draw_area(list, quad, is_centre ? translucent(IM_COL32_WHITE, 60) : translucent(colour, 130));
    draw_line(list, quad, colour, 1);
    if (kind == FeatureKind::lbp && !is_centre) draw_inside(list, quad, rectangle.bit ? "1" : "0");
  }
  const RectangleSum& chosen = explanation.rectangles[chosen_rectangle];
  const Quad quad = on_screen(chosen.corner);
  draw_outline(list, quad, 1.5f);
  if (kind == FeatureKind::haar) draw_inside(list, quad, with_commas(chosen.sum));
  draw_corners(list, quad, chosen);
}

}  // namespace facesat::app
