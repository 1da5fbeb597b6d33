#include "app/live/panels/help.hpp"

#include <array>

#include <imgui.h>

namespace facesat::app {

void draw_help(bool& is_open) {
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.GetWorkCenter(), ImGuiCond_Appearing, {0.5f, 0.5f});
  ImGui::SetNextWindowSizeConstraints({0, 0}, screen.WorkSize);
  ImGui::Begin("Keys", &is_open, ImGuiWindowFlags_AlwaysAutoResize);
  struct Key {
    const char *key, *meaning;
  };
  static constexpr std::array<Key, 19> keys{{
      {"Space", "play, pause"},
      {"Left, Right", "previous, next frame of a video; else picture"},
      {"Page Up, Page Down", "previous, next picture or video of the list"},
      {"Wheel, drag", "zoom, move the picture; double click: fit or 1:1"},
      {"F, 1", "fit, 1:1"},
      {"L", "labels"},
      {"T", "dark or light"},
      {"V", "filtered image or frame"},
      {"X", "the other one of two pinned SAT algorithms (GPU)"},
      {"Tab", "panels on or off"},
      {"F11", "full screen on or off"},
      {"H", "this help"},
      {"Esc", "back to the picture"},
      {"Ctrl+O", "open something else"},
      {"Ctrl+S", "screenshot"},
      {"Ctrl+R", "start or stop recording"},
      {"Ctrl+plus, Ctrl+minus", "larger, smaller letters"},
      {"Ctrl+Q", "quit"},
      {"Drop", "videos, pictures or folders onto the window to open them"},
  }};
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
    for (const Key& key : keys) {
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(key.key);
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(key.meaning);
    }
    ImGui::EndTable();
  }
  ImGui::End();
}

}  // namespace facesat::app
