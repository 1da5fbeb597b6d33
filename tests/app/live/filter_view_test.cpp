// Filtered frames and their times, from the filter to the detection thread, the panel and the file
// of settings.
#include "app/live/detection/filter_view.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/live/detection/detection.hpp"
#include "app/live/detection/history.hpp"
#include "app/live/panels/view_parts.hpp"
#include "app/live/settings_file.hpp"
#include "core/cpu/gray.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::app {
namespace {

using test::eventually;
using test::PanelTest;
using test::result_of;
using test::result_with;

// A filter of two algorithms, which adds 1 or 2 to each pixel; up to radius 3 there is a third one.
class Adds final : public PictureFilter {
 public:
  std::vector<std::string> algorithms(FilterKind, int radius) const override {
    if (radius > 3) return {"one", "two"};
    return {"one", "two", "small"};
  }
  void apply(View<const std::uint8_t> gray, const PictureFilterSettings& settings,
             View<std::uint8_t> result, std::vector<FilterTime>& times) override {
    const int plus = settings.algorithm == "one" ? 1 : 2;
    for (int y = 0; y < gray.size.height; ++y)
      for (int x = 0; x < gray.size.width; ++x)
        result.row(y)[x] = static_cast<std::uint8_t>(gray.row(y)[x] + plus);
    times = {{"upload", 50}, {"sum", 100}, {"add", 1000.0 * plus}, {"sum", 200}};
  }
};

class FilterViewTest : public ::testing::Test {
 protected:
  FilterViewTest() { view.load(frame.view(), false); }

  const Image<Bgr> frame = test::colour_noise({40, 30}, 1);
  FilterView view{std::make_unique<Adds>()};
};

TEST_F(FilterViewTest, StepsOfTheSameNameAreAddedUp) {
  const FilterRun run = view.run({}).shown;
  EXPECT_EQ(run.algorithm, "one");
  ASSERT_EQ(run.times.size(), 3u);
  EXPECT_EQ(run.times[1].step, "sum");
  EXPECT_EQ(run.times[1].us, 300);
  EXPECT_EQ(run.times[2].us, 1000);
  EXPECT_DOUBLE_EQ(run.compute_ms(), 1.3);  // without the upload
}

TEST_F(FilterViewTest, ComparesTwoAlgorithms) {
  FilterChoice choice;
  choice.compared = "two";
  const FilterResult result = view.run(choice);
  ASSERT_TRUE(result.compared);
  EXPECT_EQ(result.shown.algorithm, "one");
  EXPECT_EQ(result.compared->algorithm, "two");
  EXPECT_DOUBLE_EQ(result.compared->compute_ms(), 2.3);
  EXPECT_GT(result.difference, 0);
  choice.filter.algorithm = "two";  // now it is the same
  EXPECT_FALSE(view.run(choice).compared);
  choice.compared = "one";
  EXPECT_TRUE(view.run(choice).compared);
}

TEST_F(FilterViewTest, AlgorithmsThatDoNotExistForARadiusAreReplaced) {
  FilterChoice choice;
  choice.filter.radius = 3;
  choice.filter.algorithm = "small";
  EXPECT_EQ(view.run(choice).shown.algorithm, "small");
  EXPECT_TRUE(view.run(choice).too_slow.empty());
  choice.filter.radius = 4;
  EXPECT_EQ(view.run(choice).shown.algorithm, "one");
  EXPECT_EQ(view.run(choice).too_slow, (std::vector<std::string>{"small"}));
  choice.compared = "small";
  EXPECT_FALSE(view.run(choice).compared);
}

// All filters of the CPU.
class FilterViewOnCpu : public ::testing::TestWithParam<FilterKind> {};

TEST_P(FilterViewOnCpu, GivesThePixelsOfTheFilterForTheGreyImage) {
  const Image<Bgr> frame = test::colour_noise({61, 47}, 2);
  FilterChoice choice;
  choice.filter.kind = GetParam();
  for (const bool equalize : {false, true}) {
    FilterView view(make_cpu_picture_filter());
    view.load(frame.view(), equalize);
    const FilterResult result = view.run(choice);
    EXPECT_GT(result.shown.compute_ms(), 0);
    ASSERT_FALSE(result.algorithms.empty());
    EXPECT_EQ(result.shown.algorithm, result.algorithms.front());

    Image<std::uint8_t> gray(frame.size()), expected(frame.size());
    cpu::to_gray(frame.view(), gray.view());
    if (equalize) cpu::equalize(gray.view(), gray.view());
    std::vector<FilterTime> times;
    make_cpu_picture_filter()->apply(gray.view(), choice.filter, expected.view(), times);
    const InspectedPicture shown = view.picture();
    EXPECT_TRUE(test::same(shown.values.view(), expected.view()));
    const auto reds = test::formula<std::uint8_t>(
        frame.size(), [&](int x, int y) { return shown.colours.row(y)[x].r; });
    EXPECT_TRUE(test::same(reds, expected));
  }
}

TEST_P(FilterViewOnCpu, TakesTheSmallestAndTheLargestRadius) {
  const Image<Bgr> frame = test::colour_noise({24, 16}, 3);
  FilterView view(make_cpu_picture_filter());
  view.load(frame.view(), false);
  FilterChoice choice;
  choice.filter.kind = GetParam();
  for (const int radius : {1, largest_radius(choice.filter.kind)}) {
    choice.filter.radius = radius;
    EXPECT_GT(view.run(choice).shown.compute_ms(), 0) << radius;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FilterViewOnCpu,
                         ::testing::Values(FilterKind::box, FilterKind::gaussian, FilterKind::sobel,
                                           FilterKind::adaptive_threshold, FilterKind::deviation,
                                           FilterKind::skewness, FilterKind::halftone),
                         [](const auto& test) {
                           std::string name(filter_names[static_cast<std::size_t>(test.param)]);
                           std::erase(name, '-');
                           return name;
                         });

// In the detection thread.
class FilteredDetection : public ::testing::Test {
 protected:
  static LiveSettings settings(bool filtered) {
    LiveSettings chosen = test::cpu_settings({});
    if (filtered) chosen.inspection = {.picture = Snapshot::gray, .filtered = true};
    return chosen;
  }
  CapturedFrame frame(Size size) {
    pixels = test::colour_noise(size, 4);
    CapturedFrame captured;
    captured.picture.pixels = std::as_const(pixels).view();
    captured.kind = FrameSource::Kind::picture;
    captured.source = 1;
    return captured;
  }

  Image<Bgr> pixels;
};

TEST_F(FilteredDetection, ResultsHaveTheFilteredImageOnRequest) {
  Detection detection(settings(false));  // without a cascade
  const LiveResult plain = result_of(detection, frame({33, 21}));
  EXPECT_FALSE(plain.view);
  EXPECT_FALSE(plain.filter);
  const LiveResult filtered = result_with(detection, settings(true));
  EXPECT_EQ(filtered.message, "");
  ASSERT_TRUE(filtered.view);
  EXPECT_TRUE(filtered.view_is_frame);
  EXPECT_EQ(filtered.view->values.size(), (Size{33, 21}));
  ASSERT_TRUE(filtered.filter);
  EXPECT_GT(filtered.filter->shown.compute_ms(), 0);
  EXPECT_NE(filtered.subject, plain.subject);
  EXPECT_EQ(filtered.any_sat, plain.any_sat);
  EXPECT_NE(reading_of(*filtered.view, 0.5, 0.5).value.find("of the filtered image: grey "),
            std::string::npos);
}

TEST_F(FilteredDetection, FramesInWhichNoFaceFitsAreFilteredToo) {
  LiveSettings chosen = settings(true);
  chosen.cascades = {"frontalface_default"};
  Detection detection(chosen);
  const LiveResult result = result_of(detection, frame({5, 3}));
  EXPECT_EQ(result.message, "");
  ASSERT_TRUE(result.view);
  EXPECT_EQ(result.view->values.size(), (Size{5, 3}));
}

TEST_F(FilteredDetection, EachFilterIsASubjectOfItsOwnAndMeasuredThirtyTimes) {
  Detection detection(settings(true));
  const Subject first = result_of(detection, frame({32, 32})).subject;
  std::optional<Repeats> repeats;
  ASSERT_TRUE(eventually([&] { return (repeats = detection.take_repeats()).has_value(); }));
  ASSERT_FALSE(repeats->measurements.empty());
  for (const Repeats::Measurement& one : repeats->measurements) {
    ASSERT_TRUE(one.filter);
    EXPECT_GT(one.filter->shown.compute_ms(), 0);
  }
  LiveSettings wider = settings(true);
  wider.filter.filter.radius = 6;
  const Subject second = result_with(detection, wider).subject;
  EXPECT_EQ(second.settings, first.settings);
  EXPECT_NE(second, first);
}

// Times.
TEST(FilterTimes, AreStepsBeforeDrawing) {
  History history;
  Sample sample;
  sample.ms.fill(1);
  sample.ms[live_step(Step::upload)] = 0;  // on the CPU
  sample.filter = {{"integral image", 1000}, {"box", 3000}};
  sample.filter_compute_ms = 4;
  sample.compared_compute_ms = 7;
  history.add(sample, {});
  const std::vector<std::size_t> steps = history.steps();
  ASSERT_EQ(steps.size(), live_step_count + 1);
  EXPECT_EQ(history.step_name(steps[2]), "gray");
  EXPECT_EQ(history.step_name(steps[live_step_count - 2]), "filter: integral image");
  EXPECT_EQ(history.step(steps[live_step_count - 2]).ms, 1);
  EXPECT_EQ(history.step_name(steps[live_step_count - 1]), "filter: box");
  EXPECT_EQ(history.step(steps[live_step_count - 1]).ms, 3);
  EXPECT_EQ(history.step_name(steps.back()), "draw");
  EXPECT_EQ(history.filter_compute_ms(), 4);
  EXPECT_EQ(history.compared_compute_ms(), 7);
}

TEST(FilterTimes, HaveAColumnInFilesOfTimes) {
  Sample plain, filtered, failed;
  filtered.filter = {{"integral image", 1000}, {"box", 3000}};
  failed.failed = true;
  const std::string csv = times_csv({plain, filtered, failed});
  EXPECT_NE(csv.find(",draw_ms,filter_ms,detect_ms,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",0.0000,,0.0000,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",0.0000,4.0000,0.0000,"), std::string::npos) << csv;
  EXPECT_TRUE(is_times_csv(csv));
  EXPECT_TRUE(is_times_csv(times_csv({plain})));
}

// The panel.
class FilterPanelTest : public PanelTest {
 protected:
  FilterPanelTest() {
    // The last result has two algorithms.
    FilterResult result;
    result.algorithms = {"integral image", "direct"};
    result.shown = {"integral image", {{"integral image", 500}}};
    last.filter = result;
  }
  void draw() {
    last.settings.filter = choice;
    changed |= draw_filter(choice, last, history);
  }
  void choose(const std::string& label) {
    press(label, [this] { draw(); });
  }
  void type_into(const std::string& label, const std::string& text) {
    type(label, text, [this] { draw(); });
  }

  FilterChoice choice;
  LiveResult last;
  History history;
  bool changed = false;
};

// The list of algorithms to compare with stays, and what it says of such an algorithm cannot be
// chosen.
TEST_F(FilterPanelTest, AnAlgorithmThatIsTooSlowIsListed) {
  last.filter->algorithms = {"integral image"};
  choose("compare with");  // there is no such list
  const int without = drawn_corners();
  last.filter->too_slow = {"direct"};
  choose("compare with");
  EXPECT_GT(drawn_corners(), without);
  choose("direct, up to smaller radii only");
  EXPECT_EQ(choice.compared, "");
}

TEST_F(FilterPanelTest, ChoosesFilterBorderAndAlgorithms) {
  frame([this] { draw(); });
  EXPECT_FALSE(changed);  // drawing alone changes nothing
  choose("border");
  choose("wrap");
  EXPECT_TRUE(changed);
  EXPECT_EQ(choice.filter.border, Border::wrap);
  choose("algorithm");
  choose("direct");
  EXPECT_EQ(choice.filter.algorithm, "direct");
  choose("compare with");
  choose("direct");
  EXPECT_EQ(choice.compared, "direct");
  choose("filter");
  choose("local standard deviation");
  EXPECT_EQ(choice.filter.kind, FilterKind::deviation);
  EXPECT_EQ(choice.filter.algorithm, "");
  EXPECT_EQ(choice.compared, "");
}

TEST_F(FilterPanelTest, ValuesOutOfRangeCannotBeEntered) {
  type_into("radius", "1000");
  EXPECT_EQ(choice.filter.radius, 100);
  type_into("radius", "-3");
  EXPECT_EQ(choice.filter.radius, 1);
  type_into("radius", "20");
  EXPECT_EQ(choice.filter.radius, 20);
  type_into("offset", "9");
  EXPECT_EQ(choice.filter.offset, 5);  // a box has no offset
  choose("filter");
  choose("Sobel");
  EXPECT_EQ(choice.filter.radius, 6);
  type_into("radius", "7");
  EXPECT_EQ(choice.filter.radius, 6);
  choose("filter");
  choose("adaptive threshold");
  type_into("offset", "-99");
  EXPECT_EQ(choice.filter.offset, -50);
}

TEST_F(FilterPanelTest, HalftonesHaveNeitherRadiusNorBorder) {
  choice.filter.kind = FilterKind::halftone;
  type_into("radius", "20");
  EXPECT_EQ(choice.filter.radius, 5);
  choose("border");
  EXPECT_TRUE(ImGui::GetCurrentContext()->OpenPopupStack.empty());
  EXPECT_FALSE(changed);
}

TEST_F(FilterPanelTest, ShowsBothTimes) {
  history.add({}, {});
  frame([this] { draw(); });
  const int one = drawn_corners();
  last.filter->compared = {"direct", {{"convolution", 2500}}};
  frame([this] { draw(); });
  EXPECT_GT(drawn_corners(), one + 100);  // letters and a bar
}

// The file of settings.
class FilterSettingsFile : public PanelTest {
 protected:
  Remembered read() const { return test::read_settings(folder / "live.json", {}); }
};

TEST_F(FilterSettingsFile, KeepsTheChoiceAndRefusesBadValues) {
  Remembered written;
  written.settings.cascades = {"frontalface_default"};
  FilterChoice& choice = written.settings.filter;
  choice.filter = {FilterKind::adaptive_threshold, 17, Border::mirror, -7, "direct"};
  choice.compared = "integral image";
  written.settings.inspection = {.picture = Snapshot::gray, .filtered = true};
  test::write_settings(folder / "live.json", written);
  EXPECT_EQ(read().settings.filter, choice);
  EXPECT_EQ(read().settings.inspection, Inspection());  // the frame is what is shown first

  std::string text = read_text("live.json");
  for (const auto& [from, to] : {std::pair{"\"adaptive-threshold\"", "\"sobel\""},
                                 {"17", "17000"},
                                 {"\"mirror\"", "\"moebius\""},
                                 {"-7", "-700"}})
    text = test::replaced(text, from, to);
  write_text("live.json", text);
  const PictureFilterSettings filter = read().settings.filter.filter;
  EXPECT_EQ(filter.kind, FilterKind::sobel);
  EXPECT_EQ(filter.radius, 6);
  EXPECT_EQ(filter.border, PictureFilterSettings().border);
  EXPECT_EQ(filter.offset, -50);
}

}  // namespace
}  // namespace facesat::app
