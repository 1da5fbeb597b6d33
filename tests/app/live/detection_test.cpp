// The detection thread without a window: results, measurements, recordings, and runs of a number of
// frames.
#include "app/live/detection/detection.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <limits>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "app/live/detection/face_search.hpp"
#include "app/live/detection/inspection.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/image/atlas.hpp"
#include "support/errors.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using test::cpu_settings;
using test::eventually;
using test::next_result;
using test::result_of;
using test::result_with;
using test::write_text;

using DetectionTest = test::FaceTest;

TEST_F(DetectionTest, ChangedSettingsShowOnTheLastFrame) {
  Detection detection(cpu_settings());
  const LiveResult first = result_of(detection, face());
  EXPECT_EQ(first.faces.size(), 1u);
  EXPECT_EQ(first.backend, "CPU");
  EXPECT_GT(first.windows, 3u);
  EXPECT_GT(first.times[Step::evaluate], 0);

  LiveSettings raw = detection.settings();
  raw.detect.min_neighbors = 0;
  EXPECT_EQ(result_with(detection, raw).faces.size(), first.windows);

  raw.cascades = {"frontalface_default", "lbp:frontalface"};
  raw.detect.min_neighbors = 3;
  const LiveResult both = result_with(detection, raw);
  EXPECT_EQ(std::count_if(both.faces.begin(), both.faces.end(),
                          [](const Face& f) { return f.cascade == 0; }),
            1);
}

// A still picture is measured again while there is nothing else to do; every change of what is
// measured is another subject.
TEST_F(DetectionTest, StillPicturesAreMeasuredThirtyTimes) {
  Detection detection(cpu_settings());
  CapturedFrame still = face();
  still.kind = FrameSource::Kind::picture;
  still.source = 1;
  const auto wait_for_repeats = [&] {
    std::optional<Repeats> repeats;
    EXPECT_TRUE(eventually([&] { return (repeats = detection.take_repeats()).has_value(); }));
    return repeats ? std::move(*repeats) : Repeats{};
  };
  const LiveResult first = result_of(detection, still);
  EXPECT_TRUE(first.is_new);
  const Repeats repeats = wait_for_repeats();
  EXPECT_EQ(repeats.subject, first.subject);
  ASSERT_GT(repeats.measurements.size(), 0u);
  EXPECT_LT(repeats.measurements.size(), 30u);
  for (const Repeats::Measurement& one : repeats.measurements) {
    EXPECT_GT(one.detect_ms, 0);
    EXPECT_GT(one.times[Step::evaluate], 0);
  }

  LiveSettings finer = detection.settings();
  finer.detect.scale_factor = 1.05;
  const LiveResult again = result_with(detection, finer);
  EXPECT_FALSE(again.is_new);
  EXPECT_NE(again.subject, first.subject);
  EXPECT_EQ(wait_for_repeats().subject, again.subject);

  LiveSettings looked_into = finer;
  looked_into.inspection.picture = Snapshot::gray;
  EXPECT_EQ(result_with(detection, looked_into).subject,
            again.subject);  // the times stay comparable

  still.source = 2;
  EXPECT_NE(result_of(detection, still).subject, again.subject);
  // Of a video: its frames are one subject, measured once each
  const Subject video = result_of(detection, face()).subject;
  detection.take_repeats();
  EXPECT_EQ(result_of(detection, face()).subject, video);
  ASSERT_TRUE(eventually([&] { return detection.idle(); }));
  EXPECT_FALSE(detection.take_repeats());
}

TEST_F(DetectionTest, FurtherCascadesCanLookInsideFacesOnly) {
  LiveSettings chosen = cpu_settings({"frontalface_default", "lbp:frontalface"});
  chosen.detect.min_neighbors = 1;
  Detection detection(chosen);
  const LiveResult everywhere = result_of(detection, face());
  chosen.detect.inside_of = "frontalface_default";
  const LiveResult inside = result_with(detection, chosen);
  std::size_t parts = 0;
  for (const Face& part : inside.faces) {
    if (part.cascade == 0) continue;
    ++parts;
    EXPECT_TRUE(std::any_of(inside.faces.begin(), inside.faces.end(), [&](const Face& f) {
      const Rect &o = f.box, &p = part.box;
      return f.cascade == 0 && p.x >= o.x && p.y >= o.y && p.x + p.width <= o.x + o.width &&
             p.y + p.height <= o.y + o.height;
    }));
  }
  EXPECT_GT(parts, 0u);
  EXPECT_EQ(inside.faces.front().box, everywhere.faces.front().box);
}

TEST_F(DetectionTest, FacesWithNothingInsideAreLeftOutOnRequest) {
  LiveSettings chosen = cpu_settings({"frontalface_default", "fullbody"});
  chosen.detect.inside_of = "frontalface_default";
  Detection detection(chosen);
  EXPECT_EQ(result_of(detection, face()).faces.size(), 1u);
  chosen.detect.only_with_inner = true;
  EXPECT_TRUE(result_with(detection, chosen).faces.empty());
  chosen.unchoose("fullbody");
  chosen.choose("lbp:frontalface");
  chosen.detect.min_neighbors = 1;
  EXPECT_GE(result_with(detection, chosen).faces.size(), 2u);
}

TEST_F(DetectionTest, FailuresAreMessagesAndPass) {
  Detection detection(cpu_settings({"nose_ring"}));
  const LiveResult failed = result_of(detection, face());
  EXPECT_NE(failed.message.find("nose_ring"), std::string::npos);
  EXPECT_TRUE(failed.faces.empty());
  EXPECT_EQ(result_with(detection, cpu_settings()).faces.size(), 1u);
  LiveSettings wrong = cpu_settings();
  wrong.detect.scale_factor = 1;
  EXPECT_NE(result_with(detection, wrong).message.find("scale factor"), std::string::npos);
}

TEST_F(DetectionTest, NoExceptionEndsTheThread) {
  const std::string long_name = std::string(300, 'n') + ".xml";
  Detection detection(cpu_settings({long_name}));
  const LiveResult failed = result_of(detection, face());
  EXPECT_NE(failed.message.find(long_name), std::string::npos) << failed.message;
  EXPECT_EQ(result_with(detection, cpu_settings()).faces.size(), 1u);
  detection.record(path("strange.avi"), std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(result_of(detection, face()).faces.size(), 1u);
  EXPECT_NE(detection.recorder().failure().find("strange.avi: "), std::string::npos);
  EXPECT_EQ(result_of(detection, face()).faces.size(), 1u);
}

TEST_F(DetectionTest, AnExceptionOfOnResultIsAMessage) {
  std::atomic<int> calls = 0;
  Detection detection(cpu_settings(), [&] {
    if (++calls == 1) throw std::bad_alloc();
  });
  detection.put(face());
  ASSERT_TRUE(eventually([&] { return calls == 2; }));
  EXPECT_EQ(next_result(detection).message, "there is not enough memory");
  EXPECT_EQ(result_of(detection, face()).faces.size(), 1u);
}

TEST_F(DetectionTest, IntermediatePicturesAreShownInColours) {
  LiveSettings chosen = cpu_settings();
  Detection detection(chosen);
  const CapturedFrame frame = face();
  const LiveResult plain = result_of(detection, frame);
  EXPECT_FALSE(plain.view);
  EXPECT_GT(plain.level_count, 3);
  for (const Snapshot picture :
       {Snapshot::gray, Snapshot::level, Snapshot::sum, Snapshot::squared_sum, Snapshot::depth}) {
    chosen.inspection = {picture, 1};
    const LiveResult result = result_with(detection, chosen);
    ASSERT_TRUE(result.view);
    EXPECT_EQ(result.faces.size(), 1u);
    const View<const Bgr> view = result.view->colours.view();
    int different = 0;  // pixels that differ from the first one
    for (int y = 0; y < view.size.height; ++y)
      for (int x = 0; x < view.size.width; ++x) different += view.row(y)[x].g != view.row(0)[0].g;
    EXPECT_GT(different, 10) << static_cast<int>(picture);
  }
  chosen.inspection = {Snapshot::depth, 1000};  // shows the last level
  EXPECT_TRUE(result_with(detection, chosen).view);
}

TEST_F(DetectionTest, ResultsHaveTablesOfTheLevelOnRequest) {
  LiveSettings chosen = cpu_settings();
  Detection detection(chosen);
  EXPECT_FALSE(result_of(detection, face()).tables);
  chosen.inspection = {.level = 2, .explains = true};
  const LiveResult result = result_with(detection, chosen);
  ASSERT_TRUE(result.tables);
  EXPECT_EQ(result.tables->index(), 2);
  EXPECT_EQ(result.tables->cascade().name, "frontalface_default");
  EXPECT_FALSE(result.view);       // the frame is shown
  chosen.inspection.level = 1000;  // explains the last level
  EXPECT_EQ(result_with(detection, chosen).tables->index(), result.level_count - 1);
}

TEST_F(DetectionTest, ABoxChoosesTheLevelAndTheCascadeIsNamed) {
  LiveSettings chosen = cpu_settings({"eye", "frontalface_default"});
  Detection detection(chosen);
  const LiveResult before = result_of(detection, face());
  const auto found = std::find_if(before.faces.begin(), before.faces.end(), [&](const Face& f) {
    return f.cascade == chosen.colour_of("frontalface_default");
  });
  ASSERT_NE(found, before.faces.end());
  chosen.inspection = {.picture = Snapshot::depth,
                       .explains = true,
                       .box = found->box,
                       .cascade = "frontalface_default"};
  const LiveResult result = result_with(detection, chosen);
  ASSERT_TRUE(result.tables && result.like_box && result.view);
  EXPECT_EQ(result.tables->cascade().name, "frontalface_default");
  EXPECT_EQ(result.tables->index(), result.like_box->level);
  EXPECT_EQ(result.view->shown.level, result.like_box->level);
  EXPECT_EQ(result.like_box->merged.size(), static_cast<std::size_t>(found->neighbors));
  chosen.inspection.cascade = "not in use";
  EXPECT_EQ(result_with(detection, chosen).tables->cascade().name, "eye");
}

// The first cascade searches only inside the faces of another one.
TEST_F(DetectionTest, WhatIsShownBelongsToTheWholeFrame) {
  LiveSettings chosen = cpu_settings({"eye", "frontalface_default"});
  chosen.detect.inside_of = "frontalface_default";
  chosen.inspection = {.picture = Snapshot::gray, .explains = true};
  Detection detection(chosen);
  const CapturedFrame frame = face();
  const LiveResult result = result_of(detection, frame);
  ASSERT_TRUE(result.view);
  EXPECT_EQ(result.view->values.size(), frame.picture.pixels.size);
  ASSERT_TRUE(result.tables);
  EXPECT_EQ(result.tables->across(), 1);
}

TEST_F(DetectionTest, TheAtlasHoldsEveryLevelInItsPlace) {
  const CapturedFrame frame = face();
  FrameDetector detector(find_cascade("frontalface_default"), {}, make_cpu_backend());
  detector.detect(frame.picture.pixels);
  for (const Snapshot picture : {Snapshot::level, Snapshot::depth}) {
    const InspectedPicture atlas = inspect(detector, {picture, 0, true});
    const gpu::AtlasPlan plan = gpu::plan_atlas(detector.pyramid());
    ASSERT_EQ(atlas.values.size(), plan.largest());
    ASSERT_EQ(atlas.colours.size(), plan.largest());
    const gpu::AtlasPlan::Place place = plan.places[2];
    const InspectedPicture alone = inspect(detector, {picture, 2, false});
    ASSERT_EQ(alone.values.size(), detector.pyramid().levels[2].size);
    for (int y = 0; y < alone.values.size().height; ++y)
      for (int x = 0; x < alone.values.size().width; ++x) {
        ASSERT_EQ(atlas.values.row(place.y + y)[place.x + x], alone.values.row(y)[x]);
        ASSERT_EQ(atlas.colours.row(place.y + y)[place.x + x].g, alone.colours.row(y)[x].g);
      }
  }
}

TEST(CopySpeed, FloorsAreBytesOverSpeed) {
  const Pyramid pyramid = plan_pyramid({100, 50}, {24, 24}, {});
  double levels = 0;
  for (const Level& level : pyramid.levels) levels += static_cast<double>(level.size.area());
  const StepBytes bytes = least_bytes(pyramid, FeatureKind::haar, true);
  const auto of = [&](Step step) { return bytes[static_cast<std::size_t>(step)]; };
  EXPECT_EQ(of(Step::upload), 3 * 5000);
  EXPECT_EQ(of(Step::gray), 4 * 5000);
  EXPECT_EQ(of(Step::resize), 5000 + levels);
  EXPECT_EQ(of(Step::sat), 9 * levels);
  EXPECT_EQ(of(Step::group), 0);
  EXPECT_EQ(least_bytes(pyramid, FeatureKind::haar, false)[static_cast<std::size_t>(Step::upload)],
            0);
  EXPECT_EQ(least_bytes(pyramid, FeatureKind::lbp, true)[static_cast<std::size_t>(Step::sat)],
            5 * levels);
  const StepTimes floors = step_floors(bytes, {2e9, 0});
  EXPECT_DOUBLE_EQ(floors[Step::gray], 0.01);  // 20 kB at 2 GB/s
  EXPECT_EQ(floors[Step::upload], 0);          // unknown
  EXPECT_GT(host_copy_speed().memory, 0);
}

TEST_F(DetectionTest, VideosAreRecordedWithTheirBoxes) {
  Detection detection(cpu_settings());
  detection.record(path("video.avi"), 10);
  for (int i = 0; i < 3; ++i) {
    result_of(detection, face());
  }
  detection.record("", 10);
  const auto video = open_source(path("video.avi"));
  EXPECT_NEAR(video->length(), 0.3, 1e-9);
  const std::optional<Frame> first = video->next();
  ASSERT_TRUE(first);
  const View<const Bgr> frame = first->picture.pixels;
  int green = 0;
  for (int y = 0; y < frame.size.height; ++y)
    for (int x = 0; x < frame.size.width; ++x) green += frame.row(y)[x].g > frame.row(y)[x].r + 80;
  EXPECT_GT(green, 100);
  EXPECT_EQ(detection.recorder().failure(), "");
  detection.record(path("no/such/folder/video.avi"), 10);
  result_of(detection, face());
  EXPECT_NE(detection.recorder().failure().find("cannot be written"), std::string::npos);
}

// Detection may have skipped frames of the source; the recording lasts as long as what it shows.
TEST_F(DetectionTest, ARecordingHasTheRateAndLengthOfItsSource) {
  Detection detection(cpu_settings());
  detection.record(path("r.avi"));
  CapturedFrame frame = face();
  frame.rate = 50;
  for (const double seconds :
       {7.0, 7.02, 7.1, 7.12}) {  // the frames at 7.04, 7.06, 7.08 are missing
    frame.seconds = seconds;
    result_of(detection, frame);
  }
  frame.seconds = 1;  // the user goes back
  result_of(detection, frame);
  frame.seconds = 1000;  // and far ahead
  result_of(detection, frame);
  detection.record("");
  EXPECT_EQ(detection.recorder().failure(), "");
  const auto video = open_source(path("r.avi"));
  EXPECT_NEAR(video->step(), 0.02, 1e-9);
  EXPECT_NEAR(video->length(), (7 + 1 + 50 + 1) * 0.02, 1e-9);
}

TEST_F(DetectionTest, ARecordingThatIsNotWholeIsAFailure) {
  Detection detection(cpu_settings());
  const auto add_frame = [&] { result_of(detection, face()); };
  for (const std::string name : {"a.avi", "b.mp4"}) {
    detection.record(path(name), 10);
    add_frame();
    std::filesystem::remove(path(name));
    EXPECT_EQ(detection.recorder().failure(), "");
    add_frame();  // in the middle
    EXPECT_NE(detection.recorder().failure().find(name + ": the file was deleted"),
              std::string::npos);
    detection.record(path(name), 10);
    EXPECT_EQ(detection.recorder().failure(), "");
    add_frame();
    write_text(path("new"), "");
    std::filesystem::rename(path("new"), path(name));
    detection.record("", 10);  // at the end
    EXPECT_NE(detection.recorder().failure().find(name + ": the file was deleted or replaced"),
              std::string::npos);
  }
  for (const std::string name : {"c.avi", "d.mp4", "e.mkv", "f.mov", "12:30.avi"}) {
    detection.record(path(name), 23.7);
    for (int i = 0; i < 5; ++i) add_frame();
    detection.record("", 10);
    EXPECT_EQ(detection.recorder().failure(), "") << name;
    EXPECT_TRUE(open_source(path(name))->next()) << name;
  }
}

TEST_F(DetectionTest, FramesOfAnotherSizeAreLeftOutOfARecording) {
  Detection detection(cpu_settings());
  detection.record(path("r.avi"), 10);
  result_of(detection, face());
  test::write_pgm(folder / "other.pgm", test::draw_faces({60, 40}, {}));
  result_of(detection, test::first_frame(path("other.pgm")));
  detection.record("", 10);
  EXPECT_NE(detection.recorder().remark().find("r.avi: frames of another size"), std::string::npos);
  EXPECT_EQ(detection.recorder().failure(), "");
  EXPECT_NEAR(open_source(path("r.avi"))->length(), 0.1, 1e-9);
}

class FrameLimitTest : public test::FaceTest {
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
  const CapturedFrame frame = face();
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
  CapturedFrame frame = face();
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
