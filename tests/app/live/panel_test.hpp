// The base of tests of the window's panels, which are drawn without a window. Controls are
// activated as by the keyboard.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/live/panels/panel.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

class PanelTest : public ProgramTest {
 protected:
  PanelTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {400, 4000};  // high enough that no control is scrolled out of sight
    io.Fonts->Build();
  }
  ~PanelTest() override { ImGui::DestroyContext(); }

  // Draws one frame of the user interface: a panel whose contents draw() adds.
  template <class Draw>
  static void frame(Draw draw) {
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 4000});
    ImGui::Begin("panel");
    draw();
    ImGui::End();
    ImGui::Render();
  }

  // Presses the control labelled `label`: in the open list if a list is open, otherwise in the
  // panel. parent: the child window or group (PushID) that contains the control, which must not be
  // scrolled out of sight. how: how ImGui activates it.
  template <class Draw>
  static void press(const std::string& label, Draw draw, const char* parent = nullptr,
                    ImGuiActivateFlags how = ImGuiActivateFlags_None,
                    const std::string& within = "panel") {
    frame(draw);
    ImGuiContext& context = *ImGui::GetCurrentContext();
    const bool is_open = !context.OpenPopupStack.empty();
    ImGuiWindow* window =
        is_open ? context.OpenPopupStack.back().Window : ImGui::FindWindowByName(within.c_str());
    ASSERT_NE(window, nullptr);
    ImGuiID id = window->GetID(label.c_str());
    if (parent) {
      const ImGuiID of_parent = window->GetID(parent);
      ImGuiWindow* const child = ImGui::FindWindowByName(
          fmt::format("{}/{}_{:08X}", window->Name, parent, of_parent).c_str());
      id = child ? child->GetID(label.c_str()) : ImHashStr(label.c_str(), 0, of_parent);
    }
    ImGui::ActivateItem(id);
    context.NavNextActivateFlags = how;
    frame(draw);
    frame(draw);
  }

  // Types `text` into the field labelled `label` and presses Enter.
  template <class Draw>
  static void type(const std::string& label, const std::string& text, Draw draw,
                   const std::string& within = "panel") {
    press(label, draw, nullptr, ImGuiActivateFlags_PreferInput, within);
    ImGuiIO& io = ImGui::GetIO();
    for (const char c : text) io.AddInputCharacter(static_cast<unsigned char>(c));
    frame(draw);
    constexpr int enter = 100;  // any index into KeysDown: KeyMap makes it the Enter key
    io.KeyMap[ImGuiKey_Enter] = enter;
    io.KeysDown[enter] = true;
    frame(draw);
    io.KeysDown[enter] = false;
    frame(draw);
  }
};

// One panel, and what it sees of the window, which tests change.
class OnePanelTest : public PanelTest {
 protected:
  explicit OnePanelTest(std::unique_ptr<app::Panel> tested) : panel(std::move(tested)) {}

  void draw() { panel->draw(context); }
  // Presses a control, and returns what the panel then asks of the window.
  app::Wishes wishes_after(const std::string& label, const char* parent = nullptr) {
    context.wishes = {};
    press(
        label, [this] { draw(); }, parent);
    return context.wishes;
  }
  // The corners of what is drawn.
  int drawn() {
    frame([this] { draw(); });
    return ImGui::GetDrawData()->TotalVtxCount;
  }

  app::LiveResult result;
  app::History history;
  app::Capture::State source;
  app::Machine machine{.devices = {}, .sats = {}, .cascades = cascade_names()};
  app::Remembered choices;
  CameraMode camera;
  app::PictureView view;
  app::Outputs outputs{{}, {}, {}, {}};
  app::Detection detection{app::LiveSettings()};
  app::Toasts toasts;
  app::Saving saving{"", outputs, detection, toasts};
  app::PanelContext context{.result = result,
                            .history = history,
                            .source = source,
                            .comparison = nullptr,
                            .dropped = 0,
                            .machine = machine,
                            .highlighted = {},
                            .now = {},
                            .choices = choices,
                            .camera = camera,
                            .view = view,
                            .saving = saving,
                            .toasts = toasts,
                            .wishes = {}};
  const std::unique_ptr<app::Panel> panel;
};

}  // namespace facesat::test
