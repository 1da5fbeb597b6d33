#include "app/live/panels/feature_panel.hpp"

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/feature_overlay.hpp"
#include "app/live/panels/feature_table.hpp"

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

}  // namespace

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
