// The threads of the window, tested without one: detection and recording.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>
#include <thread>

#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>
#include <unistd.h>

#include "app/live/detection/copy_speed.hpp"
#include "app/live/detection/detection.hpp"
#include "app/live/detection/inspection.hpp"
#include "app/live/gui/picture_view.hpp"
#include "app/live/threads.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/image/atlas.hpp"
#include "support/errors.hpp"
#include "tests/app/live/live_kit.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using facesat::test::cpu_settings;
using facesat::test::eventually;
using facesat::test::next_result;
using facesat::test::write_text;

TEST(Mailbox, KeepsTheNewest) {
  Mailbox<int> box;
  EXPECT_FALSE(box.take());
  box.put(1);
  box.put(2);
  EXPECT_EQ(box.take(), 2);
  EXPECT_FALSE(box.take());
}

TEST(GuardedThread, ContinuesAfterAnyException) {
  std::mutex mutex;
  std::vector<std::string> reasons;
  std::atomic<int> steps = 0;
  const GuardedThread thread(
      [&](const std::stop_token&) {
        switch (++steps) {
          case 1:
            throw UsageError("a sentence");
          case 2:
            throw std::bad_alloc();
          case 3:
            throw 3;
          case 4:
            throw std::filesystem::filesystem_error("status", std::make_error_code(std::errc(2)));
          default:
            std::this_thread::sleep_for(1ms);
        }
      },
      [&](const std::string& reason) {
        const std::scoped_lock lock(mutex);
        reasons.push_back(reason);
        throw std::bad_alloc();  // not even this ends the thread
      });
  EXPECT_TRUE(eventually([&] { return steps > 5; }));
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(reasons.size(), 4u);
  EXPECT_EQ(reasons[0], "a sentence");
  EXPECT_EQ(reasons[1], "there is not enough memory");
  EXPECT_EQ(reasons[2], "an error of unknown kind");
  EXPECT_NE(reasons[3].find("status"), std::string::npos);
}

TEST(Shrink, FactorsAreWholeAndJustEnough) {
  EXPECT_EQ(shrink_factor({0, 0}, 100), 1);
  EXPECT_EQ(shrink_factor({100, 1}, 100), 1);
  EXPECT_EQ(shrink_factor({101, 1}, 100), 2);
  EXPECT_EQ(shrink_factor({7, 200}, 100), 2);
  EXPECT_EQ(shrink_factor({7, 201}, 100), 3);
}

TEST(Shrink, PixelsAreMeansOfWhatIsThere) {
  Image<Bgr> picture({5, 3});
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x)
      picture.row(y)[x] = {static_cast<std::uint8_t>(10 * x), static_cast<std::uint8_t>(100 * y),
                           static_cast<std::uint8_t>(255)};
  const Image<Bgr> half = shrink(picture.view(), 2);
  ASSERT_EQ(half.size(), (Size{3, 2}));
  EXPECT_EQ(half.row(0)[0].b, 5);
  EXPECT_EQ(half.row(0)[1].b, 25);
  EXPECT_EQ(half.row(0)[2].b, 40);  // one column is left
  EXPECT_EQ(half.row(0)[2].g, 50);
  EXPECT_EQ(half.row(1)[0].g, 200);  // one row is left
  EXPECT_EQ(half.row(1)[2].r, 255);
}

class DetectionTest : public test::ProgramTest {
 protected:
  CapturedFrame face() const {
    add_face("face.pgm");
    return {*open_source(path("face.pgm"))->next()};
  }
};

TEST_F(DetectionTest, ChangedSettingsShowOnTheLastFrame) {
  Detection detection(cpu_settings());
  detection.put(face());
  const LiveResult first = next_result(detection);
  EXPECT_EQ(first.faces.size(), 1u);
  EXPECT_EQ(first.backend, "CPU");
  EXPECT_GT(first.windows, 3u);
  EXPECT_GT(first.times[Step::evaluate], 0);

  LiveSettings raw = detection.settings();
  raw.detect.min_neighbors = 0;
  detection.set(raw);
  EXPECT_EQ(next_result(detection).faces.size(), first.windows);

  raw.cascades = {"frontalface_default", "lbp:frontalface"};
  raw.detect.min_neighbors = 3;
  detection.set(raw);
  const LiveResult both = next_result(detection);
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
  detection.put(still);
  const LiveResult first = next_result(detection);
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
  detection.set(finer);
  const LiveResult again = next_result(detection);
  EXPECT_FALSE(again.is_new);
  EXPECT_NE(again.subject, first.subject);
  EXPECT_EQ(wait_for_repeats().subject, again.subject);

  LiveSettings looked_into = finer;
  looked_into.inspection.picture = Snapshot::gray;
  detection.set(looked_into);
  EXPECT_EQ(next_result(detection).subject, again.subject);  // the times stay comparable

  still.source = 2;
  detection.put(still);
  EXPECT_NE(next_result(detection).subject, again.subject);
  detection.put(face());  // of a video: its frames are one subject, measured once each
  const Subject video = next_result(detection).subject;
  detection.take_repeats();
  detection.put(face());
  EXPECT_EQ(next_result(detection).subject, video);
  ASSERT_TRUE(eventually([&] { return detection.idle(); }));
  EXPECT_FALSE(detection.take_repeats());
}

TEST_F(DetectionTest, FurtherCascadesCanLookInsideFacesOnly) {
  LiveSettings chosen = cpu_settings({"frontalface_default", "lbp:frontalface"});
  chosen.detect.min_neighbors = 1;
  Detection detection(chosen);
  detection.put(face());
  const LiveResult everywhere = next_result(detection);
  chosen.inside_of = "frontalface_default";
  detection.set(chosen);
  const LiveResult inside = next_result(detection);
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

TEST_F(DetectionTest, FailuresAreMessagesAndPass) {
  Detection detection(cpu_settings({"nose_ring"}));
  detection.put(face());
  const LiveResult failed = next_result(detection);
  EXPECT_NE(failed.message.find("nose_ring"), std::string::npos);
  EXPECT_TRUE(failed.faces.empty());
  detection.set(cpu_settings());
  EXPECT_EQ(next_result(detection).faces.size(), 1u);
  LiveSettings wrong = cpu_settings();
  wrong.detect.scale_factor = 1;
  detection.set(wrong);
  EXPECT_NE(next_result(detection).message.find("scale factor"), std::string::npos);
}

TEST_F(DetectionTest, NoExceptionEndsTheThread) {
  const std::string long_name = std::string(300, 'n') + ".xml";
  Detection detection(cpu_settings({long_name}));
  detection.put(face());
  const LiveResult failed = next_result(detection);
  EXPECT_NE(failed.message.find(long_name), std::string::npos) << failed.message;
  detection.set(cpu_settings());
  EXPECT_EQ(next_result(detection).faces.size(), 1u);
  detection.record(path("strange.avi"), std::numeric_limits<double>::quiet_NaN());
  detection.put(face());
  EXPECT_EQ(next_result(detection).faces.size(), 1u);
  EXPECT_NE(detection.recorder().failure().find("strange.avi: "), std::string::npos);
  detection.put(face());
  EXPECT_EQ(next_result(detection).faces.size(), 1u);
}

TEST_F(DetectionTest, AnExceptionOfOnResultIsAMessage) {
  std::atomic<int> calls = 0;
  Detection detection(cpu_settings(), [&] {
    if (++calls == 1) throw std::bad_alloc();
  });
  detection.put(face());
  ASSERT_TRUE(eventually([&] { return calls == 2; }));
  EXPECT_EQ(next_result(detection).message, "there is not enough memory");
  detection.put(face());
  EXPECT_EQ(next_result(detection).faces.size(), 1u);
}

TEST_F(DetectionTest, IntermediatePicturesAreShownInColours) {
  LiveSettings chosen = cpu_settings();
  Detection detection(chosen);
  const CapturedFrame frame = face();
  detection.put(frame);
  const LiveResult plain = next_result(detection);
  EXPECT_FALSE(plain.view);
  EXPECT_GT(plain.level_count, 3);
  for (const Snapshot picture :
       {Snapshot::gray, Snapshot::level, Snapshot::sum, Snapshot::squared_sum, Snapshot::depth}) {
    chosen.inspection = {picture, 1};
    detection.set(chosen);
    const LiveResult result = next_result(detection);
    ASSERT_TRUE(result.view);
    EXPECT_EQ(result.faces.size(), 1u);
    const View<const Bgr> view = result.view->colours.view();
    int different = 0;  // pixels that differ from the first one
    for (int y = 0; y < view.size.height; ++y)
      for (int x = 0; x < view.size.width; ++x) different += view.row(y)[x].g != view.row(0)[0].g;
    EXPECT_GT(different, 10) << static_cast<int>(picture);
  }
  chosen.inspection = {Snapshot::depth, 1000};  // shows the last level
  detection.set(chosen);
  EXPECT_TRUE(next_result(detection).view);
}

TEST_F(DetectionTest, ResultsHaveTablesOfTheLevelOnRequest) {
  LiveSettings chosen = cpu_settings();
  Detection detection(chosen);
  detection.put(face());
  EXPECT_FALSE(next_result(detection).tables);
  chosen.inspection = {.level = 2, .explains = true};
  detection.set(chosen);
  const LiveResult result = next_result(detection);
  ASSERT_TRUE(result.tables);
  EXPECT_EQ(result.tables->index(), 2);
  EXPECT_EQ(result.tables->cascade().name, "frontalface_default");
  EXPECT_FALSE(result.view);       // the frame is shown
  chosen.inspection.level = 1000;  // explains the last level
  detection.set(chosen);
  EXPECT_EQ(next_result(detection).tables->index(), result.level_count - 1);
}

// The first cascade searches only inside the faces of another one.
TEST_F(DetectionTest, WhatIsShownBelongsToTheWholeFrame) {
  LiveSettings chosen = cpu_settings({"eye", "frontalface_default"});
  chosen.inside_of = "frontalface_default";
  chosen.inspection = {.picture = Snapshot::gray, .explains = true};
  Detection detection(chosen);
  const CapturedFrame frame = face();
  detection.put(frame);
  const LiveResult result = next_result(detection);
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
    detection.put(face());
    next_result(detection);
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
  detection.put(face());
  next_result(detection);
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
    detection.put(frame);
    next_result(detection);
  }
  frame.seconds = 1;  // the user goes back
  detection.put(frame);
  next_result(detection);
  frame.seconds = 1000;  // and far ahead
  detection.put(frame);
  next_result(detection);
  detection.record("");
  EXPECT_EQ(detection.recorder().failure(), "");
  const auto video = open_source(path("r.avi"));
  EXPECT_NEAR(video->step(), 0.02, 1e-9);
  EXPECT_NEAR(video->length(), (7 + 1 + 50 + 1) * 0.02, 1e-9);
}

TEST_F(DetectionTest, ARecordingThatIsNotWholeIsAFailure) {
  Detection detection(cpu_settings());
  const auto add_frame = [&] {
    detection.put(face());
    next_result(detection);
  };
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
  detection.put(face());
  next_result(detection);
  test::write_pgm(folder / "other.pgm", test::draw_faces({60, 40}, {}));
  detection.put({*open_source(path("other.pgm"))->next()});
  next_result(detection);
  detection.record("", 10);
  EXPECT_NE(detection.recorder().remark().find("r.avi: frames of another size"), std::string::npos);
  EXPECT_EQ(detection.recorder().failure(), "");
  EXPECT_NEAR(open_source(path("r.avi"))->length(), 0.1, 1e-9);
}

}  // namespace
}  // namespace facesat::app
