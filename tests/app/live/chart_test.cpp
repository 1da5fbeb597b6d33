// The chart of stacked columns: its scale, and what it draws and reports without a window.
#include "app/live/gui/chart.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <imgui.h>

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
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
        if (vertex.col == colour)
          first = std::min(first, vertex.pos.y), last = std::max(last, vertex.pos.y);
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
  const int plain = ImGui::GetDrawData()->TotalVtxCount;
  chart.lines = {{6, "beyond"}};
  draw();
  EXPECT_EQ(ImGui::GetDrawData()->TotalVtxCount, plain);
  chart.lines = {{3, "within"}};
  draw();
  const int with_line = ImGui::GetDrawData()->TotalVtxCount;
  EXPECT_GT(with_line, plain);
  chart.marked = {1, 3};
  draw();
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, with_line);
}

}  // namespace
}  // namespace facesat::app
