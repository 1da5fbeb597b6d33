#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include "app/live/panels.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

// Numbers and names of the cameras that the system knows.
void draw_cameras(Capture& capture) {
  if (!ImGui::BeginCombo("camera", "choose")) return;
  bool any = false;
  std::error_code none;
  for (int number = 0; number < 64; ++number) {
    const fs::path device = fmt::format("/dev/video{}", number);
    if (!fs::exists(device, none)) continue;
    any = true;
    std::string name = device.string();
    if (std::ifstream in(fmt::format("/sys/class/video4linux/video{}/name", number)); in) {
      std::string line;
      std::getline(in, line);
      name += fmt::format(" ({})", line);
    }
    if (ImGui::Selectable(name.c_str())) capture.open(fmt::format("{}", number));
  }
  if (!any) ImGui::TextDisabled("there is no /dev/video*");
  ImGui::EndCombo();
}

void warn(const std::string& message) {
  ImGui::PushStyleColor(ImGuiCol_Text, {1, 0.6f, 0.2f, 1});
  ImGui::TextWrapped("%s", message.c_str());
  ImGui::PopStyleColor();
}

void draw_position(Capture& capture, const Capture::State& state) {
  auto position = static_cast<float>(state.position);
  const bool pictures = state.kind == Source::Kind::pictures;
  const auto last = static_cast<float>(state.length) - (pictures ? 1 : 0);
  if (last <= 0) return;
  ImGui::SetNextItemWidth(-1);
  if (ImGui::SliderFloat("##position", &position, 0, last, pictures ? "picture %.0f" : "%.2f s"))
    capture.seek(position);
}

void draw_film(Capture& capture, const Capture::State& state) {
  if (ImGui::Button("<")) capture.step(-1);
  ImGui::SameLine();
  if (state.kind != Source::Kind::pictures) {
    if (ImGui::Button(state.playing ? "pause" : "play")) capture.play(!state.playing);
    ImGui::SameLine();
  }
  if (ImGui::Button(">")) capture.step(1);
  if (state.kind != Source::Kind::film) return;
  ImGui::SameLine();
  bool loops = state.loops;
  if (ImGui::Checkbox("loop", &loops)) capture.loop(loops);
  ImGui::SameLine();
  auto speed = static_cast<float>(state.speed);
  ImGui::SetNextItemWidth(-1);
  if (ImGui::SliderFloat("##speed", &speed, 0.1f, 10, "speed %.2f", ImGuiSliderFlags_Logarithmic))
    capture.set_speed(speed);
}

}  // namespace

void SourcePanel::draw(Capture& capture) {
  const Capture::State state = capture.state();
  ImGui::TextWrapped("%s", state.title.empty() ? "nothing is open" : state.title.c_str());
  for (const std::string& message : {state.refused, state.message})
    if (!message.empty()) warn(message);
  if (state.kind == Source::Kind::camera) {
    if (ImGui::Button(state.playing ? "pause" : "play")) capture.play(!state.playing);
  } else if (state.kind) {
    draw_film(capture, state);
    draw_position(capture, state);
  }
  draw_cameras(capture);
  if (ImGui::InputTextWithHint("open", "film, picture, folder, stream", &name_,
                               ImGuiInputTextFlags_EnterReturnsTrue) &&
      !name_.empty())
    capture.open(name_);
}

}  // namespace facesat::app
