// The live window's panels, drawn without a window.
#include "app/live/panels.hpp"

#include <cmath>

#include "tests/app/eventually.hpp"
#include "tests/app/panel_test.hpp"
#include "tests/app/video.hpp"

namespace facesat::app {
namespace {

using test::eventually;

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
  const auto draw = [&] { draw_inspection(inspection, 7); };  // 7 levels
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
