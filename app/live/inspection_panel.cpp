#include <array>

#include <imgui.h>

#include "app/live/panels.hpp"

namespace facesat::app {
namespace {

// A picture that can be chosen: the frame itself, or a step of the detector.
struct Choice {
  const char* name;
  std::optional<Snapshot> picture;
};
constexpr std::array<Choice, 6> choices{{{"the frame", std::nullopt},
                                         {"grey image", Snapshot::gray},
                                         {"level of the pyramid", Snapshot::level},
                                         {"sums", Snapshot::sum},
                                         {"sums of squares", Snapshot::squared_sum},
                                         {"stages passed", Snapshot::depth}}};

}  // namespace

bool draw_inspection(Inspection& inspection, int level_count) {
  bool changed = false;
  const char* shown = choices.front().name;
  for (const Choice& choice : choices)
    if (choice.picture == inspection.picture) shown = choice.name;
  if (ImGui::BeginCombo("show", shown)) {
    for (const Choice& choice : choices)
      if (ImGui::Selectable(choice.name, choice.picture == inspection.picture)) {
        inspection.picture = choice.picture;
        changed = true;
      }
    ImGui::EndCombo();
  }
  if (!inspection.picture || inspection.picture == Snapshot::gray || level_count < 2)
    return changed;
  changed |= ImGui::Checkbox("the whole atlas", &inspection.atlas);
  if (!inspection.atlas)
    changed |= ImGui::SliderInt("level", &inspection.level, 0, level_count - 1);
  return changed;
}

}  // namespace facesat::app
