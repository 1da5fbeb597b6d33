#include "app/live/panels/features.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/reading.hpp"

namespace facesat::app {
namespace {

// A number from 1 to `count`; `value` counts from 0.
void draw_number(const char* label, int& value, int count, const char* meaning) {
  int shown = value + 1;
  if (count > 1) {
    ImGui::SliderInt(label, &shown, 1, count, fmt::format("%d of {}", count).c_str());
    value = shown - 1;
  } else {
    ImGui::Text("%s: the only one", label);
  }
  tooltip(meaning);
}

// Which window the numbers are of.
void draw_window(const LevelTables& tables, const Explanation& explanation, bool is_held) {
  const Size window = tables.cascade().window;
  ImGui::TextWrapped("%d x %d pixels at (%d, %d) of level %d, %.0f x %.0f in the frame%s",
                     window.width, window.height, explanation.window.x, explanation.window.y,
                     tables.index(), window.width * tables.across(), window.height * tables.down(),
                     is_held ? "; held" : "");
  tooltip(
      "The window that is explained. It follows the pointer over the picture, from one position "
      "where the detector looks to the next. A click into the picture holds it there; another "
      "click lets it go");
}

constexpr ImU32 added_colour = IM_COL32(240, 160, 20, 255);
constexpr ImU32 subtracted_colour = IM_COL32(30, 120, 215, 255);
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

// Draws the window, the rectangles and, at the corners of the chosen one, the elements of the
// integral image. The picture must have been drawn last, with the proportions of the frame.
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

}  // namespace

ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind) {
  const bool is_added = kind == FeatureKind::haar ? rectangle.weight > 0 : rectangle.bit;
  return is_added ? added_colour : subtracted_colour;
}

bool FeatureExplorer::draw_panel(Inspection& inspection, const LiveResult& last) {
  ImGui::Separator();
  const bool changed = ImGui::Checkbox("explain a feature", &inspection.explains);
  tooltip(
      "How the first cascade judges the window under the pointer: the rectangles of one of its "
      "features, their sums as read from the integral image, and what follows from them");
  if (!inspection.explains) return changed;
  if (!last.tables) {
    ImGui::TextWrapped("%s", last.level_count == 0
                                 ? "The frame is smaller than the cascade's window."
                                 : "The next frame will be explained.");
    return changed;
  }
  choose(last.tables->cascade());
  if (!last.view_is_frame)
    ImGui::TextWrapped(
        "The window is drawn over the frame and over single levels, not over the atlas.");
  else if (!point_)
    ImGui::TextWrapped("Move the pointer over the picture.");
  if (!point_) return changed;
  const Explanation explanation = explain_pointed(*last.tables);
  draw_window(*last.tables, explanation, is_held_);
  draw_rectangles(*last.tables, explanation, choice_);
  draw_corner_table(explanation, choice_);
  draw_judgement(*last.tables, explanation, choice_);
  return changed;
}

Explanation FeatureExplorer::explain_pointed(const LevelTables& tables) const {
  return explain(tables, tables.window_around(point_->x, point_->y), choice_);
}

void FeatureExplorer::choose(const Cascade& cascade) {
  choice_ = choice_.within(cascade);
  constexpr const char* longest = "weak classifier";
  ImGui::PushItemWidth(-ImGui::CalcTextSize(longest).x - ImGui::GetStyle().ItemInnerSpacing.x);
  draw_number("stage", choice_.stage, static_cast<int>(cascade.stages.size()),
              "A cascade has stages, from quick and coarse to slow and strict. A window that fails "
              "one is rejected at once; one that passes all of them is found");
  choice_ = choice_.within(cascade);
  draw_number(longest, choice_.weak, cascade.stages[choice_.stage].tree_count,
              "A stage adds the responses of its weak classifiers. Each tests one feature (or a "
              "small tree of them) and is right only a little more often than chance");
  choice_ = choice_.within(cascade);
  if (const int nodes = choice_.tree(cascade).node_count; nodes > 1)
    draw_number(
        "node", choice_.node, nodes,
        "This weak classifier is a tree. Each node tests a feature, and the walk goes on to "
        "the left or the right, until it ends in a leaf");
  choice_ = choice_.within(cascade);
  ImGui::PopItemWidth();
}

void FeatureExplorer::follow(std::optional<ImVec2> pointed, bool is_clicked) {
  if (pointed && (!is_held_ || is_clicked)) point_ = pointed;
  if (is_clicked) is_held_ = !is_held_;
}

void FeatureExplorer::draw_over(const PictureView& view, const LiveResult& last) {
  if (!last.tables || !last.view_is_frame) return;
  follow(view.pointed(), view.is_clicked());
  if (!point_) return;
  choice_ = choice_.within(last.tables->cascade());
  draw_feature(view, *last.tables, explain_pointed(*last.tables), choice_.rectangle);
}

}  // namespace facesat::app
