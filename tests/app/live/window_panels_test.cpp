// The chart of times in the real window, with a video that is paused by a click on it; and the
// filtered image.
#include <algorithm>
#include <thread>
#include <vector>

#include "tests/app/live/window_test.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

using namespace std::chrono_literals;

constexpr int column = 290;  // x coordinate in the right half of the chart

bool is_step(const cv::Vec3b& pixel) {
  return std::any_of(std::begin(step_colours), std::end(step_colours),
                     [&](Bgr colour) { return pixel == cv::Vec3b(colour.b, colour.g, colour.r); });
}

// The lowest row in which some of the columns [first, last) of the window have the colour of a
// step: more than one, because the columns of the chart have gaps. Above the chart is the bar of
// the steps. 0: there is no bar, or nothing in the chart.
int chart_bottom(const cv::Mat& shot, int first = column, int last = column + 4) {
  constexpr int bar_height = 24;
  int top = 0, bottom = 0;
  for (int y = 0; y < shot.rows; ++y)
    for (int x = first; x < last; ++x) {
      if (!is_step(shot.at<cv::Vec3b>(y, x))) continue;
      if (top == 0) top = y;
      bottom = y;
    }
  return bottom > top + bar_height ? bottom : 0;
}

class WindowChartTest : public WindowTest {
 protected:
  // The lower end of the chart in a screenshot that is taken now; 0 if the column is not there yet.
  int find_chart() const {
    EXPECT_TRUE(press("ctrl+s"));
    int bottom = 0;
    for (const std::string& name : files_below("."))
      if (name.starts_with("facesat-"))
        bottom = std::max(bottom, chart_bottom(cv::imread(path(name))));
    return bottom;
  }
  bool click(int x, int y) const {
    return display.act("xdotool mousemove " + std::to_string(x) + " " + std::to_string(y) +
                       " click 1");
  }
  // The colours of all frames of the video.
  std::vector<Bgr> frames_of(const std::string& video) const {
    std::vector<Bgr> colours;
    cv::VideoCapture capture(path(video));
    for (cv::Mat frame; capture.read(frame);) {
      const auto pixel = frame.at<cv::Vec3b>(0, 0);
      colours.push_back({pixel[0], pixel[1], pixel[2]});
    }
    return colours;
  }
};

TEST_F(WindowChartTest, AClickPausesAtTheFrameAndKeepsTheHistory) {
  write_video(path("f.avi"), 30);
  const std::vector<Bgr> frames = frames_of("f.avi");
  const Running live = start_live({"f.avi", "--screenshot", "end.png"});
  const Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  int bottom = 0;
  ASSERT_TRUE(eventually([&] { return (bottom = find_chart()) > 0; }));
  EXPECT_TRUE(click(column, bottom));
  const auto shows = [&](Bgr frame) { return desktop.count(frame) > most_of_a_picture; };
  auto shown = frames.end();
  ASSERT_TRUE(eventually([&] {
    shown = std::find_if(frames.begin(), frames.end(), shows);
    if (shown == frames.end()) return false;
    // While the video plays, one frame is not shown ten times in a row.
    for (int i = 0; i < 10; ++i) {
      std::this_thread::sleep_for(50ms);
      if (!shows(*shown)) return false;
    }
    return true;
  }));
  // It is paused: only further clicks, on other columns, show other frames.
  int clicks = 0;
  EXPECT_TRUE(eventually([&] {
    EXPECT_TRUE(click(column + 5 * (++clicks % 12), bottom));
    return !shows(*shown);
  }));
  EXPECT_TRUE(press("ctrl+q"));
  EXPECT_EQ(live.wait().status, 0);
  // Anywhere in the chart: on a busy machine, a few slow frames make the others too low to be seen.
  EXPECT_GT(chart_bottom(cv::imread(path("end.png")), 40, 350), 0);
}

class WindowExplanationTest : public WindowTest {};

TEST_F(WindowExplanationTest, AClickOnAFaceExplainsItUntilEsc) {
  add_face("face.pgm");
  constexpr Bgr subtracted{215, 120, 30};  // the rectangles of a feature, in the panel
  constexpr int swatch = 50;               // pixels
  use_live_until("ctrl+q", {"face.pgm"}, [&](Desktop& desktop) {
    EXPECT_TRUE(desktop.shows(box_colour, 100));
    EXPECT_EQ(desktop.count(subtracted), 0);
    EXPECT_TRUE(display.act("xdotool windowfocus $window mousemove 800 330 click 1"));
    EXPECT_TRUE(eventually([&] { return desktop.count(subtracted) > swatch; }));
    EXPECT_TRUE(press("Escape"));
    EXPECT_TRUE(eventually([&] { return desktop.count(subtracted) == 0; }));
  });
}

class WindowCompareTest : public WindowTest {};

TEST_F(WindowCompareTest, APinnedPictureStandsBesideWhatFollowsAndTheLineMoves) {
  add_grey("p/a.pgm", first_grey.g);
  add_grey("p/b.pgm", second_grey.g);
  use_live_until("ctrl+q", {"p"}, [&](Desktop& desktop) {
    const auto shows = [&](Bgr grey) { return desktop.count(grey) > most_of_a_picture; };
    EXPECT_TRUE(desktop.shows(first_grey, most_of_a_picture));
    EXPECT_TRUE(press("c"));
    EXPECT_TRUE(press("Page_Down"));
    EXPECT_TRUE(eventually([&] { return shows(first_grey) && shows(second_grey); }));
    const int before = desktop.count(first_grey);
    // The line is in the middle of the view, which ends at the right edge of the window.
    EXPECT_TRUE(display.act(
        "xdotool mousemove 824 200 mousedown 1 mousemove 760 200 mousemove 700 200 mouseup 1"));
    EXPECT_TRUE(eventually([&] { return desktop.count(first_grey) < before * 3 / 4; }));
    EXPECT_TRUE(press("c"));
    EXPECT_TRUE(eventually([&] { return !shows(first_grey) && shows(second_grey); }));
  });
}

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
  // A white square on black; the mean of a large window is grey at its edges.
  write_pgm("square.pgm", formula<std::uint8_t>({200, 200}, [](int x, int y) {
              return x >= 50 && x < 150 && y >= 50 && y < 150 ? 255 : 0;
            }));
  constexpr Bgr white{255, 255, 255};
  // Presses V once for each condition, and waits until what the desktop shows meets it; `before` is
  // the number of white pixels of the frame.
  using Condition = std::function<bool(const Desktop& desktop, int before)>;
  const auto show = [&](const std::string& shot, const std::vector<Condition>& conditions) {
    use_live_until("ctrl+q", {"square.pgm", "--screenshot", shot}, [&](Desktop& desktop) {
      EXPECT_TRUE(desktop.shows(white, most_of_a_picture));
      const int before = desktop.count(white);
      for (const Condition& meets : conditions) {
        EXPECT_TRUE(press("v"));
        EXPECT_TRUE(eventually([&] { return meets(desktop, before); }));
      }
    });
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
  add_face("face.pgm");
  const Arguments arguments{"face.pgm", "--screenshot", "shot.png", "--times", "t.csv"};
  use_live_until("ctrl+q", arguments, [&](Desktop& desktop) {
    EXPECT_TRUE(desktop.shows(box_colour, 200));
    constexpr Bgr skin{205, 205, 205};  // of the drawn face; blurred, little of it is left
    EXPECT_TRUE(desktop.shows(skin, 20000));
    EXPECT_TRUE(press("v"));
    EXPECT_TRUE(eventually([&] { return desktop.count(skin) < 10000; }));
    EXPECT_TRUE(desktop.shows(box_colour, 200));
  });
  EXPECT_GT(box_pixels("shot.png"), 200);
  EXPECT_NE(read_text("t.csv").find(",filter_ms,"), std::string::npos);
}

}  // namespace
}  // namespace facesat::test
