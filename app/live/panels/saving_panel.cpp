// The panel that saves what the window shows.
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"

namespace facesat::app {
namespace {

class SavingPanel final : public Panel {
 public:
  SavingPanel() : Panel("Screenshots, recordings, times", false) {}

  void draw(PanelContext& context) override {
    if (ImGui::Button("screenshot")) context.wishes.screenshot = true;
    tooltip("Of this window, as PNG, into the current folder (Ctrl+S)");
    ImGui::SameLine();
    if (ImGui::Button(context.saving.is_recording() ? "stop recording" : "record"))
      context.saving.toggle_recording();
    tooltip("The frames with their boxes as a video, into the current folder (Ctrl+R)");
    ImGui::SameLine();
    if (ImGui::Button("times as CSV")) context.saving.save_times(context.history);
    tooltip("The times that the chart shows, one line per frame, into the current folder");
  }

  bool handle_key(const Screen::Press& press, PanelContext& context) override {
    if (!press.ctrl) return false;
    if (press.key == 'S')
      context.wishes.screenshot = true;
    else if (press.key == 'R')
      context.saving.toggle_recording();
    else
      return false;
    return true;
  }
};

}  // namespace

std::unique_ptr<Panel> make_saving_panel() {
  return std::make_unique<SavingPanel>();
}

}  // namespace facesat::app
