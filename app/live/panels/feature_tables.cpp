// The numbers of an explained feature: from its sums to the response, and from the responses to
// what becomes of the window.
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/features.hpp"
#include "app/live/panels/reading.hpp"

namespace facesat::app {
namespace {

constexpr ImGuiTableFlags feature_table_flags =
    ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp;

// The next cell of a table, with what its number means.
void draw_cell(const std::string& text, const std::string& meaning) {
  ImGui::TableNextColumn();
  ImGui::TextWrapped("%s", text.c_str());
  tooltip(meaning);
}

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
          {{"standard deviation", fmt::format("{:.1f}", explanation.deviation),
            "Of the window's pixels, from the sums and the sums of squares: how much light and "
            "dark "
            "differ. The feature is divided by it, so that pale and strong light count the same"},
           {"feature", fmt::format("{:.6g}", explanation.value),
            "The products added, divided by the standard deviation and by the number of pixels of "
            "the window without its border"},
           {"threshold", fmt::format("{:.6g}", node.threshold),
            "With which the feature is compared; training found it"},
           {"node test", explanation.left ? "below: to the left" : "not below: to the right",
            "Left if the feature is below the threshold, otherwise right. Each side has a "
            "response, "
            "or in a tree a further node"}});
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

void draw_judgement(const LevelTables& tables, const Explanation& explanation,
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
