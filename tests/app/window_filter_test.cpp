// The filtered image in the real window.
#include "tests/app/window_test.hpp"

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
  const auto show = [&](const char* keys, const std::string& shot) {
    const Running live = start_live({"square.pgm", "--screenshot", shot});
    const Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.shows({255, 255, 255}, most_of_a_picture));
    EXPECT_TRUE(press(keys));
    EXPECT_EQ(live.wait().status, 0);
  };
  // At the edge of the square, the box with radius 20 is half white.
  constexpr Bgr half{124, 124, 124};
  show("ctrl+q", "frame.png");
  set("radius", "20");
  show("v ctrl+q", "box.png");
  set("kind", "\"adaptive-threshold\"");
  set("offset", "-1");
  show("v ctrl+q", "threshold.png");
  show("v v ctrl+q", "frame_again.png");
  EXPECT_LT(pixels_of_colour("frame.png", half), 100);
  EXPECT_GT(pixels_of_colour("box.png", half), 100);
  // Dark with a white frame inside of the square's edges: its interior is as bright as the mean.
  constexpr Bgr white{255, 255, 255};
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
