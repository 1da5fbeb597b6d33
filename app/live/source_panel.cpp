#include <array>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/live/panels.hpp"
#include "app/live/widgets.hpp"

namespace facesat::app {
namespace {

// The slider for the position in a video or folder.
void draw_position(Capture& capture, const Capture::State& state) {
  auto position = static_cast<float>(state.position);
  const bool pictures = state.kind == FrameSource::Kind::pictures;
  const auto last = static_cast<float>(state.length) - (pictures ? 1 : 0);
  if (last <= 0) return;
  ImGui::SetNextItemWidth(-1);  // all the width, because a label after ## is not shown
  if (pictures) {               // counted from 1, as people do
    int number = static_cast<int>(position) + 1;
    if (ImGui::SliderInt("##position", &number, 1, static_cast<int>(last) + 1, "picture %d"))
      capture.seek(number - 1);
  } else if (ImGui::SliderFloat("##position", &position, 0, last, "%.2f s")) {
    capture.seek(position);
  }
}

void draw_controls(Capture& capture, const Capture::State& state) {
  if (ImGui::Button("<")) capture.step(-1);
  tooltip("The previous frame or picture (left arrow)");
  ImGui::SameLine();
  if (state.kind != FrameSource::Kind::pictures) {
    if (ImGui::Button(state.is_playing() ? "pause" : "play")) capture.play(!state.is_playing());
    tooltip("Space");
    ImGui::SameLine();
  }
  if (ImGui::Button(">")) capture.step(1);
  tooltip("The next frame or picture (right arrow)");
  if (state.kind != FrameSource::Kind::video) return;
  ImGui::SameLine();
  bool loops = state.loops;
  if (ImGui::Checkbox("loop", &loops)) capture.loop(loops);
  tooltip("Begin again when the video has ended");
  ImGui::SameLine();
  auto speed = static_cast<float>(state.speed);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::SliderFloat("##speed", &speed, 0.1f, 10, "speed %.2f", ImGuiSliderFlags_Logarithmic))
    capture.set_speed(speed);
  tooltip("1: as fast as the video was taken. Ctrl+click to type a number");
}

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

}  // namespace

void SourcePanel::draw_cameras(Capture& capture, const Capture::State& state) {
  if (ImGui::BeginCombo("camera", "choose")) {
    if (ImGui::IsWindowAppearing()) cameras_ = cameras();
    for (const CameraInfo& camera : cameras_) {
      const std::string text = fmt::format("{}: {}", camera.number,
                                           camera.problem.empty() ? camera.name : camera.problem);
      if (ImGui::Selectable(text.c_str())) capture.open(fmt::format("{}", camera.number), mode_);
    }
    if (cameras_.empty()) ImGui::TextDisabled("no camera is connected");
    ImGui::EndCombo();
  }
  if (state.kind != FrameSource::Kind::camera) return;
  static constexpr std::array<Size, 6> sizes{
      {{}, {640, 480}, {1280, 720}, {1920, 1080}, {2560, 1440}, {3840, 2160}}};
  static constexpr std::array<double, 5> rates{0, 15, 30, 60, 120};
  bool changed = draw_choice("resolution", sizes, mode_.size, [](const Size& size) {
    return fmt::format("{} x {}", size.width, size.height);
  });
  changed |= draw_choice("frames/s", rates, mode_.frames_per_second,
                         [](double rate) { return fmt::format("{:.0f}", rate); });
  if (changed) capture.open(state.name, mode_);
}

void SourcePanel::draw(Capture& capture) {
  const Capture::State state = capture.state();
  ImGui::TextWrapped("%s", state.title.empty() ? "nothing is open" : state.title.c_str());
  if (!state.picture.empty() && state.length > 1)
    ImGui::TextWrapped("%.0f of %.0f: %s", state.position + 1, state.length, state.picture.c_str());
  for (const std::string& message : {state.refused, state.message})
    if (!message.empty()) draw_warning(message);
  if (state.kind == FrameSource::Kind::camera || state.kind == FrameSource::Kind::stream) {
    if (ImGui::Button(state.is_playing() ? "pause" : "play")) capture.play(!state.is_playing());
  } else if (state.kind) {
    draw_controls(capture, state);
    draw_position(capture, state);
  }
  draw_cameras(capture, state);
  if (ImGui::InputTextWithHint("open", "video, picture, folder, stream", &name_,
                               ImGuiInputTextFlags_EnterReturnsTrue) &&
      !name_.empty())
    capture.open(name_);
  tooltip(
      "A camera's number, the path of a video, picture or folder, or the URL of a stream; Enter "
      "opens "
      "it. Files and folders can also be dropped onto the window");
}

}  // namespace facesat::app
