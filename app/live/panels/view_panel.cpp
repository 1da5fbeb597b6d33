#include "app/live/panels/view_panel.hpp"

#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/filter_panel.hpp"
#include "app/live/panels/inspection_overlay.hpp"
#include "app/live/panels/panels.hpp"

namespace facesat::app {

bool ViewPanel::draw(LiveSettings& settings, const LiveResult& result, const History& history,
                     PictureView& view, Screen& screen) {
  Inspection& inspection = settings.inspection;
  bool changed = draw_inspection(inspection, result.level_count, opacity_);
  if (inspection.filtered) changed |= draw_filter(settings.filter, result, history);
  changed |= explorer_.draw_panel(inspection, result);
  view.set_opacity(opacity());
  ImGui::Separator();
  ImGui::Checkbox("labels: neighbours | score", &labels_);
  tooltip(
      "At each box that is wide enough, how many similar windows were merged into the face, and "
      "the "
      "largest sum that one of them reached in the last stage of the cascade. Key: L");
  if (ImGui::Button("fit")) view.fit();
  tooltip("As large as the whole picture fits. Key: F");
  ImGui::SameLine();
  if (ImGui::Button("1:1")) view.one_to_one();
  tooltip("One pixel of the picture per pixel of the screen. Key: 1");
  ImGui::SameLine();
  ImGui::Checkbox("dark", &dark_);
  tooltip("Light letters on a dark ground, or the reverse. Key: T");
  int font_size = screen.font_size();
  if (ImGui::SliderInt("font", &font_size, Screen::smallest_font, Screen::largest_font, "%d px"))
    screen.set_font_size(font_size);
  tooltip("The size of the letters, and of all controls. Ctrl+plus, Ctrl+minus");
  return changed;
}

void ViewPanel::draw_over(const PictureView& view, const LiveResult& result) {
  explorer_.draw_over(view, result);
  draw_readings(view, result);
}

}  // namespace facesat::app
