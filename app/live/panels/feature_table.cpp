#include "app/live/panels/feature_table.hpp"

#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/feature_overlay.hpp"
#include "app/live/panels/reading.hpp"

namespace facesat::app {
namespace {

template <std::size_t count>
bool begin_table(const char* id, const std::array<Column, count>& titles) {
  if (!ImGui::BeginTable(id, count, feature_table_flags)) return false;
  for (const Column& column : titles) ImGui::TableSetupColumn(column.title);
  draw_column_titles(titles);
  return true;
}

// With a sign, as a whole number.
std::string product_text(const RectangleSum& rectangle) {
  const float product = rectangle.weight * static_cast<float>(rectangle.sum);
  return fmt::format("{}{}", product < 0 ? "-" : "+",
                     with_commas(static_cast<std::uint64_t>(std::lround(std::abs(product)))));
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
  if (!begin_table("rectangles", haar_columns)) return;
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
  constexpr int centre = 4;
  for (int i = 0; i < static_cast<int>(explanation.rectangles.size()); ++i) {
    const RectangleSum& block = explanation.rectangles[i];
    ImGui::TableNextColumn();
    const std::string bit = i == centre ? "" : block.bit ? ": 1" : ": 0";
    const std::string text = fmt::format("{}{}##{}", with_commas(block.sum), bit, i);
    draw_swatch(i == centre ? IM_COL32(128, 128, 128, 255) : colour_of(block, FeatureKind::lbp));
    if (ImGui::Selectable(text.c_str(), i == choice.rectangle)) choice.rectangle = i;
    tooltip(i == centre ? "The sum of the block in the middle, with which the others are compared. "
                          "Click to see its corners"
                        : "The sum of this block's pixels, and its bit: 1 if the sum is not below "
                          "that of the block in the middle. Click to see its corners");
  }
  ImGui::EndTable();
}

}  // namespace

void draw_cell(const std::string& text, const std::string& meaning) {
  ImGui::TableNextColumn();
  ImGui::TextWrapped("%s", text.c_str());
  tooltip(meaning);
}

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
  if (!begin_table("corners", columns)) return;
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

}  // namespace facesat::app
