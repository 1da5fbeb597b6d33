// Where the real window is, what its title says, and how its parts share it.
#include "tests/app/live/window_test.hpp"

namespace facesat::test {
namespace {

using nlohmann::ordered_json;

class WindowPlaceTest : public WindowTest {
 protected:
  ordered_json remembered() const { return ordered_json::parse(read_text(settings())); }
  std::filesystem::path settings() const { return folder / "config/facesat/live.json"; }
};

TEST_F(WindowPlaceTest, TheTitleNamesSourceAndDevice) {
  add_face("a.pgm");
  add_face("b c.pgm");
  const Running live = start_live({"a.pgm"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat")) << desktop.title();
  EXPECT_TRUE(desktop.drop(path("b%20c.pgm")));
  EXPECT_TRUE(desktop.is_titled(path("b c.pgm") + " - CPU - facesat")) << desktop.title();
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
}

TEST_F(WindowPlaceTest, SizeAndPlaceAreThoseOfTheLastTime) {
  add_face("a.pgm");
  const Rect first{130, 70, 900, 650}, second{20, 200, 700, 500};
  const auto run_at = [&](const Rect& from, const Rect& to) {
    const Running live = start_live({"a.pgm"});
    Desktop desktop(display.name, "facesat");
    ASSERT_TRUE(desktop.is_there());
    if (from.width > 0) {
      EXPECT_TRUE(eventually([&] { return desktop.place() == from; }));
    }
    desktop.place(to);
    EXPECT_TRUE(eventually([&] { return desktop.place() == to; }));
    desktop.close();
    EXPECT_EQ(live.wait().status, 0);
    EXPECT_EQ(remembered()["window"], ordered_json({to.x, to.y, to.width, to.height}));
  };
  run_at({}, first);
  run_at(first, second);
  run_at(second, first);
}

// As after a second monitor was unplugged.
TEST_F(WindowPlaceTest, APlaceThatIsOnNoMonitorIsNotUsed) {
  add_face("a.pgm");
  const auto run = [&] {
    const Running live = start_live({"a.pgm"});
    Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.is_there());
    EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat"));
    const Rect place = desktop.place();
    desktop.close();
    EXPECT_EQ(live.wait().status, 0);
    return place;
  };
  const Rect usual = run();
  for (const Rect& outside : {Rect{5000, 100, 800, 600}, Rect{100, -3000, 800, 600}}) {
    ordered_json choices = remembered();
    choices["window"] = {outside.x, outside.y, outside.width, outside.height};
    write_text(settings(), choices.dump());
    const Rect shown = run();
    EXPECT_EQ(shown, (Rect{usual.x, usual.y, outside.width, outside.height}));
  }
}

TEST_F(WindowPlaceTest, TheSplitterCanBeDraggedAndStaysThere) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  Image<std::uint8_t> wide({800, 100});  // as wide as the room for it
  constexpr Bgr grey{100, 100, 100};
  for (int y = 0; y < 100; ++y) std::fill_n(wide.row(y), 800, grey.g);
  write_pgm(folder / "wide.pgm", wide);
  // Drags the splitter as often as it takes until it is there. The pointer rests before and after
  // each step, because Dear ImGui sees it once per frame.
  const auto drag = [&](const Desktop& desktop, int from, int to, auto is_there) {
    const std::string script = "xdotool windowfocus $window mousemove " + std::to_string(from) +
                               " 500 sleep 0.2 mousedown 1 sleep 0.2 mousemove " +
                               std::to_string(to) + " 500 sleep 0.2 mouseup 1 sleep 0.2";
    return eventually([&] { return display.act(script) && is_there(desktop.count(grey)); });
  };
  const auto run = [&](int from, int to, auto is_before, auto is_after) {
    const Running live = start_live({"wide.pgm"});
    Desktop desktop(display.name, "facesat");
    ASSERT_TRUE(desktop.is_there());
    EXPECT_TRUE(eventually([&] { return is_before(desktop.count(grey)); }));
    EXPECT_TRUE(drag(desktop, from, to, is_after));
    desktop.close();
    EXPECT_EQ(live.wait().status, 0);
  };
  const auto is_small = [](int pixels) { return pixels > 70'000 && pixels < 90'000; };
  const auto is_large = [](int pixels) { return pixels > 95'000; };
  run(374, 474, is_large, is_small);
  EXPECT_NEAR(remembered()["side_width"].get<double>(), (474 - 10) / 16.0, 1);
  run(474, 374, is_small, is_large);
}

}  // namespace
}  // namespace facesat::test
