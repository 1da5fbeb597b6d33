// The live window's panels, drawn without a window. Their controls are activated as by the
// keyboard.
#include "app/live/panels.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/live/feature_panel.hpp"
#include "cascades/cascade_store.hpp"
#include "tests/app/eventually.hpp"
#include "tests/app/program.hpp"
#include "tests/app/video.hpp"

namespace facesat::app {
namespace {

using test::eventually;

class PanelTest : public test::ProgramTest {
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
  // panel. parent: the tree node that contains the control. how: how ImGui activates it.
  template <class Draw>
  static void press(const std::string& label, Draw draw, const char* parent = nullptr,
                    ImGuiActivateFlags how = ImGuiActivateFlags_None) {
    frame(draw);
    ImGuiContext& context = *ImGui::GetCurrentContext();
    const bool is_open = !context.OpenPopupStack.empty();
    ImGuiWindow* window =
        is_open ? context.OpenPopupStack.back().Window : ImGui::FindWindowByName("panel");
    ASSERT_NE(window, nullptr);
    ImGuiID id = window->GetID(label.c_str());
    if (parent) id = ImHashStr(label.c_str(), 0, window->GetID(parent));
    ImGui::ActivateItem(id);
    context.NavNextActivateFlags = how;
    frame(draw);
    frame(draw);
  }

  // Types `text` into the field labelled `label` and presses Enter.
  template <class Draw>
  static void type(const std::string& label, const std::string& text, Draw draw) {
    press(label, draw, nullptr, ImGuiActivateFlags_PreferInput);
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

  std::string path(const std::string& name) const { return (folder / name).string(); }
};

TEST_F(PanelTest, SourceStepsThroughAFolder) {
  add_face("p/a.pgm");
  add_face("p/b.pgm", 1);
  Capture capture([](const Frame&) {});
  SourcePanel panel;
  const auto draw = [&] { panel.draw(capture); };
  frame(draw);  // nothing is open yet
  capture.open(path("p"));
  ASSERT_TRUE(eventually([&] { return capture.state().kind.has_value(); }));  // it is open
  press(">", draw);
  EXPECT_TRUE(eventually([&] { return capture.state().position == 1; }));
  EXPECT_EQ(capture.state().picture, "b.pgm");
  press("<", draw);
  EXPECT_TRUE(eventually([&] { return capture.state().position == 0; }));
  EXPECT_EQ(capture.state().picture, "a.pgm");
  type("##position", "2", draw);  // pictures are counted from 1
  EXPECT_TRUE(eventually([&] { return capture.state().picture == "b.pgm"; }));
}

TEST_F(PanelTest, SourcePlaysAndSeeksInAVideo) {
  test::write_video(path("f.avi"), 30);
  Capture capture([](const Frame&) {});
  SourcePanel panel;
  const auto draw = [&] { panel.draw(capture); };
  type("open", path("f.avi"), draw);
  ASSERT_TRUE(eventually([&] { return capture.state().title == path("f.avi"); }));
  press("pause", draw);
  EXPECT_FALSE(capture.state().playing);
  type("##position", "0.44", draw);  // seconds: frame 22 of 30
  EXPECT_TRUE(eventually([&] { return std::abs(capture.state().position - 0.44) < 1e-6; }))
      << capture.state().position;
  type("##speed", "2.5", draw);
  EXPECT_NEAR(capture.state().speed, 2.5, 1e-6);
  press("loop", draw);  // off, so that the video ends
  press("play", draw);
  EXPECT_TRUE(eventually([&] { return capture.state().message == Capture::ended; }));
}

TEST_F(PanelTest, CameraListOpens) {
  Capture capture([](const Frame&) {});
  SourcePanel panel;
  const auto draw = [&] { panel.draw(capture); };
  press("camera", draw);
  EXPECT_FALSE(ImGui::GetCurrentContext()->OpenPopupStack.empty());
}

class DetectionPanelTest : public PanelTest {
 protected:
  // Draws the panel. `changed` becomes true if the user changed a setting; choose() clears it
  // first.
  void draw() { changed |= panel.draw(settings, last); }
  void choose(const std::string& label, const char* parent = nullptr) {
    changed = false;
    press(
        label, [this] { draw(); }, parent);
  }

  // Invented algorithms, which nothing runs, of two papers.
  const gpu::SatAlgorithm one{"one", "One", "A paper", 2001, 1, 1, 1, {}, {}, {}, {}},
      two{"two", "Two", "A paper", 2001, 2, 2, 2, {}, {}, {}, {}},
      three{"three", "Three", "Another paper", 2002, 1, 1, 1, {}, {}, {}, {}};
  const gpu::SatAlgorithm* const sats[3]{&one, &two, &three};
  DetectionPanel panel{{{0, "first", "9.0", 1}, {1, "second", "9.0", 1}}, sats};
  LiveSettings settings;
  LiveResult last;
  bool changed = false;
};

TEST_F(DetectionPanelTest, ChoosesSatAndDevice) {
  choose("SAT");
  choose("three");
  EXPECT_TRUE(changed);
  EXPECT_EQ(settings.backend.sat, "three");
  choose("device");
  choose("1: second");
  EXPECT_TRUE(changed);
  EXPECT_EQ(settings.backend.device, "1");
}

TEST_F(DetectionPanelTest, ChoosesHowToSearch) {
  choose("dense scan");
  EXPECT_TRUE(changed);
  EXPECT_EQ(settings.detect.scan, Scan::dense);
  choose("dense scan");
  EXPECT_EQ(settings.detect.scan, Scan::opencv);
  choose("equalise");
  EXPECT_TRUE(settings.detect.equalize);
  frame([this] { changed = false, draw(); });
  EXPECT_FALSE(changed);  // drawing alone changes nothing
}

TEST_F(DetectionPanelTest, ChoosesCascades) {
  choose("eye", "cascades");
  choose("lbp:frontalface", "cascades");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"eye", "lbp:frontalface"}));
  choose("search");
  choose("inside lbp:frontalface");
  EXPECT_TRUE(changed);
  EXPECT_EQ(settings.inside_of, "lbp:frontalface");
  choose("eye", "cascades");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"lbp:frontalface"}));
}

TEST_F(PanelTest, ShowsSumsAtlasAndFrame) {
  Inspection inspection;
  int opacity = 100;
  const auto draw = [&] { draw_inspection(inspection, 7, opacity); };  // 7 levels
  press("show", draw);
  press("sums", draw);
  EXPECT_EQ(inspection.picture, Snapshot::sum);
  EXPECT_TRUE(inspection.is_frame());
  press("the whole atlas", draw);
  EXPECT_FALSE(inspection.is_frame());
  press("show", draw);
  press("the frame", draw);
  EXPECT_FALSE(inspection.picture);
  EXPECT_TRUE(inspection.is_frame());
}

TEST_F(PanelTest, OpacityIsNoPartOfTheSelection) {
  Inspection inspection;
  int opacity = 100;
  bool changed = false;
  const auto draw = [&] { changed |= draw_inspection(inspection, 7, opacity); };
  type("opacity", "40", draw);
  EXPECT_EQ(opacity, 100);  // the frame has no opacity
  inspection.picture = Snapshot::sum;
  type("opacity", "40", draw);
  EXPECT_EQ(opacity, 40);
  EXPECT_FALSE(changed);
  inspection.atlas = true;  // shown apart
  type("opacity", "70", draw);
  EXPECT_EQ(opacity, 40);
}

TEST_F(PanelTest, FeaturesAreExplainedOnRequest) {
  add_face("face.pgm");
  Inspection inspection;
  LiveResult result;
  FeatureExplorer explorer;
  bool changed = false;
  const auto draw = [&] { changed |= explorer.draw_panel(inspection, result); };
  press("explain a feature", draw);
  EXPECT_TRUE(changed);
  EXPECT_TRUE(inspection.explains);

  const auto cascade = find_cascade("frontalface_default");
  Detector detector(cascade, {}, make_cpu_backend());
  const CapturedFrame face{*open_source(path("face.pgm"))->next()};
  detector.detect(face.picture.pixels);
  result.tables.emplace(detector, cascade, 3);
  changed = false;
  frame(draw);
  const int without = ImGui::GetDrawData()->TotalVtxCount;
  explorer.follow(ImVec2{40, 40}, false);
  frame(draw);
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, without + 500);  // the tables
  type("stage", "25", draw);
  EXPECT_EQ(explorer.choice().stage, 24);
  type("weak classifier", "9999", draw);
  EXPECT_EQ(explorer.choice().weak, cascade->stages[24].tree_count - 1);
  EXPECT_FALSE(changed);
}

TEST_F(PanelTest, AClickHoldsTheExplainedWindow) {
  FeatureExplorer explorer;
  EXPECT_FALSE(explorer.point());
  explorer.follow(ImVec2{1, 1}, false);
  explorer.follow(std::nullopt, false);  // the pointer has left the picture
  EXPECT_EQ(explorer.point()->x, 1);
  explorer.follow(ImVec2{2, 2}, true);
  explorer.follow(ImVec2{3, 3}, false);
  EXPECT_EQ(explorer.point()->x, 2);
  explorer.follow(ImVec2{4, 4}, true);
  EXPECT_EQ(explorer.point()->x, 4);
}

TEST_F(PanelTest, WithoutAGpuTheComparisonSaysWhyItIsEmpty) {
  add_face("face.pgm");
  LiveSettings settings;
  settings.backend.choice = BackendChoice::cpu;
  settings.cascades = {"frontalface_default"};
  Detection detection(settings);
  detection.put({*open_source(path("face.pgm"))->next()});
  press("compare all on this frame", [&] { draw_comparison(detection, settings); });
  ASSERT_TRUE(eventually([&] { return detection.comparison() != nullptr; }));
  EXPECT_NE(detection.comparison()->message.find("GPU"), std::string::npos);
  frame([&] { EXPECT_FALSE(draw_comparison(detection, settings)); });
}

TEST_F(PanelTest, TimesAreDrawnForNoFrameAndForMany) {
  History history;
  const auto draw = [&] { draw_times(history, 3, false); };  // 3 dropped frames
  frame(draw);
  const int empty = ImGui::GetDrawData()->TotalVtxCount;
  for (int i = 0; i < 400; ++i) {  // more frames than the history keeps
    Sample sample;
    sample.ms.fill(1 + i % 3);
    history.add(sample, {});
  }
  frame(draw);
  // The history's columns: 300 frames of 9 steps, each a rectangle of 4 vertices, are 10,800. The
  // rest of the panel has far fewer than 4000.
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, empty + 4000);
}

}  // namespace
}  // namespace facesat::app
