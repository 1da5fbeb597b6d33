#include <array>

#include <imgui.h>

#include "app/live/panels.hpp"

namespace facesat::app {
namespace {

struct Choice {
  const char* name;
  std::optional<facesat::Picture> picture;
};
constexpr std::array<Choice, 6> choices{{{"the frame", std::nullopt},
                                         {"grey image", facesat::Picture::gray},
                                         {"level of the pyramid", facesat::Picture::level},
                                         {"sums", facesat::Picture::sum},
                                         {"sums of squares", facesat::Picture::squared_sum},
                                         {"stages passed", facesat::Picture::depth}}};

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
  if (!inspection.picture || inspection.picture == facesat::Picture::gray || level_count < 2)
    return changed;
  changed |= ImGui::Checkbox("the whole atlas", &inspection.atlas);
  if (!inspection.atlas)
    changed |= ImGui::SliderInt("level", &inspection.level, 0, level_count - 1);
  return changed;
}

}  // namespace facesat::app
