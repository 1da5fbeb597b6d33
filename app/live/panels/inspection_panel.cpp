#include <array>

#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panels.hpp"

namespace facesat::app {
namespace {

// A picture that can be chosen: the frame itself, or a step of the detector.
struct Choice {
  const char* name;
  std::optional<Snapshot> picture;
  const char* meaning;
  bool filtered = false;
};
constexpr std::array<Choice, 7> choices{
    {{"the frame", std::nullopt, "The picture as it comes from the source"},
     {"grey image", Snapshot::gray,
      "What the detector works on: it sees no colours. With 'equalise', after that"},
     {"level of the pyramid", Snapshot::level,
      "The grey image, made smaller. The detector's window always has the same few pixels, so it "
      "finds small faces in large levels and large faces in small ones"},
     {"sums", Snapshot::sum,
      "The integral image (summed area table): every pixel holds the sum of all pixels above and "
      "to the left. Four of them give the sum of any rectangle"},
     {"sums of squares", Snapshot::squared_sum,
      "The integral image of the squared pixels. With the sums it gives the variance of a window, "
      "by which the detector compensates for dark and pale light"},
     {"stages passed", Snapshot::depth,
      "How many stages of the first cascade the window around each pixel passes. Most windows fail "
      "early, which makes the detector fast; those that pass all stages are found"},
     {"filtered image", Snapshot::gray,
      "The grey image with a filter applied to it, such as a blur, edges or a threshold. Key: V",
      true}}};

bool is_chosen(const Choice& choice, const Inspection& inspection) {
  return choice.picture == inspection.picture && choice.filtered == inspection.filtered;
}

bool choose_picture(Inspection& inspection) {
  bool changed = false;
  const Choice* shown = choices.data();
  for (const Choice& choice : choices)
    if (is_chosen(choice, inspection)) shown = &choice;
  const bool is_open = ImGui::BeginCombo("show", shown->name);
  if (!is_open) tooltip(std::string("The picture on the right. Now: ") + shown->meaning);
  if (!is_open) return false;
  for (const Choice& choice : choices) {
    if (ImGui::Selectable(choice.name, is_chosen(choice, inspection))) {
      inspection.picture = choice.picture;
      inspection.filtered = choice.filtered;
      changed = true;
    }
    tooltip(choice.meaning);
  }
  ImGui::EndCombo();
  return changed;
}

bool choose_level(Inspection& inspection, int level_count) {
  const bool changed = ImGui::SliderInt("level", &inspection.level, 0, level_count - 1);
  tooltip(
      "Of the pyramid. Level 0 is the largest picture, in which the smallest faces are found; each "
      "further level is smaller by the scale factor, for larger faces");
  return changed;
}

}  // namespace

bool draw_inspection(Inspection& inspection, int level_count, int& opacity) {
  bool changed = choose_picture(inspection);
  const bool has_levels = level_count > 1,
             is_of_levels = inspection.picture && inspection.picture != Snapshot::gray;
  if (has_levels && is_of_levels) {
    changed |= ImGui::Checkbox("the whole atlas", &inspection.atlas);
    tooltip(
        "All levels of the pyramid at once. A GPU keeps them side by side in one picture, the "
        "atlas, so that one integral image serves them all");
  }
  const bool is_one_level = is_of_levels && !inspection.atlas;
  if (has_levels && (is_one_level || inspection.explains))
    changed |= choose_level(inspection, level_count);
  if (inspection.picture && inspection.is_frame()) {
    ImGui::SliderInt("opacity", &opacity, 0, 100, "%d %%");
    tooltip(
        "How much the picture covers the frame. 0 %: only the frame is seen; 50 %: both, one over "
        "the other; 100 %: only the picture");
  }
  return changed;
}

}  // namespace facesat::app
