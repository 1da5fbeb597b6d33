// The filtered image in the real window.
#include "tests/app/live/window_test.hpp"

namespace facesat::test {
namespace {

class WindowFilterTest : public WindowTest {
 protected:
  // What the window remembers, with another value of this entry.
  void set(const std::string& entry, const std::string& value) const {
    const std::filesystem::path file = folder / "config/facesat/live.json";
    auto json = nlohmann::ordered_json::parse(read_text(file));
    json["filter"][entry] = nlohmann::ordered_json::parse(value);
    write_text(file, json.dump());
  }
};

TEST_F(WindowFilterTest, AKeyShowsTheFilterThatIsRemembered) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  // A white square on black; the mean of a large window is grey at its edges.
  Image<std::uint8_t> square({200, 200});
  for (int y = 0; y < 200; ++y)
    for (int x = 0; x < 200; ++x)
      square.row(y)[x] = x >= 50 && x < 150 && y >= 50 && y < 150 ? 255 : 0;
  write_pgm(folder / "square.pgm", square);
  constexpr Bgr white{255, 255, 255};
  // Presses V once for each condition, and waits until what the desktop shows meets it; `before` is
  // the number of white pixels of the frame.
  using Condition = std::function<bool(const Desktop& desktop, int before)>;
  const auto show = [&](const std::string& shot, const std::vector<Condition>& conditions) {
    const Running live = start_live({"square.pgm", "--screenshot", shot});
    const Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.shows(white, most_of_a_picture));
    const int before = desktop.count(white);
    for (const Condition& meets : conditions) {
      EXPECT_TRUE(press("v"));
      EXPECT_TRUE(eventually([&] { return meets(desktop, before); }));
    }
    EXPECT_TRUE(press("ctrl+q"));
    EXPECT_EQ(live.wait().status, 0);
  };
  // At the edge of the square, the box with radius 20 is half white.
  constexpr Bgr half{124, 124, 124};
  const Condition has_half = [&](const Desktop& desktop, int) { return desktop.count(half) > 100; };
  // A dark square with a white frame: its interior is as bright as the mean.
  const Condition is_dark = [&](const Desktop& desktop, int before) {
    return desktop.count(white) < before - 10000;
  };
  const Condition is_bright = [&](const Desktop& desktop, int before) {
    return desktop.count(white) > before - 5000;
  };
  show("frame.png", {});
  set("radius", "20");
  show("box.png", {has_half});
  set("kind", "\"adaptive-threshold\"");
  set("offset", "-1");
  show("threshold.png", {is_dark});
  show("frame_again.png", {is_dark, is_bright});
  EXPECT_LT(pixels_of_colour("frame.png", half), 100);
  EXPECT_GT(pixels_of_colour("box.png", half), 100);
  EXPECT_LT(pixels_of_colour("threshold.png", white), pixels_of_colour("frame.png", white) - 10000);
  EXPECT_EQ(pixels_of_colour("frame_again.png", white), pixels_of_colour("frame.png", white));
}

TEST_F(WindowFilterTest, FacesAreDrawnOverTheFilteredImage) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  add_face("face.pgm");
  const Running live = start_live({"face.pgm", "--screenshot", "shot.png", "--times", "t.csv"});
  const Desktop desktop(display.name, "facesat");
  EXPECT_TRUE(desktop.shows(box_colour, 200));
  EXPECT_TRUE(press("v"));
  EXPECT_TRUE(eventually([&] {
    // The colour of the filter's first step, in the bar, the chart and the table of times.
    return desktop.count({225, 95, 150}) > 20;
  }));
  EXPECT_TRUE(desktop.shows(box_colour, 200));
  EXPECT_TRUE(press("ctrl+q"));
  EXPECT_EQ(live.wait().status, 0);
  EXPECT_GT(box_pixels("shot.png"), 200);
  EXPECT_NE(read_text(folder / "t.csv").find(",filter_ms,"), std::string::npos);
}

}  // namespace
}  // namespace facesat::test
