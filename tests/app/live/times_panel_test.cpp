// The panel of times, drawn without a window and used with the pointer.
#include "app/live/panels/panel.hpp"
#include "tests/app/live/panel_test.hpp"

namespace facesat::app {
namespace {

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
  const int empty = ImGui::GetDrawData()->TotalVtxCount;
  add_frames(0, 400);  // more than the history keeps
  draw();
  // The chart's columns: 300 frames of 9 steps, each a rectangle of 4 vertices, are 10,800. The
  // rest of the panel has far fewer than 4000.
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, empty + 4000);
}

TEST_F(TimesPanelTest, AStepThatIsClickedIsLeftOut) {
  add_frames(0, 300);
  for (int i = 0; i < 3; ++i) draw();  // until the table's columns are as wide as their texts
  const int all = ImGui::GetDrawData()->TotalVtxCount;
  point_at(row("##evaluate"), 30);
  EXPECT_FALSE(shows_tooltip());
  for (int i = 0; i < 30; ++i) draw();  // half a second
  EXPECT_TRUE(shows_tooltip());
  click();
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, all - 1000);  // 300 rectangles of 4 vertices
  point_at(row("##evaluate"), 30);
  click();
  ImGui::GetIO().MousePos = {-1, -1};
  draw();
  EXPECT_EQ(ImGui::GetDrawData()->TotalVtxCount, all);
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
  const auto marks = [] {
    int vertices = 0;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
        vertices += vertex.col == IM_COL32(0, 255, 255, 255);
    return vertices / 3;
  };
  add_frames(0, 30);
  draw();
  EXPECT_EQ(marks(), 1);  // the newest
  add_frames(10, 1);      // what a click on that column does
  draw();
  EXPECT_EQ(marks(), 2);
  has_positions = false;
  add_frames(0, 30);
  draw();
  EXPECT_EQ(marks(), 0);
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
  const auto is_drawn = [](ImU32 colour) {
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
        if (vertex.col == colour) return true;
    return false;
  };
  EXPECT_TRUE(is_drawn(IM_COL32(150, 95, 225, 255)));
  EXPECT_TRUE(is_drawn(IM_COL32(205, 170, 250, 255)));  // the second step differs from the first
}

}  // namespace
}  // namespace facesat::app
