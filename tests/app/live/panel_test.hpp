// What tests of the window share that start none: settings, results of the detection thread, and
// the base of tests of the panels, whose controls are activated as by the keyboard.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/live/detection/detection.hpp"
#include "app/live/panels/panel.hpp"
#include "app/live/settings_file.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

// These cascades, on the CPU.
inline app::LiveSettings cpu_settings(std::vector<std::string> cascades = {"frontalface_default"}) {
  app::LiveSettings settings;
  settings.backend.choice = BackendChoice::cpu;
  settings.cascades = std::move(cascades);
  return settings;
}

// The first frame of a source.
inline app::CapturedFrame first_frame(const std::string& source) {
  return {*open_source(source)->next()};
}
class FaceTest : public ProgramTest {
 protected:
  app::CapturedFrame face() const {
    add_face("face.pgm");
    return first_frame(path("face.pgm"));
  }
};

// Waits for the next result of the thread.
inline app::LiveResult next_result(app::Detection& detection) {
  std::optional<app::LiveResult> result;
  EXPECT_TRUE(eventually([&] { return (result = detection.take()).has_value(); }));
  return result ? std::move(*result) : app::LiveResult{};
}

// The result for a frame that comes now, and for the last frame with other settings.
inline app::LiveResult result_of(app::Detection& detection, app::CapturedFrame frame) {
  detection.put(std::move(frame));
  return next_result(detection);
}
inline app::LiveResult result_with(app::Detection& detection, const app::LiveSettings& settings) {
  detection.set(settings);
  return next_result(detection);
}

// Waits until all algorithms are compared on the last frame.
inline app::Comparison finished_comparison(app::Detection& detection) {
  EXPECT_TRUE(eventually([&] {
    const auto comparison = detection.comparison();
    return comparison && comparison->running.empty();
  }));
  const auto comparison = detection.comparison();
  return comparison ? *comparison : app::Comparison();
}

// The file of settings, with panels that have nothing of their own.
inline app::Remembered read_settings(const std::filesystem::path& file,
                                     const app::Remembered& otherwise) {
  app::Panels panels = app::make_panels();
  return app::read_settings(file, otherwise, panels);
}
inline void write_settings(const std::filesystem::path& file, const app::Remembered& remembered) {
  app::write_settings(file, remembered, app::make_panels());
}

// Draws panels.
class PanelTest : public ProgramTest {
 protected:
  PanelTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0f / 60;
    io.DisplaySize = {400, 4000};  // high enough that no control is scrolled out of sight
    io.Fonts->Build();
  }
  ~PanelTest() override { ImGui::DestroyContext(); }

  // Draws one frame of the user interface: a panel whose contents draw() adds.
  template <class Draw>
  static void frame(Draw draw) {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({400, 4000});
    ImGui::Begin("panel");
    draw();
    ImGui::End();
    ImGui::Render();
  }

  // The corners of what the last frame drew in this colour.
  static std::vector<ImVec2> corners_of(ImU32 colour) {
    std::vector<ImVec2> corners;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
        if (vertex.col == colour) corners.push_back(vertex.pos);
    return corners;
  }
  // The number of all corners that the last frame drew.
  static int drawn_corners() { return ImGui::GetDrawData()->TotalVtxCount; }

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
    context.NavNextActivateId = id;
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
    hold_enter(true);
    frame(draw);
    hold_enter(false);
    frame(draw);
  }

  // Keys for the next frames. Version 1.89 of Dear ImGui wants them as events.
  static void hold_enter(bool is_down) {
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18900
    constexpr int enter = 100;  // any index into KeysDown: KeyMap makes it the Enter key
    io.KeyMap[ImGuiKey_Enter] = enter;
    io.KeysDown[enter] = is_down;
#else
    io.AddKeyEvent(ImGuiKey_Enter, is_down);
#endif
  }
  static void hold_shift(bool is_down) {
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM < 18900
    io.KeyShift = is_down;
#else
    io.AddKeyEvent(ImGuiMod_Shift, is_down);
#endif
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
  // The number of corners of what is drawn.
  int drawn() {
    frame([this] { draw(); });
    return drawn_corners();
  }

  // Where the panel ends, in pixels.
  float end() {
    float y = 0;
    frame([&] {
      draw();
      y = ImGui::GetCursorPosY();
    });
    return y;
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
