// The threads behind the window, without one: sources, capture, detection, times.
#include <chrono>
#include <thread>

#include "cascades/cascade_store.hpp"
#include <gtest/gtest.h>

#include "app/errors.hpp"
#include "app/live/camera.hpp"
#include "app/live/capture.hpp"
#include "app/live/comparison.hpp"
#include "app/live/copy_speed.hpp"
#include "app/live/detection.hpp"
#include "app/live/history.hpp"
#include "app/live/inspection.hpp"
#include "app/live/settings_file.hpp"
#include "tests/app/film.hpp"
#include "tests/app/program.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using facesat::test::read_text;
using facesat::test::write_text;

// Waits until `done`, at most ten seconds.
template <class Done>
bool eventually(Done done) {
  for (int i = 0; i < 2000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

TEST(Mailbox, KeepsTheNewest) {
  Mailbox<int> box;
  EXPECT_FALSE(box.take());
  box.put(1);
  box.put(2);
  EXPECT_EQ(box.take(), 2);
  EXPECT_FALSE(box.take());
}

TEST(History, RatesAndQuantiles) {
  History history;
  EXPECT_EQ(history.frames_per_second(), 0);
  EXPECT_EQ(history.latency_quantile(0.5), 0);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    Sample sample;
    sample.latency_ms = i % 100 + 1;
    sample.ms[1] = 7;
    sample.shown = begin + i * 20ms;
    history.add(sample);
  }
  EXPECT_EQ(history.samples().size(), History::most);
  EXPECT_NEAR(history.frames_per_second(), 50, 1);
  EXPECT_EQ(history.latency_quantile(0.5), 50);
  EXPECT_EQ(history.latency_quantile(0.95), 95);
  EXPECT_EQ(history.latency_quantile(1), 100);
  EXPECT_EQ(history.step_median(1), 7);
}

TEST(History, TimesAsCsv) {
  Sample sample;
  sample.ms[4] = 1.5;
  sample.faces = 4;
  EXPECT_EQ(times_csv({sample}),
            "frame,capture_ms,upload_ms,gray_ms,resize_ms,sat_ms,evaluate_ms,download_ms,group_ms,"
            "draw_ms,"
            "detect_ms,latency_ms,windows,faces\n"
            "0,0.0000,0.0000,0.0000,0.0000,1.5000,0.0000,0.0000,0.0000,0.0000,0.0000,0.0000,0,4\n");
}

// A folder with pictures and a film in it.
class LiveTest : public test::ProgramTest {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
};

using SourceTest = LiveTest;

TEST_F(SourceTest, PicturesComeInTheOrderOfTheirNames) {
  add_face("p/b.pgm", 1);
  add_face("p/a.pgm", 0);
  write_text(folder / "p/c.pgm", "no picture");
  write_text(folder / "p/notes.txt", "no picture either");
  const auto source = open_source(path("p"));
  EXPECT_EQ(source->kind(), Source::Kind::pictures);
  EXPECT_EQ(source->length(), 3);
  EXPECT_EQ(source->next()->name, "a.pgm");
  EXPECT_EQ(source->next()->name, "b.pgm");
  EXPECT_THROW(source->next(), InputError);
  EXPECT_FALSE(source->next());
  source->seek(1);
  EXPECT_EQ(source->next()->position, 1);
}

TEST_F(SourceTest, FilmsCanBeSought) {
  test::write_film(path("f.avi"), 20);
  const auto source = open_source(path("f.avi"));
  EXPECT_EQ(source->kind(), Source::Kind::film);
  EXPECT_NEAR(source->length(), 0.4, 1e-9);
  EXPECT_NEAR(source->step(), 0.02, 1e-9);
  int frames = 0;
  for (; const auto frame = source->next(); ++frames)
    EXPECT_NEAR(frame->picture.pixels.row(0)[0].g, frames * 8, 3);
  EXPECT_EQ(frames, 20);
  source->seek(0.2);
  const auto tenth = source->next();
  ASSERT_TRUE(tenth);
  EXPECT_NEAR(tenth->picture.pixels.row(0)[0].g, 80, 3);
  EXPECT_NEAR(tenth->position, 0.2, 1e-9);
}

TEST_F(SourceTest, WhatIsNoSourceIsToldInASentence) {
  std::filesystem::create_directory(folder / "empty");
  write_text(folder / "text.avi", "no film");
  for (const char* name : {"empty", "text.avi", "missing.png"}) {
    try {
      open_source(path(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(open_source("/dev/video77"), InputError);
  EXPECT_THROW(open_source("99"), InputError);
}

TEST(Cameras, TheFirstOrASentenceOnAllThatWereTried) {
  try {
    EXPECT_EQ(open_source("")->kind(), Source::Kind::camera);
  } catch (const InputError& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("there is no camera"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("/dev/video"), std::string::npos) << sentence;
    for (const CameraInfo& camera : cameras())
      EXPECT_NE(sentence.find("video" + std::to_string(camera.number)), std::string::npos);
  }
}

class CaptureTest : public LiveTest {
 protected:
  void TearDown() override { capture.reset(); }
  void start() {
    capture = std::make_unique<Capture>([this](LiveFrame frame) {
      const std::scoped_lock lock(mutex);
      ++posted;
      last = std::move(frame);
    });
  }
  int count() {
    const std::scoped_lock lock(mutex);
    return posted;
  }
  double position() {
    const std::scoped_lock lock(mutex);
    return last.position;
  }

  std::mutex mutex;
  int posted = 0;
  LiveFrame last;
  std::unique_ptr<Capture> capture;
};

TEST_F(CaptureTest, PicturesWaitToBeAskedFor) {
  for (const char* name : {"p/a.pgm", "p/b.pgm", "p/c.pgm"}) add_face(name);
  start();
  capture->open(path("p"));
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(count(), 1);
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return position() == 1; }));
  capture->step(5);  // no further than the last
  EXPECT_TRUE(eventually([&] { return position() == 2; }));
  capture->step(-1);
  EXPECT_TRUE(eventually([&] { return position() == 1; }));
}

TEST_F(CaptureTest, FilmsPlayPauseStepSeekAndLoop) {
  test::write_film(path("f.avi"), 30);
  start();
  capture->open(path("f.avi"));
  capture->set_speed(5);
  EXPECT_TRUE(eventually([&] { return count() > 70; }));  // more than the film has
  capture->play(false);
  std::this_thread::sleep_for(50ms);
  const int paused = count();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(count(), paused);
  capture->seek(0.44);
  EXPECT_TRUE(eventually([&] { return count() == paused + 1; }));
  EXPECT_NEAR(position(), 0.44, 1e-6);
  capture->step(-3);
  EXPECT_TRUE(eventually([&] { return count() == paused + 2; }));
  EXPECT_NEAR(position(), 0.38, 1e-6);
  capture->loop(false);
  capture->play(true);
  EXPECT_TRUE(eventually([&] { return capture->state().message == Capture::ended; }));
  const int all = count();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(count(), all);
  capture->seek(0);  // and it goes on
  EXPECT_TRUE(eventually([&] { return count() > all + 1; }));
}

TEST_F(CaptureTest, ASourceThatFailsLeavesTheOneBefore) {
  add_face("p/a.pgm");
  add_face("p/b.pgm");
  start();
  capture->open(path("p"));
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  capture->open(path("nothing.avi"));
  EXPECT_TRUE(eventually(
      [&] { return capture->state().refused.find("nothing.avi") != std::string::npos; }));
  EXPECT_EQ(capture->state().title, path("p"));
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return position() == 1; }));
  EXPECT_EQ(capture->state().message, "");
  capture->open(path("p"));
  EXPECT_TRUE(eventually([&] { return capture->state().refused.empty(); }));
}

class DetectionTest : public LiveTest {
 protected:
  static LiveSettings settings(std::vector<std::string> cascades) {
    LiveSettings chosen;
    chosen.backend.choice = BackendChoice::cpu;
    chosen.cascades = std::move(cascades);
    return chosen;
  }
  LiveFrame face() const {
    add_face("face.pgm");
    return *open_source(path("face.pgm"))->next();
  }
  static LiveResult wait_for_result(Detection& detection) {
    std::optional<LiveResult> result;
    EXPECT_TRUE(eventually([&] { return (result = detection.take()).has_value(); }));
    return result ? std::move(*result) : LiveResult{};
  }
};

TEST_F(DetectionTest, ChangedSettingsShowOnTheLastFrame) {
  Detection detection(settings({"frontalface_default"}));
  detection.put(face());
  const LiveResult first = wait_for_result(detection);
  EXPECT_EQ(first.faces.size(), 1u);
  EXPECT_EQ(first.backend, "CPU");
  EXPECT_GT(first.windows, 3u);
  EXPECT_GT(first.times[Step::evaluate], 0);

  LiveSettings raw = detection.settings();
  raw.detect.min_neighbors = 0;
  detection.set(raw);
  EXPECT_EQ(wait_for_result(detection).faces.size(), first.windows);

  raw.cascades = {"frontalface_default", "lbp:frontalface"};
  raw.detect.min_neighbors = 3;
  detection.set(raw);
  const LiveResult both = wait_for_result(detection);
  EXPECT_EQ(std::count_if(both.faces.begin(), both.faces.end(),
                          [](const FoundFace& f) { return f.cascade == 0; }),
            1);
}

TEST_F(DetectionTest, FurtherCascadesCanLookInsideFacesOnly) {
  LiveSettings chosen = settings({"frontalface_default", "lbp:frontalface"});
  chosen.detect.min_neighbors = 1;
  Detection detection(chosen);
  detection.put(face());
  const LiveResult everywhere = wait_for_result(detection);
  chosen.inside = true;
  detection.set(chosen);
  const LiveResult inside = wait_for_result(detection);
  std::size_t parts = 0;
  for (const FoundFace& part : inside.faces) {
    if (part.cascade == 0) continue;
    ++parts;
    EXPECT_TRUE(std::any_of(inside.faces.begin(), inside.faces.end(), [&](const FoundFace& f) {
      const Rect &o = f.face.box, &p = part.face.box;
      return f.cascade == 0 && p.x >= o.x && p.y >= o.y && p.x + p.width <= o.x + o.width &&
             p.y + p.height <= o.y + o.height;
    }));
  }
  EXPECT_GT(parts, 0u);
  EXPECT_EQ(inside.faces.front().face.box, everywhere.faces.front().face.box);
}

TEST_F(DetectionTest, FailuresAreMessagesAndPass) {
  Detection detection(settings({"nose_ring"}));
  detection.put(face());
  const LiveResult failed = wait_for_result(detection);
  EXPECT_NE(failed.message.find("nose_ring"), std::string::npos);
  EXPECT_TRUE(failed.faces.empty());
  detection.set(settings({"frontalface_default"}));
  EXPECT_EQ(wait_for_result(detection).faces.size(), 1u);
  LiveSettings wrong = settings({"frontalface_default"});
  wrong.detect.scale_factor = 1;
  detection.set(wrong);
  EXPECT_NE(wait_for_result(detection).message.find("scale factor"), std::string::npos);
}

TEST_F(DetectionTest, IntermediatePicturesAreShownInColours) {
  LiveSettings chosen = settings({"frontalface_default"});
  Detection detection(chosen);
  const LiveFrame frame = face();
  detection.put(frame);
  const LiveResult plain = wait_for_result(detection);
  EXPECT_FALSE(plain.view);
  EXPECT_GT(plain.level_count, 3);
  for (const facesat::Picture picture :
       {facesat::Picture::gray, facesat::Picture::level, facesat::Picture::sum,
        facesat::Picture::squared_sum, facesat::Picture::depth}) {
    chosen.inspection = {picture, 1};
    detection.set(chosen);
    const LiveResult result = wait_for_result(detection);
    ASSERT_TRUE(result.view);
    EXPECT_EQ(result.faces.size(), 1u);
    const View<const Bgr> view = result.view->view();
    int different = 0;  // from the first pixel
    for (int y = 0; y < view.size.height; ++y)
      for (int x = 0; x < view.size.width; ++x) different += view.row(y)[x].g != view.row(0)[0].g;
    EXPECT_GT(different, 10) << static_cast<int>(picture);
  }
  chosen.inspection = {facesat::Picture::depth, 1000};  // the last level there is
  detection.set(chosen);
  EXPECT_TRUE(wait_for_result(detection).view);
}

TEST_F(DetectionTest, TheAtlasHoldsEveryLevelInItsPlace) {
  const LiveFrame frame = face();
  Detector detector(find_cascade("frontalface_default"), {}, make_cpu_backend());
  detector.detect(frame.picture.pixels);
  for (const facesat::Picture picture : {facesat::Picture::level, facesat::Picture::depth}) {
    const Image<Bgr> atlas = inspect(detector, {picture, 0, true});
    ASSERT_EQ(atlas.size(), detector.pyramid().atlas());
    const Level& level = detector.pyramid().levels[2];
    const Image<Bgr> alone = inspect(detector, {picture, 2, false});
    const int step = picture == facesat::Picture::depth ? level.step : 1;
    for (int y = 0; y < alone.size().height; ++y)
      for (int x = 0; x < alone.size().width; ++x)
        ASSERT_EQ(atlas.row(level.y + y * step)[level.x + x * step].g, alone.row(y)[x].g);
  }
}

TEST_F(DetectionTest, AlgorithmsAreComparedAndFailuresTold) {
  const LiveFrame frame = face();
  const auto cascade = find_cascade("frontalface_default");
  BackendOptions options;
  options.choice = BackendChoice::cpu;  // it has one way only, which has no name
  const Comparison both = compare_sats({"", ""}, options, cascade, {}, frame.picture.pixels);
  ASSERT_EQ(both.ranks.size(), 2u);
  EXPECT_EQ(both.message, "");
  EXPECT_LE(both.ranks[0].sat_ms, both.ranks[1].sat_ms);
  for (const SatRank& rank : both.ranks) {
    EXPECT_TRUE(rank.identical);
    EXPECT_GT(rank.sat_ms, 0);
    EXPECT_GT(rank.detect_ms, rank.sat_ms);
  }
  EXPECT_EQ(both.image, frame.picture.pixels.size);
  EXPECT_GT(both.atlas.area(), both.image.area());
  const Comparison none = compare_sats({"scanner"}, options, cascade, {}, frame.picture.pixels);
  EXPECT_TRUE(none.ranks.empty());
  EXPECT_EQ(none.message.find("scanner: "), 0u) << none.message;
}

TEST(CopySpeed, FloorsAreBytesOverSpeed) {
  const Pyramid pyramid = plan_pyramid({100, 50}, {24, 24}, {}, 1 << 20);
  double levels = 0;
  for (const Level& level : pyramid.levels) levels += static_cast<double>(level.size.area());
  const StepBytes bytes = least_bytes(pyramid, true);
  const auto of = [&](Step step) { return bytes[static_cast<std::size_t>(step)]; };
  EXPECT_EQ(of(Step::upload), 3 * 5000);
  EXPECT_EQ(of(Step::gray), 4 * 5000);
  EXPECT_EQ(of(Step::resize), 5000 + levels);
  EXPECT_EQ(of(Step::sat), 9 * levels);
  EXPECT_EQ(of(Step::group), 0);
  EXPECT_EQ(least_bytes(pyramid, false)[static_cast<std::size_t>(Step::upload)], 0);
  const StepTimes floors = step_floors(bytes, {2e9, 0});
  EXPECT_DOUBLE_EQ(floors[Step::gray], 0.01);  // 20 kB at 2 GB/s
  EXPECT_EQ(floors[Step::upload], 0);          // unknown
  EXPECT_GT(host_copy_speed().memory, 1e8);
}

TEST_F(DetectionTest, FilmsAreRecordedWithTheirBoxes) {
  Detection detection(settings({"frontalface_default"}));
  detection.record(path("film.avi"), 10);
  for (int i = 0; i < 3; ++i) {
    detection.put(face());
    wait_for_result(detection);
  }
  detection.record("", 10);
  const auto film = open_source(path("film.avi"));
  EXPECT_NEAR(film->length(), 0.3, 1e-9);
  const std::optional<LiveFrame> first = film->next();
  ASSERT_TRUE(first);
  const View<const Bgr> frame = first->picture.pixels;
  int green = 0;
  for (int y = 0; y < frame.size.height; ++y)
    for (int x = 0; x < frame.size.width; ++x) green += frame.row(y)[x].g > frame.row(y)[x].r + 80;
  EXPECT_GT(green, 100);
  detection.record(path("no/such/folder/film.avi"), 10);
  detection.put(face());
  wait_for_result(detection);
  EXPECT_NE(detection.recorder_message().find("cannot be written"), std::string::npos);
}

using SettingsFile = LiveTest;

TEST_F(SettingsFile, RemembersAllChoices) {
  Remembered chosen;
  chosen.settings.backend = {BackendChoice::cpu, "1", ""};
  chosen.settings.cascades = {"lbp:frontalface", "eye"};
  chosen.settings.detect = {1.25, 7, {30, 40}, {300, 400}, Scan::dense, true};
  chosen.settings.inside = true;
  chosen.dark = chosen.labels = false;
  write_settings(folder / "new/live.json", chosen);
  const Remembered read = read_settings(folder / "new/live.json", {});
  EXPECT_EQ(read.settings.backend.choice, BackendChoice::cpu);
  EXPECT_EQ(read.settings.backend.device, "1");
  EXPECT_EQ(read.settings.cascades, chosen.settings.cascades);
  EXPECT_EQ(read.settings.detect.scale_factor, 1.25);
  EXPECT_EQ(read.settings.detect.min_neighbors, 7);
  EXPECT_EQ(read.settings.detect.min_size, (Size{30, 40}));
  EXPECT_EQ(read.settings.detect.max_size, (Size{300, 400}));
  EXPECT_EQ(read.settings.detect.scan, Scan::dense);
  EXPECT_TRUE(read.settings.detect.equalize);
  EXPECT_TRUE(read.settings.inside);
  EXPECT_FALSE(read.dark);
  EXPECT_FALSE(read.labels);
}

TEST_F(SettingsFile, WhatMakesNoSenseIsForgotten) {
  Remembered otherwise;
  otherwise.settings.cascades = {"eye"};
  write_settings(folder / "good.json", otherwise);
  const std::string good = read_text(folder / "good.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  otherwise.settings.cascades = {"smile"};
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[1,2]"), good.substr(0, good.size() / 2),
        with("1.1", "0.5"), with("\"eye\"", "\"nose_ring\""), with("true", "\"yes\"")}) {
    write_text(folder / "bad.json", text);
    EXPECT_EQ(read_settings(folder / "bad.json", otherwise).settings.cascades.front(), "smile")
        << text;
  }
  EXPECT_EQ(read_settings(folder / "missing.json", otherwise).settings.cascades.front(), "smile");
  EXPECT_EQ(read_settings(folder / "good.json", otherwise).settings.cascades.front(), "eye");
}

}  // namespace
}  // namespace facesat::app
