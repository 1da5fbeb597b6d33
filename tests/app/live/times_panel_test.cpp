// The chart of stacked columns, and the panel of times: drawn without a window and used with the
// pointer.
#include <vector>

#include <gtest/gtest.h>
#include <imgui.h>

#include "app/live/gui/chart.hpp"
#include "app/live/panels/panel.hpp"
#include "tests/app/live/panel_test.hpp"

namespace facesat::app {
namespace {

TEST(ChartScale, EndsAtARoundNumber) {
  EXPECT_DOUBLE_EQ(axis_top(0.3, 0), 0.5);
  EXPECT_DOUBLE_EQ(axis_top(0.9, 0), 1);
  EXPECT_DOUBLE_EQ(axis_top(1.1, 0), 2);
  EXPECT_DOUBLE_EQ(axis_top(16.7, 0), 20);
  EXPECT_DOUBLE_EQ(axis_top(20, 0), 20);
  EXPECT_DOUBLE_EQ(axis_top(201, 0), 500);
  EXPECT_DOUBLE_EQ(axis_top(0, 0), 1);  // nothing to show
  EXPECT_DOUBLE_EQ(axis_top(0, 5), 5);
}

TEST(ChartScale, ShrinksOnlyWhenTheValuesAreClearlySmaller) {
  EXPECT_DOUBLE_EQ(axis_top(10.1, 10), 20);
  EXPECT_DOUBLE_EQ(axis_top(9.9, 20), 20);
  EXPECT_DOUBLE_EQ(axis_top(7.9, 20), 10);
  EXPECT_DOUBLE_EQ(axis_top(9.9, 100), 10);
}

TEST(ChartScale, TicksAreRound) {
  const auto expect = [](double top, const std::vector<double>& ticks) {
    const std::vector<double> got = axis_ticks(top);
    ASSERT_EQ(got.size(), ticks.size()) << top;
    for (std::size_t i = 0; i < ticks.size(); ++i) EXPECT_DOUBLE_EQ(got[i], ticks[i]) << top;
  };
  expect(0.1, {0, 0.02, 0.04, 0.06, 0.08, 0.1});
  expect(0.2, {0, 0.05, 0.1, 0.15, 0.2});
  expect(10, {0, 2, 4, 6, 8, 10});
  expect(20, {0, 5, 10, 15, 20});
  expect(500, {0, 100, 200, 300, 400, 500});
}

TEST(ChartScale, OutliersDoNotCount) {
  EXPECT_EQ(percentile_99({}), 0);
  EXPECT_EQ(percentile_99({3}), 3);
  std::vector<double> still(30, 2);
  still[7] = 50;
  EXPECT_EQ(percentile_99(still), 2);
  std::vector<double> video(300);
  for (std::size_t i = 0; i < video.size(); ++i) video[i] = static_cast<double>(300 - i);
  EXPECT_EQ(percentile_99(video), 297);
}

// Draws a chart of two series and five columns into a window at the origin.
class ChartTest : public test::PanelTest {
 protected:
  void draw() {
    frame([this] {
      pointer = draw_chart("chart", chart, 200);
      corner = ImGui::GetItemRectMin();
      end = ImGui::GetItemRectMax();
    });
  }
  // The pointer's place, as parts of the chart's width and height.
  void point_at(float x, float y) {
    ImGui::GetIO().MousePos = {corner.x + (end.x - corner.x) * x,
                               corner.y + (end.y - corner.y) * y};
    draw();
    draw();  // Dear ImGui knows which window is under the pointer from the frame before
  }
  // The y coordinates between which the last frame drew this colour.
  std::pair<float, float> rows_of(ImU32 colour) const {
    float first = 1e9f, last = -1;
    for (const ImVec2& at : corners_of(colour))
      first = std::min(first, at.y), last = std::max(last, at.y);
    return {first, last};
  }

  const ImU32 below = IM_COL32(1, 2, 3, 255), above = IM_COL32(4, 5, 6, 255);
  Chart chart{.colours = {below, above},
              .values = {1, 1, 2, 1, 1, 3, 2, 2, 4, 0},
              .slots = 10,
              .top = 5,
              .lines = {},
              .marked = {}};
  ChartPointer pointer;
  ImVec2 corner, end;
};

TEST_F(ChartTest, FindsTheColumnUnderThePointer) {
  draw();
  point_at(0.97f, 0.5f);
  EXPECT_EQ(pointer.column, 4u);  // the last one: columns are aligned to the right
  EXPECT_FALSE(pointer.is_clicked);
  point_at(0.87f, 0.5f);
  EXPECT_EQ(pointer.column, 3u);
  point_at(0.3f, 0.5f);  // where there are no columns yet
  EXPECT_TRUE(pointer.is_over_chart);
  EXPECT_FALSE(pointer.column);
  point_at(0.97f, 1.5f);
  EXPECT_FALSE(pointer.is_over_chart);
  EXPECT_FALSE(pointer.column);
}

TEST_F(ChartTest, ReportsAClickOnAColumn) {
  draw();
  point_at(0.97f, 0.5f);
  ImGui::GetIO().MouseDown[0] = true;
  draw();
  EXPECT_FALSE(pointer.is_clicked);
  ImGui::GetIO().MouseDown[0] = false;
  draw();
  EXPECT_TRUE(pointer.is_clicked);
  EXPECT_EQ(pointer.column, 4u);
  draw();
  EXPECT_FALSE(pointer.is_clicked);
}

TEST_F(ChartTest, StacksTheSeriesAndCutsHighColumns) {
  draw();
  const auto [below_top, base] = rows_of(below);
  const auto [above_top, above_base] = rows_of(above);
  const float unit = (base - below_top) / 4;  // the highest value of this series is 4
  EXPECT_GT(unit, 20);
  EXPECT_NEAR(above_base, base - unit, 0.01);     // the lowest begins on a value of 1
  EXPECT_NEAR(above_top, base - 4 * unit, 0.01);  // 1 + 3 and 2 + 2
  chart.top = 2;
  draw();
  EXPECT_NEAR(rows_of(below).second, base, 0.01);
  EXPECT_NEAR(rows_of(below).first, base - 5 * unit, 0.01);  // cut at the top of the axis
  EXPECT_GE(rows_of(above).first, base - 5 * unit - 0.01f);
}

TEST_F(ChartTest, DrawsLinesWithinTheScaleAndMarks) {
  draw();
  draw();  // the first frame of a window may lack what depends on its size
  const int plain = drawn_corners();
  chart.lines = {{6, "beyond"}};
  draw();
  EXPECT_EQ(drawn_corners(), plain);
  chart.lines = {{3, "within"}};
  draw();
  const int with_line = drawn_corners();
  EXPECT_GT(with_line, plain);
  chart.marked = {1, 3};
  draw();
  EXPECT_GT(drawn_corners(), with_line);
}

class TimesPanelTest : public test::OnePanelTest {
 protected:
  TimesPanelTest() : OnePanelTest(make_times_panel()) { context.dropped = 3; }
  void draw() {
    frame([this] { OnePanelTest::draw(); });
    chosen = context.wishes.seek;
  }
  // Moves the pointer down at this x until it is over the item.
  void point_at(ImGuiID item, float x) {
    for (float y = 0; y < 1500; y += 3) {
      ImGui::GetIO().MousePos = {x, y};
      draw();
      draw();
      if (ImGui::GetHoveredID() == item) return;
    }
    FAIL() << "the item is nowhere";
  }
  void click() {
    ImGui::GetIO().MouseDown[0] = true;
    draw();
    ImGui::GetIO().MouseDown[0] = false;
    draw();
  }
  static ImGuiID chart() { return ImGui::FindWindowByName("panel")->GetID("chart"); }
  static ImGuiID row(const char* step) {
    const ImGuiID table = ImGui::FindWindowByName("panel")->GetID("steps");
    return ImHashStr(step, 0, table);
  }
  // Frames of a video, 20 ms apart, with a millisecond in every step.
  void add_frames(int first, int count) {
    for (int i = first; i < first + count; ++i) {
      Sample sample;
      sample.ms.fill(1);
      if (has_positions) sample.position = i * 0.02;
      history.add(sample, subject);
    }
  }
  static bool shows_tooltip() {
    const ImGuiWindow* const tooltip = ImGui::FindWindowByName("##Tooltip_00");
    return tooltip && tooltip->Active;
  }
  static constexpr float newest = 387.5f;  // x coordinate of the column on the right

  Subject subject{1, 1, {64, 48}};
  bool has_positions = true;
  std::optional<double> chosen;
};

TEST_F(TimesPanelTest, DrawsNoFrameAndMany) {
  draw();
  const int empty = drawn_corners();
  add_frames(0, 400);  // more than the history keeps
  draw();
  // The chart's columns: 300 frames of 10 steps, each a rectangle of 4 vertices, are 12,000. The
  // rest of the panel has far fewer than 4000.
  EXPECT_GT(drawn_corners(), empty + 4000);
}

TEST_F(TimesPanelTest, RowsOfStepsStay) {
  add_frames(0, 3);
  const float all = end();
  subject.source += 1;
  for (const double ms : {0.0, 1.0}) {  // the whole detection is off, or is on again
    Sample sample;
    sample.ms.fill(ms);
    history.add(sample, subject);
    EXPECT_EQ(end(), all) << ms;
  }
  history = History();
  EXPECT_EQ(end(), all);
  result.frame.kind = FrameSource::Kind::picture;
  EXPECT_EQ(end(), all);
}

TEST_F(TimesPanelTest, AStepThatIsClickedIsLeftOut) {
  add_frames(0, 300);
  for (int i = 0; i < 3; ++i) draw();  // until the table's columns are as wide as their texts
  const int all = drawn_corners();
  point_at(row("##evaluate"), 30);
  EXPECT_FALSE(shows_tooltip());
  for (int i = 0; i < 30; ++i) draw();  // half a second
  EXPECT_TRUE(shows_tooltip());
  click();
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  EXPECT_LT(drawn_corners(), all - 1000);  // 300 rectangles of 4 vertices
  point_at(row("##evaluate"), 30);
  click();
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  EXPECT_EQ(drawn_corners(), all);
}

TEST_F(TimesPanelTest, AClickOnAColumnChoosesItsFrame) {
  add_frames(0, 300);
  draw();
  point_at(chart(), newest);
  EXPECT_TRUE(shows_tooltip());
  EXPECT_FALSE(chosen);
  click();
  EXPECT_EQ(chosen, 299 * 0.02);
  draw();
  EXPECT_FALSE(chosen);
}

TEST_F(TimesPanelTest, StandsStillUnderThePointer) {
  add_frames(0, 300);
  draw();
  point_at(chart(), newest);
  draw();
  add_frames(300, 50);  // the video plays on, or a click has shown a frame again
  click();
  EXPECT_EQ(chosen, 299 * 0.02);
  subject.source = 2;
  add_frames(7, 1);
  click();
  EXPECT_EQ(chosen, 7 * 0.02);  // another source: the columns of the first one are gone
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  add_frames(8, 1);
  point_at(chart(), newest);
  click();
  EXPECT_EQ(chosen, 8 * 0.02);
}

TEST_F(TimesPanelTest, OnlyFramesOfAVideoCanBeChosen) {
  has_positions = false;
  for (const bool still : {true, false}) {  // a picture, a camera
    result.frame.kind = still ? FrameSource::Kind::picture : FrameSource::Kind::camera;
    subject.source += 1;
    add_frames(0, 30);
    draw();
    point_at(chart(), newest);
    EXPECT_TRUE(shows_tooltip());
    click();
    EXPECT_FALSE(chosen);
  }
}

TEST_F(TimesPanelTest, MarksTheColumnsOfTheFrameThatIsShown) {
  ImGui::GetStyle().Colors[ImGuiCol_CheckMark] = {0, 1, 1, 1};  // of nothing else in this panel
  const auto marks = [] { return corners_of(IM_COL32(0, 255, 255, 255)).size() / 3; };
  add_frames(0, 30);
  draw();
  EXPECT_EQ(marks(), 1u);  // the newest
  add_frames(10, 1);       // what a click on that column does
  draw();
  EXPECT_EQ(marks(), 2u);
  has_positions = false;
  add_frames(0, 30);
  draw();
  EXPECT_EQ(marks(), 0u);
}

TEST_F(TimesPanelTest, ColumnsOverWhichOneDragsAreATableOfTheirOwn) {
  add_frames(0, 300);
  draw();
  point_at(chart(), newest);
  ImGui::GetIO().MouseDown[0] = true;
  draw();
  ImGui::GetIO().MousePos.x -= 100;
  draw();
  ImGui::GetIO().MouseDown[0] = false;
  draw();
  EXPECT_FALSE(chosen);  // that was no click
  const auto ground = [] {
    const ImU32 colour = ImGui::GetColorU32(ImGuiCol_TextSelectedBg);
    float first = 1e9f, last = -1;
    for (const ImVec2& at : corners_of(colour))
      first = std::min(first, at.x), last = std::max(last, at.x);
    return last - first;
  };
  EXPECT_NEAR(ground(), 100, 3);
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  add_frames(300, 50);  // the video plays on
  draw();
  EXPECT_NEAR(ground(), 100, 3);
  point_at(chart(), newest);
  click();
  EXPECT_FALSE(chosen);  // it ends the selection
  draw();
  EXPECT_LT(ground(), 0);
  click();
  EXPECT_TRUE(chosen);
}

TEST_F(TimesPanelTest, TimesThatAreKeptAreCompared) {
  const auto columns = [&] {
    draw();
    return ImGui::TableFindByID(ImGui::FindWindowByName("panel")->GetID("steps"))->ColumnsCount;
  };
  const auto press_keep = [&] {
    press("keep these times###keep", [this] { OnePanelTest::draw(); });
  };
  add_frames(0, 30);
  EXPECT_EQ(columns(), 5);
  press_keep();
  EXPECT_EQ(columns(), 6);
  subject.source = 2;  // what follows is compared
  add_frames(0, 30);
  EXPECT_EQ(columns(), 6);
  press_keep();  // the same button forgets them
  EXPECT_EQ(columns(), 5);
}

TEST_F(TimesPanelTest, KernelsAreMeasuredWhileTheirTimesAreSeen) {
  const auto is_measured = [&] {  // from now on
    context.wishes = {};
    panel->begin(context);
    return choices.settings.kernels;
  };
  const auto press_choice = [&] {
    press("kernels of each step", [this] { OnePanelTest::draw(); });
  };
  add_frames(0, 30);
  press_choice();
  EXPECT_FALSE(is_measured());  // the CPU has none
  result.sat = "an_algorithm";
  const float without = end();
  press_choice();
  EXPECT_TRUE(is_measured());
  EXPECT_TRUE(context.wishes.settings);
  EXPECT_EQ(end(), without);  // there are no times yet
  EXPECT_TRUE(is_measured());
  EXPECT_FALSE(context.wishes.settings);  // nothing has changed
  Sample sample;
  sample.ms.fill(1);
  sample.kernels = {
      {Step::sat, "rows", 0.25}, {Step::sat, "columns", 0.5}, {Step::sat, "rows", 0.25}};
  history.add(sample, subject);
  end();  // Dear ImGui learns the table's height
  const float with = end(), row = (with - without) / 2;
  EXPECT_GT(row, 10);
  EXPECT_LT(row, 30);
  EXPECT_TRUE(is_measured());
  EXPECT_FALSE(is_measured());  // the panel was not drawn: it is closed
  EXPECT_TRUE(context.wishes.settings);
}

TEST_F(TimesPanelTest, StepsOfAFilterHaveColoursAndRoomForTheNumbers) {
  Sample sample;
  sample.filter = {{"an_algorithm_with_a_very_long_name_indeed", 1000}, {"box", 3000}};
  history.add(sample, {});
  for (int i = 0; i < 3; ++i) draw();
  const ImGuiTable* const table =
      ImGui::TableFindByID(ImGui::FindWindowByName("panel")->GetID("steps"));
  ASSERT_NE(table, nullptr);
  EXPECT_LT(table->Columns[0].WidthGiven, 0.5f * table->OuterRect.GetWidth());
  EXPECT_FALSE(corners_of(IM_COL32(150, 95, 225, 255)).empty());
  EXPECT_FALSE(corners_of(IM_COL32(205, 170, 250, 255)).empty());  // differs from the first step
}

}  // namespace
}  // namespace facesat::app
