// Runs of a number of frames, without a window.
#include "app/live/detection/frame_limit.hpp"

#include <chrono>
#include <thread>

#include "tests/app/live/live_kit.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using facesat::test::eventually;
using facesat::test::write_text;

class FrameLimitTest : public test::ProgramTest {
 protected:
  // Draws as the window does until the limit is reached or out of reach.
  void draw_to_the_end(FrameLimit& limit) {
    LiveResult shown;
    bool is_over = false;
    EXPECT_TRUE(eventually([&] {
      std::optional<LiveResult> result = detection.take();
      if (result) shown = std::move(*result);
      limit.count(shown, result.has_value());
      if (limit.is_reached() || is_over) return true;
      is_over = limit.is_out_of_reach();
      return false;
    }));
    name = shown.frame.name;
  }

  Detection detection{test::cpu_settings()};
  Capture capture{[this](CapturedFrame frame) { detection.put(std::move(frame)); }};
  std::string name;  // of the frame shown last
};

// However many frames come, and however late results are taken.
TEST_F(FrameLimitTest, NoFrameIsProcessedThatIsNotTaken) {
  add_face("face.pgm");
  const CapturedFrame frame{*open_source(path("face.pgm"))->next()};
  detection.limit(3);
  detection.record(path("r.avi"), 10);
  for (int taken = 0; taken < 3; ++taken) {
    for (int i = 0; i < 5; ++i) {
      detection.put(frame);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(eventually([&] { return detection.take().has_value(); }));
  }
  detection.put(frame);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(detection.take());
  detection.record("");
  EXPECT_EQ(detection.recorder().failure(), "");
  EXPECT_NEAR(open_source(path("r.avi"))->length(), 0.3, 1e-9);
}

TEST_F(FrameLimitTest, FramesThatTheSourceSkippedAreNotInTheRecording) {
  add_face("face.pgm");
  CapturedFrame frame{*open_source(path("face.pgm"))->next()};
  frame.rate = 50;
  detection.limit(2);
  detection.record(path("r.avi"));
  for (const double seconds : {1.0, 1.4}) {
    frame.seconds = seconds;
    detection.put(frame);
    EXPECT_TRUE(eventually([&] { return detection.take().has_value(); }));
  }
  detection.record("");
  EXPECT_NEAR(open_source(path("r.avi"))->length(), 2 * 0.02, 1e-9);
}

TEST_F(FrameLimitTest, AVideoLoopsUntilItIsReached) {
  test::write_video(path("f.avi"), 10);
  FrameLimit limit(25, capture, detection);
  capture.open({path("f.avi")});
  draw_to_the_end(limit);
  EXPECT_TRUE(limit.is_reached());
  EXPECT_EQ(limit.status(), 0);
}

TEST_F(FrameLimitTest, WhatCannotBeReadAtTheBeginningIsPassedOver) {
  write_text(folder / "p/a.pgm", "broken");
  write_text(folder / "p/b.avi", "broken");
  add_face("p/c.pgm");
  FrameLimit limit(3, capture, detection);
  capture.open({path("p")});
  draw_to_the_end(limit);
  EXPECT_TRUE(limit.is_reached());
  EXPECT_EQ(name, "c.pgm");
  EXPECT_EQ(capture.unreadable().size(), 2u);
  EXPECT_EQ(limit.status(), 1);
}

TEST_F(FrameLimitTest, AListOfWhichNothingCanBeReadIsAMistake) {
  for (const char* broken : {"p/a.pgm", "p/b.avi", "p/c.pgm"}) write_text(folder / broken, "no");
  FrameLimit limit(3, capture, detection);
  capture.open({path("p")});
  draw_to_the_end(limit);
  EXPECT_FALSE(limit.is_reached());
  EXPECT_EQ(capture.unreadable().size(), 3u);
  EXPECT_EQ(limit.status(), 2);
}

}  // namespace
}  // namespace facesat::app
