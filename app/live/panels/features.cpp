#include "app/live/panels/features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/view_parts.hpp"

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

constexpr std::size_t lbp_centre =
    4;  // the block with which the others are compared; it has no bit

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
void draw_corners(ImDrawList& list, const PictureView& view, const Quad& quad,
                  const RectangleSum& rectangle) {
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
    // A number that is cut looks like another number.
    const float last = view.corner().x + view.space().x - extent.x - 2;
    corner.x = std::max(view.corner().x + 2, std::min(corner.x, last));
    draw_text(list, corner, text);
  }
}

}  // namespace

ImU32 colour_of(const RectangleSum& rectangle, FeatureKind kind) {
  switch (kind) {
    case FeatureKind::haar:
      return rectangle.weight > 0 ? added_colour : subtracted_colour;
    case FeatureKind::lbp:
      return rectangle.bit ? added_colour : subtracted_colour;
  }
  throw std::logic_error("unknown kind of feature");
}

// Points of the window, in pixels of the level, on the screen.
static Quad on_screen(const PictureView& view, const LevelTables& tables, rules::Corner window,
                      const std::array<rules::Corner, 4>& corners) {
  Quad quad;
  for (std::size_t i = 0; i < quad.size(); ++i)
    quad[i] = view.at((window.x + corners[i].x) * tables.across(),
                      (window.y + corners[i].y) * tables.down());
  return quad;
}

void draw_window_outline(const PictureView& view, const LevelTables& tables,
                         const Explanation& explanation) {
  const Size size = tables.cascade().window;
  const auto corners = rules::corners_of({0, 0, size.width, size.height}, false);
  draw_outline(*ImGui::GetWindowDrawList(), on_screen(view, tables, explanation.window, corners),
               2);
}

void draw_feature(const PictureView& view, const LevelTables& tables,
                  const Explanation& explanation, int chosen_rectangle) {
  const auto quad_of = [&](const RectangleSum& rectangle) {
    return on_screen(view, tables, explanation.window, rectangle.corner);
  };
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const FeatureKind kind = tables.cascade().kind;
  for (std::size_t i = 0; i < explanation.rectangles.size(); ++i) {
    const RectangleSum& rectangle = explanation.rectangles[i];
    const Quad quad = quad_of(rectangle);
    const ImU32 colour = colour_of(rectangle, kind);
    const bool is_centre = kind == FeatureKind::lbp && i == lbp_centre;
    draw_area(list, quad, is_centre ? translucent(IM_COL32_WHITE, 60) : translucent(colour, 130));
    draw_line(list, quad, colour, 1);
  }
  const RectangleSum& chosen = explanation.rectangles[chosen_rectangle];
  const Quad quad = quad_of(chosen);
  draw_outline(list, quad, 1.5f);
  switch (kind) {
    case FeatureKind::haar:
      draw_inside(list, quad, with_commas(chosen.sum));
      break;
    case FeatureKind::lbp:
      for (std::size_t i = 0; i < explanation.rectangles.size(); ++i) {
        const RectangleSum& block = explanation.rectangles[i];
        if (i != lbp_centre) draw_inside(list, quad_of(block), block.bit ? "1" : "0");
      }
      break;
  }
  draw_corners(list, view, quad, chosen);
}

void choose_feature(const Cascade& cascade, FeatureChoice& choice) {
  choice = choice.within(cascade);
  constexpr const char* longest = "weak classifier";
  ImGui::PushItemWidth(-ImGui::CalcTextSize(longest).x - ImGui::GetStyle().ItemInnerSpacing.x);
  draw_number("stage", choice.stage, static_cast<int>(cascade.stages.size()),
              "A cascade has stages, from quick and coarse to slow and strict. A window that fails "
              "one is rejected at once; one that passes all of them is found");
  choice = choice.within(cascade);
  draw_number(longest, choice.weak, cascade.stages[choice.stage].tree_count,
              "A stage adds the responses of its weak classifiers. Each tests one feature (or a "
              "small tree of them) and is right only a little more often than chance");
  choice = choice.within(cascade);
  if (const int nodes = choice.tree(cascade).node_count; nodes > 1)
    draw_number(
        "node", choice.node, nodes,
        "This weak classifier is a tree. Each node tests a feature, and the walk goes on to "
        "the left or the right, until it ends in a leaf");
  choice = choice.within(cascade);
  ImGui::PopItemWidth();
}

namespace {

constexpr ImGuiTableFlags feature_table_flags =
    ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;

// The next cell of a table, with what its number means.
void draw_cell(const std::string& text, const std::string& meaning) {
  ImGui::TableNextColumn();
  ImGui::TextWrapped("%s", text.c_str());
  tooltip(meaning);
}

// With a sign, as a whole number.
std::string product_text(const RectangleSum& rectangle) {
  const float product = rectangle.weight * static_cast<float>(rectangle.sum);
  return fmt::format("{}{}", product < 0 ? "-" : "+",
                     with_commas(static_cast<std::uint64_t>(std::lround(std::abs(product)))));
}

std::string sum_of_products(const Explanation& explanation) {
  float sum = 0;
  for (const RectangleSum& rectangle : explanation.rectangles)
    sum += rectangle.weight * static_cast<float>(rectangle.sum);
  return fmt::format("{:+.6g}", sum);
}

constexpr std::array<Column, 4> haar_columns{
    {{"rectangle",
      "Orange ones are added, blue ones subtracted. A click chooses the rectangle "
      "whose corners are shown"},
     {"sum",
      "Of the rectangle's pixels, in grey values, as read from the integral image at its "
      "four corners"},
     {"weight",
      "By which the sum is multiplied. The weights balance the areas, so that an evenly "
      "grey window gives 0"},
     {"product", "Weight times sum. The feature is the sum of the products"}}};

void draw_haar(const Explanation& explanation, FeatureChoice& choice) {
  if (!begin_table("rectangles", haar_columns, feature_table_flags)) return;
  for (std::size_t i = 0; i < explanation.rectangles.size(); ++i) {
    const RectangleSum& rectangle = explanation.rectangles[i];
    const auto index = static_cast<int>(i);
    ImGui::TableNextColumn();
    draw_swatch(colour_of(rectangle, FeatureKind::haar));
    const std::string name =
        fmt::format("{}: {} x {}", i + 1, rectangle.rect.width, rectangle.rect.height);
    if (ImGui::Selectable(name.c_str(), index == choice.rectangle)) choice.rectangle = index;
    tooltip("Its width and height in pixels of the level. Click to see its corners");
    draw_cell(with_commas(rectangle.sum), haar_columns[1].meaning);
    draw_cell(fmt::format("{:g}", rectangle.weight), haar_columns[2].meaning);
    draw_cell(product_text(rectangle), haar_columns[3].meaning);
  }
  ImGui::EndTable();
}

void draw_lbp(const Explanation& explanation, FeatureChoice& choice) {
  if (!ImGui::BeginTable("blocks", 3, feature_table_flags | ImGuiTableFlags_Borders)) return;
  for (std::size_t i = 0; i < explanation.rectangles.size(); ++i) {
    const RectangleSum& block = explanation.rectangles[i];
    ImGui::TableNextColumn();
    const std::string bit = i == lbp_centre ? "" : block.bit ? ": 1" : ": 0";
    const std::string text = fmt::format("{}{}##{}", with_commas(block.sum), bit, i);
    draw_swatch(i == lbp_centre ? IM_COL32(128, 128, 128, 255)
                                : colour_of(block, FeatureKind::lbp));
    const auto index = static_cast<int>(i);
    if (ImGui::Selectable(text.c_str(), index == choice.rectangle)) choice.rectangle = index;
    tooltip(i == lbp_centre
                ? "The sum of the block in the middle, with which the others are compared. "
                  "Click to see its corners"
                : "The sum of this block's pixels, and its bit: 1 if the sum is not below "
                  "that of the block in the middle. Click to see its corners");
  }
  ImGui::EndTable();
}

struct NamedValue {
  const char* name;
  std::string value;
  const char* meaning;
};

void draw_rows(const char* id, std::initializer_list<NamedValue> rows) {
  if (!ImGui::BeginTable(id, 2, feature_table_flags)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 0.45f);
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 0.55f);
  for (const NamedValue& row : rows) {
    draw_cell(row.name, row.meaning);
    draw_cell(row.value, row.meaning);
  }
  ImGui::EndTable();
}

void draw_test(const LevelTables& tables, const Explanation& explanation, const Node& node) {
  switch (tables.cascade().kind) {
    case FeatureKind::haar:
      return draw_rows(
          "test",
          {{"products added", sum_of_products(explanation),
            "The first product plus the second one and, where there is a third, that"},
           {"pixels", std::to_string(explanation.area),
            "Of the window without its border. Divided by their number, the sum no longer depends "
            "on the size of the window"},
           {"standard deviation", fmt::format("{:.2f}", explanation.deviation),
            "Of these pixels, from the sums and the sums of squares: how much light and dark "
            "differ. Divided by it, pale and strong light count the same (variance normalisation)"},
           {"feature", fmt::format("{:.6g}", explanation.value),
            "The products added, divided by the number of pixels and by the standard deviation"},
           {"threshold", fmt::format("{:.6g}", node.threshold),
            "With which the feature is compared; training found it"},
           {"node test", explanation.left ? "below: to the left" : "not below: to the right",
            "Left if the feature is below the threshold, otherwise right. Each side has a "
            "response, or in a tree a further node"}});
    case FeatureKind::lbp:
      return draw_rows(
          "test", {{"code", fmt::format("{:08b} = {}", explanation.code, explanation.code),
                    "The bits of the eight outer blocks, clockwise from the upper left one"},
                   {"node test",
                    explanation.left ? "in the set: to the left" : "not in the set: to the right",
                    "Left if the code is in the set of codes that training found, otherwise right. "
                    "Each side has a response, or in a tree a further node"}});
  }
}

// Where a node leads to on one side.
std::string side_text(const Cascade& cascade, const Tree& tree, int child) {
  return child > 0 ? fmt::format("node {}", child + 1)
                   : fmt::format("{:+.4g}", cascade.leaves[tree.first_leaf - child]);
}

std::string walk_text(const Explanation& explanation) {
  std::string text;
  for (const Explanation::Step& step : explanation.walk)
    text += fmt::format("{} {}, ", step.node + 1, step.left ? "left" : "right");
  return text + "leaf";
}

}  // namespace

void draw_rectangles(const LevelTables& tables, const Explanation& explanation,
                     FeatureChoice& choice) {
  switch (tables.cascade().kind) {
    case FeatureKind::haar:
      return draw_haar(explanation, choice);
    case FeatureKind::lbp:
      return draw_lbp(explanation, choice);
  }
}

void draw_corner_table(const Explanation& explanation, const FeatureChoice& choice) {
  constexpr std::array<Column, 3> columns{
      {{"corner",
        "Of the chosen rectangle: A, B, C and D are its corners in the order top left, top "
        "right, bottom left, bottom right; of a tilted one top, left, right, bottom. D "
        "holds the whole area; B and C take away what is not in the rectangle; A was "
        "taken away twice and is added again"},
       {"pixel",
        "Whose element of the integral image is read: the last one above and to the left "
        "of the corner. -1: just outside of the picture"},
       {"integral image",
        "The sum of all pixels above and to the left. 'show: sums' shows it, and the value under "
        "the pointer. Tilted rectangles have an integral image of their own, with the sums of all "
        "pixels in a cone that widens upwards"}}};
  if (!begin_table("corners", columns, feature_table_flags)) return;
  const RectangleSum& rectangle = explanation.rectangles[choice.rectangle];
  for (std::size_t i = 0; i < rectangle.corner.size(); ++i) {
    draw_cell(
        fmt::format("{}{}", rules::corner_signs[i] > 0 ? "+" : "-", static_cast<char>('A' + i)),
        columns[0].meaning);
    draw_cell(fmt::format("({}, {})", explanation.window.x + rectangle.corner[i].x - 1,
                          explanation.window.y + rectangle.corner[i].y - 1),
              columns[1].meaning);
    draw_cell(with_commas(rectangle.read[i]), columns[2].meaning);
  }
  draw_cell("sum", columns[0].meaning);
  draw_cell("D - B - C + A", columns[0].meaning);
  draw_cell(with_commas(rectangle.sum), columns[0].meaning);
  ImGui::EndTable();
}

void draw_node_test(const LevelTables& tables, const Explanation& explanation,
                    const FeatureChoice& choice) {
  const Cascade& cascade = tables.cascade();
  if (explanation.inverse_deviation == 0) {
    ImGui::TextWrapped("Rejected before the first stage: the window is almost evenly grey.");
    tooltip("The standard deviation of its pixels is not above 10, so it cannot be a face");
    return;
  }
  draw_test(tables, explanation, choice.of(cascade));
  if (choice.tree(cascade).node_count > 1)
    draw_rows("walk", {{"walk", walk_text(explanation),
                        "Through the tree of this weak classifier, node by node"},
                       {"the chosen node", explanation.is_on_walk ? "on the walk" : "not reached",
                        "Nodes beside the walk do not count for this window"}});
}

void draw_stage_test(const LevelTables& tables, const Explanation& explanation,
                     const FeatureChoice& choice) {
  if (explanation.inverse_deviation == 0) return;
  const Cascade& cascade = tables.cascade();
  const Node& node = choice.of(cascade);
  const Tree& tree = choice.tree(cascade);
  const Stage& stage = cascade.stages[choice.stage];
  draw_rows(
      "stage",
      {{"left, right",
        side_text(cascade, tree, node.left) + ", " + side_text(cascade, tree, node.right),
        "The responses of the two sides; in a tree possibly further nodes"},
       {"response", fmt::format("{:+.6g}", explanation.response),
        "Of this weak classifier: the value of the leaf that the window reaches. Large ones speak "
        "for a face"},
       {"sum so far", fmt::format("{:+.6g}", explanation.sum_so_far),
        "Of the stage's responses, up to that of this weak classifier"},
       {"sum of the stage", fmt::format("{:+.6g}", explanation.stage_sum),
        "Of the responses of all its weak classifiers"},
       {"stage threshold", fmt::format("{:+.6g}", stage.threshold),
        "The sum of the stage must not be below it"},
       {"the stage", explanation.passes_stage ? "passes" : "rejects",
        "What this stage alone says about the window, even if an earlier one has rejected it"},
       {"stages passed", fmt::format("{} of {}", explanation.stages_passed, cascade.stages.size()),
        "Until the first one that rejects the window. 'show: stages passed' shows this number for "
        "all windows of the level"}});
}

}  // namespace facesat::app
