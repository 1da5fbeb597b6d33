// The bar below the picture, its marks, and short messages.
#include <cmath>

#include "app/live/gui/toasts.hpp"
#include "app/live/panels/player_bar.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using test::eventually;
using test::PanelTest;

TEST_F(PanelTest, TheBarStepsThroughAFolder) {
  add_face("p/a.pgm");
  add_face("p/b.pgm", 1);
  Capture capture([](const Frame&) {});
  const auto draw = [&] { draw_player_bar(capture, capture.state(), FaceMarks()); };
  frame(draw);  // nothing is open yet
  capture.open({path("p")});
  const auto shows = [&](const std::string& name) {
    return eventually([&] { return capture.state().title == name; });
  };
  ASSERT_TRUE(shows("a.pgm"));
  press("##next", draw);
  EXPECT_TRUE(shows("b.pgm"));
  press("##previous", draw);
  EXPECT_TRUE(shows("a.pgm"));
  type("##position", "2", draw);  // pictures are counted from 1
  EXPECT_TRUE(shows("b.pgm"));
  type("##slides", "0.5", draw);
  EXPECT_NEAR(capture.state().slide_seconds, 0.5, 1e-6);
  press("##play", draw);
  EXPECT_TRUE(shows("a.pgm"));
}

TEST_F(PanelTest, TheBarPlaysAndSeeksInAVideo) {
  test::write_video(path("f.avi"), 30);
  Capture capture([](const Frame&) {});
  const auto draw = [&] { draw_player_bar(capture, capture.state(), FaceMarks()); };
  capture.open({path("f.avi")});
  ASSERT_TRUE(eventually([&] { return capture.state().title == path("f.avi"); }));
  press("##play", draw);
  EXPECT_FALSE(capture.state().playing);
  const auto is_at = [&](double seconds) {
    return eventually([&] { return std::abs(capture.state().position - seconds) < 1e-6; });
  };
  type("##position", "0.44", draw);  // seconds: frame 22 of 30
  EXPECT_TRUE(is_at(0.44)) << capture.state().position;
  press("##back", draw);
  EXPECT_TRUE(is_at(0.42));
  press("##forward", draw);
  EXPECT_TRUE(is_at(0.44));
  type("##speed", "2.5", draw);
  EXPECT_NEAR(capture.state().speed, 2.5, 1e-6);
  press("loop", draw);  // off, so that the video ends
  press("##play", draw);
  EXPECT_TRUE(eventually([&] { return capture.state().message == Capture::ended; }));
}

TEST(PlayerBar, TimesAreWrittenAsOnAClock) {
  EXPECT_EQ(clock_time(0), "0:00.00");
  EXPECT_EQ(clock_time(63.204), "1:03.20");
  EXPECT_EQ(clock_time(59.999), "1:00.00");
  EXPECT_EQ(clock_time(3723.5), "1:02:03.50");
}

TEST(Toasts, GoAfterSomeSecondsButWarningsStay) {
  Toasts toasts;
  toasts.say("a");
  toasts.warn("b");
  toasts.say("a");  // not twice
  const auto now = Toasts::Clock::now();
  EXPECT_EQ(toasts.shown(now).size(), 2u);
  EXPECT_EQ(toasts.shown(now + Toasts::lifetime + std::chrono::seconds(1)).size(), 1u);
  for (int i = 0; i < 9; ++i) toasts.warn(std::to_string(i));
  EXPECT_EQ(toasts.shown(now).size(), Toasts::most);
  EXPECT_EQ(toasts.shown(now).back().text, "8");
}

TEST(Marks, AreOfOneSubjectAndShareTheirPlacesInLongVideos) {
  using Mark = FaceMarks::Mark;
  FaceMarks marks;
  marks.add({.source = 1, .settings = 0, .count = 4}, 2, true);
  EXPECT_EQ(marks.marks(),
            (std::vector<Mark>{Mark::unknown, Mark::unknown, Mark::faces, Mark::unknown}));
  marks.add({.source = 1, .settings = 0, .count = 4}, 2, false);  // it was played again
  EXPECT_EQ(marks.marks()[2], Mark::none);
  marks.add({.source = 1, .settings = 1, .count = 4}, 9, true);  // other settings; past the end
  EXPECT_EQ(marks.marks(),
            (std::vector<Mark>{Mark::unknown, Mark::unknown, Mark::unknown, Mark::faces}));
  const FaceMarks::Subject longer{.source = 2, .settings = 1, .count = 10 * FaceMarks::most};
  marks.add(longer, 11, true);
  marks.add(longer, 12, false);  // the same mark
  EXPECT_EQ(marks.marks()[1], Mark::faces);
  EXPECT_EQ(marks.marks().size(), FaceMarks::most);
  marks.add({.source = 3, .settings = 1, .count = 0}, 0, true);  // a camera
  EXPECT_TRUE(marks.marks().empty());
}

}  // namespace
}  // namespace facesat::app
