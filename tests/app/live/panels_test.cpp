// The panels with settings, and what all panels have in common.
#include <set>

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/live/panels/panel.hpp"
#include "app/live/panels/view_parts.hpp"
#include "cascades/cascade_store.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using test::eventually;
using test::PanelTest;

TEST(Panels, HaveTitlesOfTheirOwn) {
  std::set<std::string> titles;
  for (const auto& panel : make_panels()) EXPECT_TRUE(titles.insert(panel->title()).second);
  EXPECT_EQ(titles.size(), 7u);
}

class DetectionPanelTest : public test::OnePanelTest {
 protected:
  DetectionPanelTest() : OnePanelTest(make_detection_panel()) {
    machine.devices = {{0, "first", "9.0", 1}, {1, "second", "9.0", 1}};
    machine.sats = facts_of(sats);
  }
  // Returns whether the user changed a setting.
  bool choose(const std::string& label, const char* parent = nullptr) {
    return wishes_after(label, parent).settings;
  }

  // Invented algorithms, which nothing runs, of two papers.
  const gpu::SatAlgorithm one{"one", "One", "A paper", 2001, 1, 1, 1, {}, {}, {}, {}},
      two{"two", "Two", "A paper", 2001, 2, 2, 2, {}, {}, {}, {}},
      three{"three", "Three", "Another paper", 2002, 1, 1, 1, {}, {}, {}, {}};
  const gpu::SatAlgorithm* const sats[3]{&one, &two, &three};
  LiveSettings& settings = choices.settings;
};

TEST_F(DetectionPanelTest, ChoosesSatAndDevice) {
  choose("SAT");
  EXPECT_TRUE(choose("three"));
  EXPECT_EQ(settings.backend.sat, "three");
  choose("device");
  EXPECT_TRUE(choose("1: second"));
  EXPECT_EQ(settings.backend.device, "1");
}

TEST_F(DetectionPanelTest, ChoosesHowToSearch) {
  EXPECT_TRUE(choose("dense scan"));
  EXPECT_EQ(settings.detect.scan, Scan::dense);
  choose("dense scan");
  EXPECT_EQ(settings.detect.scan, Scan::opencv);
  choose("equalise");
  EXPECT_TRUE(settings.detect.equalize);
  context.wishes = {};
  frame([this] { draw(); });
  EXPECT_FALSE(context.wishes.settings);  // drawing alone changes nothing
}

TEST_F(DetectionPanelTest, ChoosesCascades) {
  choose("eye", "cascades");
  choose("frontalcatface", "cascades");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"eye", "frontalcatface"}));
  choose("search");
  EXPECT_TRUE(choose("inside frontalcatface"));
  EXPECT_EQ(settings.inside_of, "frontalcatface");
  choose("eye", "cascades");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"frontalcatface"}));
}

// Messages and numbers come and go; what is below them stays under the pointer.
TEST_F(DetectionPanelTest, StaysAsHighAsItIs) {
  settings.cascades = {"eye"};
  result.backend = "CPU";
  const float before = end();
  result.message = std::string(100, 'x') + " went wrong";
  EXPECT_EQ(end(), before);
  settings.detect.min_size = {500, 500};
  settings.detect.max_size = {40, 40};
  EXPECT_EQ(end(), before);
  settings.cascades = {};
  EXPECT_EQ(end(), before);
}

TEST_F(DetectionPanelTest, KeepsNumbersWithinTheirRanges) {
  type("scale factor", "30", [this] { draw(); });
  EXPECT_EQ(settings.detect.scale_factor, 2);
  type("neighbours", "21", [this] { draw(); });
  EXPECT_EQ(settings.detect.min_neighbors, 20);
}

class SourcePanelTest : public test::OnePanelTest {
 protected:
  SourcePanelTest() : OnePanelTest(make_source_panel()) {}
};

TEST_F(SourcePanelTest, StaysAsHighAsItIs) {
  source.title = "a.avi";
  const float before = end();
  source.title = std::string(200, 't');
  source.message = "a.avi: " + std::string(200, 'm');
  EXPECT_EQ(end(), before);
}

class ViewPanelTest : public test::OnePanelTest {
 protected:
  ViewPanelTest() : OnePanelTest(make_view_panel()) {}
  bool press_key(int key) { return panel->handle_key({key, false}, context); }
};

TEST_F(ViewPanelTest, KeysChangeTheView) {
  EXPECT_TRUE(press_key('L'));
  EXPECT_TRUE(press_key('T'));
  EXPECT_FALSE(choices.labels || choices.dark);
  EXPECT_FALSE(context.wishes.settings);
  EXPECT_TRUE(press_key('V'));
  EXPECT_TRUE(choices.settings.inspection.filtered);
  EXPECT_EQ(choices.settings.inspection.picture, Snapshot::gray);
  EXPECT_TRUE(context.wishes.settings);
  press_key('V');
  EXPECT_EQ(choices.settings.inspection, Inspection());
  EXPECT_FALSE(press_key('X'));  // that of another panel
  EXPECT_FALSE(panel->handle_key({'L', true}, context));
}

TEST_F(ViewPanelTest, ResettingKeepsWhatIsNoSetting) {
  choices.dark = false;
  choices.font_size = 30;
  choices.settings.cascades = {"eye"};
  choices.recent = {"/a"};
  choices.window = {1, 2, 3, 4};
  EXPECT_TRUE(wishes_after("reset all settings").settings);
  EXPECT_TRUE(choices.dark);
  EXPECT_EQ(choices.font_size, Remembered().font_size);
  EXPECT_EQ(choices.settings.cascades, (std::vector<std::string>{"frontalface_default"}));
  EXPECT_EQ(choices.recent, (std::vector<std::string>{"/a"}));
  EXPECT_EQ(choices.window, (Rect{1, 2, 3, 4}));
  choices.recent = {"/a", "/b"};
  EXPECT_TRUE(wishes_after("undo").settings);
  EXPECT_FALSE(choices.dark);
  EXPECT_EQ(choices.font_size, 30);
  EXPECT_EQ(choices.settings.cascades, (std::vector<std::string>{"eye"}));
  EXPECT_EQ(choices.recent, (std::vector<std::string>{"/a", "/b"}));
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
  FrameDetector detector(cascade, {}, make_cpu_backend());
  const CapturedFrame face = test::first_frame(path("face.pgm"));
  detector.detect(face.picture.pixels);
  result.tables.emplace(detector, cascade, 3);
  changed = false;
  frame(draw);
  const int without = drawn_corners();
  explorer.follow(ImVec2{40, 40}, false);
  frame(draw);
  EXPECT_GT(drawn_corners(), without + 500);  // the tables
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

}  // namespace
}  // namespace facesat::app
