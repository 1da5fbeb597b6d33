// The panels with settings, and what all panels have in common.
#include <set>

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>

#include "app/live/panels/features.hpp"
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
  EXPECT_FALSE(titles.empty());
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
  EXPECT_EQ(settings.detect.inside_of, "frontalcatface");
  choose("eye", "cascades");
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"frontalcatface"}));
}

TEST_F(DetectionPanelTest, SearchesCascadesByNameAndMeaning) {
  const auto draw_panel = [this] { draw(); };
  type("##word", "mouth", draw_panel);
  EXPECT_TRUE(choose("smile", "cascades"));
  EXPECT_FALSE(choose("eye", "cascades"));  // is not shown
  type("##word", "lbp:frontalface_i", draw_panel);
  EXPECT_TRUE(choose("lbp:frontalface_improved", "cascades"));
  EXPECT_EQ(settings.cascades, (std::vector<std::string>{"smile", "lbp:frontalface_improved"}));
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

TEST_F(DetectionPanelTest, PresetsSetTheSearch) {
  settings.detect.equalize = true;
  choose("preset");
  EXPECT_TRUE(choose("small and faint faces"));
  EXPECT_EQ(settings.detect, (DetectOptions{.scale_factor = 1.05, .min_neighbors = 2}));
  choose("preset");
  EXPECT_TRUE(choose("as OpenCV"));
  EXPECT_EQ(settings.detect, DetectOptions());
}

TEST_F(DetectionPanelTest, LimitsTheScore) {
  EXPECT_TRUE(choose("score at least"));
  EXPECT_EQ(settings.detect.min_score, 0);
  type("##score", "2.5", [this] { draw(); });
  EXPECT_EQ(settings.detect.min_score, 2.5);
  EXPECT_TRUE(choose("score at least"));
  EXPECT_EQ(settings.detect, DetectOptions());
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
  EXPECT_FALSE(choices.labels);
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

// Choosing a picture, or explaining, moves no control.
TEST_F(ViewPanelTest, StaysAsHighAsItIs) {
  Inspection& inspection = choices.settings.inspection;
  const float before = end();
  for (const Snapshot picture : {Snapshot::gray, Snapshot::sum, Snapshot::depth}) {
    inspection.picture = picture;
    result.level_count = 9;
    EXPECT_EQ(end(), before);
  }
  inspection.atlas = inspection.explains = true;
  EXPECT_EQ(end(), before);
}

TEST_F(ViewPanelTest, FilesAreSavedIntoTheFolderThatIsTyped) {
  const auto typed = [&](const std::string& text) {
    type("##folder", text, [this] { draw(); });
    panel->begin(context);
    return saving.folder();
  };
  EXPECT_EQ(typed(folder.string()), folder.string());
  saving.save_times(history);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_EQ(typed("/" + std::string(300, 'x')), folder.string());
  EXPECT_EQ(typed((folder / "missing").string()), folder.string());
  const auto& shown = toasts.shown(Toasts::Clock::now());
  EXPECT_TRUE(shown.back().is_warning);
  EXPECT_NE(shown.back().text.find("missing: there is no such folder"), std::string::npos);
  EXPECT_EQ(choices.folder, folder.string());
  wishes_after("reset all settings");
  panel->begin(context);
  EXPECT_EQ(saving.folder(), "");  // the current folder
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
  Opacities opacities;
  const auto draw = [&] { draw_inspection(inspection, 7, opacities); };  // 7 levels
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

TEST_F(PanelTest, EachPictureHasAnOpacityOfItsOwn) {
  Inspection inspection;
  Opacities opacities;
  bool changed = false;
  const auto draw = [&] { changed |= draw_inspection(inspection, 7, opacities); };
  type("opacity", "40", draw);  // the frame has none
  inspection.picture = Snapshot::sum;
  EXPECT_EQ(opacities.of(inspection), 100);
  type("opacity", "40", draw);
  EXPECT_EQ(opacities.of(inspection), 40);
  EXPECT_EQ(opacities.of({.picture = Snapshot::squared_sum}), 100);
  EXPECT_EQ(opacities.of({.picture = Snapshot::gray, .filtered = true}), 100);
  EXPECT_FALSE(changed);
  inspection.atlas = true;  // shown apart
  type("opacity", "70", draw);
  EXPECT_EQ(opacities.of(inspection), 40);
}

// A level that is chosen is not that of a box.
TEST_F(PanelTest, TheLevelTakesThePlaceOfTheBox) {
  Inspection inspection{.picture = Snapshot::sum, .box = Rect{1, 2, 30, 30}};
  Opacities opacities;
  type("level", "4", [&] { draw_inspection(inspection, 7, opacities); });
  EXPECT_EQ(inspection.level, 4);
  EXPECT_FALSE(inspection.box);
}

// A face whose window is explained.
class ExplanationPanelTest : public test::OnePanelTest {
 protected:
  ExplanationPanelTest() : OnePanelTest(make_explanation_panel()) {
    add_face("face.pgm");
    const CapturedFrame face = test::first_frame(path("face.pgm"));
    FrameDetector detector(cascade, {}, make_cpu_backend());
    result.faces = detector.detect(face.picture.pixels);
    inspection.explains = true;
    inspection.box = result.faces.at(0).box;
    result.settings.inspection = inspection;
    result.level_count = static_cast<int>(detector.pyramid().levels.size());
    result.like_box = window_like(detector, *inspection.box);
    result.tables.emplace(detector, cascade, result.like_box->level);
  }

  const std::shared_ptr<const Cascade> cascade = find_cascade("frontalface_default");
  Inspection& inspection = choices.settings.inspection;
};

TEST_F(ExplanationPanelTest, IsWantedWhileSomethingIsExplained) {
  panel->begin(context);
  EXPECT_EQ(panel->side(), Panel::Side::right);
  EXPECT_TRUE(panel->is_wanted(context));
  EXPECT_TRUE(wishes_after("Close").settings);
  EXPECT_FALSE(panel->is_wanted(context));
  EXPECT_FALSE(inspection.box);
  EXPECT_FALSE(panel->handle_key({Screen::escape, false}, context));
  inspection.explains = true;
  panel->begin(context);
  EXPECT_TRUE(panel->handle_key({Screen::escape, false}, context));
  EXPECT_FALSE(inspection.explains);
}

TEST_F(ExplanationPanelTest, HasTheNumbersOfTheWindow) {
  const int with_numbers = drawn();
  result.tables.reset();
  EXPECT_GT(with_numbers, drawn() + 500);
}

// However far a number that is typed lies beyond the cascade.
TEST_F(PanelTest, FeaturesAreChosenWithinTheCascade) {
  const auto cascade = find_cascade("frontalface_default");
  FeatureChoice choice;
  const auto draw = [&] { choose_feature(*cascade, choice); };
  type("stage", "9999", draw);
  EXPECT_EQ(choice.stage, 24);
  type("weak classifier", "9999", draw);
  EXPECT_EQ(choice.weak, cascade->stages[24].tree_count - 1);
}

// Whatever was chosen meanwhile, and whichever control began and ended the explanation.
TEST_F(ExplanationPanelTest, AfterwardsThePictureIsShownAsBefore) {
  const Inspection before{.picture = Snapshot::squared_sum, .level = 2};
  for (const bool by_key : {false, true}) {
    inspection = before;
    inspection.explains = true;  // as the panel "View" does
    panel->begin(context);
    wishes_after("How it works");
    wishes_after("Next");
    inspection.box = Rect{1, 2, 30, 30};
    inspection.cascade = "eye";
    if (by_key)
      panel->handle_key({Screen::escape, false}, context);
    else
      inspection.explains = false;
    panel->begin(context);
    EXPECT_EQ(inspection, before);
  }
  inspection.explains = true;
  panel->begin(context);
  inspection = {};  // all settings are reset
  panel->begin(context);
  EXPECT_EQ(inspection, Inspection());
}

TEST_F(ExplanationPanelTest, ControlsShowTheLevelOfTheBox) {
  panel->begin(context);
  EXPECT_EQ(inspection.level, result.like_box->level);
  inspection.box = Rect{0, 0, 9, 9};  // of which there is no result yet
  inspection.level = 0;
  panel->begin(context);
  EXPECT_EQ(inspection.level, 0);
}

TEST_F(ExplanationPanelTest, ShowsHowItWorksInSixSteps) {
  EXPECT_TRUE(wishes_after("How it works").settings);
  EXPECT_FALSE(wishes_after("Back").settings);  // there is none
  std::vector<std::optional<Snapshot>> shown{inspection.picture};
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(wishes_after("Next").settings);
    shown.push_back(inspection.picture);
  }
  EXPECT_EQ(shown, (std::vector<std::optional<Snapshot>>{
                       Snapshot::level, Snapshot::sum, {}, {}, Snapshot::depth, {}}));
  EXPECT_FALSE(wishes_after("Next").settings);  // there is none
  EXPECT_TRUE(wishes_after("Back").settings);
  EXPECT_EQ(inspection.picture, Snapshot::depth);
  wishes_after("Next");
  EXPECT_TRUE(wishes_after("All numbers").settings);
  EXPECT_FALSE(wishes_after("Back").settings);
}

}  // namespace
}  // namespace facesat::app
