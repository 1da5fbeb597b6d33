// The panel of what is open, problems with it, and the mode of a camera.
#include <array>

#include <fmt/format.h>
#include <imgui.h>

#include "app/live/gui/widgets.hpp"
#include "app/live/panels/panel.hpp"

namespace facesat::app {
namespace {

// Draws a list of values to choose from; Value{} leaves the choice to the camera. Returns whether
// another value was chosen.
template <class Value, std::size_t n, class Text>
bool draw_choice(const char* label, const std::array<Value, n>& values, Value& chosen, Text text) {
  const auto shown = [&](const Value& v) {
    return v == Value{} ? "the camera's default" : text(v);
  };
  bool changed = false;
  if (!ImGui::BeginCombo(label, shown(chosen).c_str())) return false;
  for (const Value& value : values)
    if (ImGui::Selectable(shown(value).c_str(), value == chosen)) {
      chosen = value;
      changed = true;
    }
  ImGui::EndCombo();
  return changed;
}

class SourcePanel final : public Panel {
 public:
  SourcePanel() : Panel("Source") {}

  void draw(PanelContext& context) override {
    const Capture::State& source = context.source;
    if (ImGui::Button("open...")) context.wishes.start_page = true;
    tooltip(
        "Pictures, videos, folders, streams and cameras (Ctrl+O). Files and folders can also be "
        "dropped onto the window");
    ImGui::SameLine();
    draw_status(source.is_opening ? "opening..." : source.title, "");
    draw_status(source.message, "", true);
    if (source.kind == FrameSource::Kind::camera && draw_mode(context.camera))
      context.wishes.open = source.names;
  }

  bool handle_key(const Screen::Press& press, PanelContext& context) override {
    if (!press.ctrl || press.key != 'O') return false;
    return context.wishes.start_page = true;
  }

 private:
  // Returns whether another mode was chosen.
  static bool draw_mode(CameraMode& mode) {
    static constexpr std::array<Size, 6> sizes{
        {{}, {640, 480}, {1280, 720}, {1920, 1080}, {2560, 1440}, {3840, 2160}}};
    static constexpr std::array<double, 5> rates{0, 15, 30, 60, 120};
    bool changed = draw_choice("resolution", sizes, mode.size, [](const Size& size) {
      return fmt::format("{} x {}", size.width, size.height);
    });
    tooltip("The camera uses the nearest one that it has");
    changed |= draw_choice("frames/s", rates, mode.frames_per_second,
                           [](double rate) { return fmt::format("{:.0f}", rate); });
    tooltip("The camera uses the nearest rate that it has; in little light it may give fewer");
    return changed;
  }
};

}  // namespace

std::unique_ptr<Panel> make_source_panel() {
  return std::make_unique<SourcePanel>();
}

}  // namespace facesat::app
