#include <initializer_list>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/feature_table.hpp"

namespace facesat::app {
namespace {

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
