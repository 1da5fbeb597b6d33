// The sources of the window's pictures and the thread that reads them, tested without the window.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <thread>

#include <opencv2/imgcodecs.hpp>
#include <unistd.h>

#include "app/live/capture.hpp"
#include "library/media/camera.hpp"
#include "library/media/frame_source.hpp"
#include "library/support/errors.hpp"
#include "tests/app/eventually.hpp"
#include "tests/app/live_test.hpp"
#include "tests/app/video.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using facesat::test::eventually;
using facesat::test::read_text;
using facesat::test::write_text;

using SourceTest = LiveTest;

TEST_F(SourceTest, PicturesComeInTheOrderOfTheirNames) {
  add_face("p/b.pgm", 1);
  add_face("p/a.pgm", 0);
  write_text(folder / "p/c.pgm", "no picture");
  write_text(folder / "p/notes.txt", "no picture either");
  const auto source = open_source(path("p"));
  EXPECT_EQ(source->kind(), FrameSource::Kind::pictures);
  EXPECT_EQ(source->length(), 3);
  EXPECT_EQ(source->next()->name, "a.pgm");
  EXPECT_EQ(source->next()->name, "b.pgm");
  EXPECT_THROW(source->next(), InputError);
  EXPECT_FALSE(source->next());
  source->seek(1);
  EXPECT_EQ(source->next()->position, 1);
}

TEST_F(SourceTest, NamesLikeUrlsAreFilesWhereThereIsSuchAFile) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  std::filesystem::create_directory("http:");
  for (const std::string name : {"12:30.avi", "http:/x.avi", "http:/file:y.avi"}) {
    test::write_video(path(name), 5);
    const auto source = open_source(name);
    EXPECT_EQ(source->kind(), FrameSource::Kind::video) << name;
    EXPECT_EQ(source->title(), name);
    EXPECT_TRUE(source->next()) << name;
  }
  EXPECT_TRUE(open_source("http://x.avi")->next());  // the same path as http:/x.avi
  EXPECT_TRUE(open_source("file://" + path("12:30.avi"))->next());
  add_face("10:15.pgm");
  EXPECT_TRUE(open_source("10:15.pgm")->next());
  std::filesystem::current_path(before);
  for (const char* stream : {"rtsp://host/x.avi", "a+b.c-d9://x"})
    EXPECT_FALSE(source_path(stream)) << stream;
  for (const char* file : {"x.avi", "9a://x", "a b://x", "://x", "dir/a://x", "file:///x"})
    EXPECT_TRUE(source_path(file)) << file;
  for (const char* camera : {"", "0", "/dev/video3"}) EXPECT_FALSE(source_path(camera)) << camera;
}

TEST_F(SourceTest, WhatTheSystemRefusesIsReportedInASentence) {
  const std::string long_name(300, 'n');
  try {
    open_source(long_name);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), long_name + ": File name too long");
  }
  EXPECT_THROW(open_source(long_name + "/" + long_name + ".png"), InputError);
  EXPECT_FALSE(source_path("rtsp://" + long_name));

  namespace fs = std::filesystem;
  add_face("locked/a.pgm");
  fs::permissions(folder.parent_path(), fs::perms(0711));
  fs::permissions(folder / "locked", fs::perms::none);
  const uid_t user = geteuid();
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(seteuid(user == 0 ? nobody : user), 0);  // root may read everything
  for (const char* name : {"locked", "locked/a.pgm", "locked/k.avi"}) {
    try {
      open_source(path(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("Permission denied"), std::string::npos)
          << error.what();
    }
  }
  ASSERT_EQ(seteuid(user), 0);
  fs::permissions(folder / "locked", fs::perms::owner_all);
}

TEST_F(SourceTest, AVideoWithoutFramesIsReported) {
  test::write_video(path("f.avi"), 20);
  const std::string bytes = read_text(folder / "f.avi");
  write_text(folder / "f.avi", bytes.substr(0, bytes.find("movi") + 4));  // all but its frames
  const auto source = open_source(path("f.avi"));
  try {
    source->next();
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no frame of this video"), std::string::npos);
  }
}

TEST_F(SourceTest, VideosAreSeekable) {
  test::write_video(path("f.avi"), 20);
  const auto source = open_source(path("f.avi"));
  EXPECT_EQ(source->kind(), FrameSource::Kind::video);
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

TEST_F(SourceTest, GifsOfSeveralFramesPlayAndOthersArePictures) {
  using namespace std::string_literals;
  const std::string header = "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF"s,  // black and white
      control = "\x21\xF9\4\0\x0A\0\0\0"s, image = "\x2C\0\0\0\0\1\0\1\0\0\2\2"s,
                    black = "\x44\1\0"s, white = "\x4C\1\0"s, end = "\x3B"s;
  write_text(folder / "one.gif", header + control + image + white + end);
  write_text(folder / "two.gif", header + control + image + white + control + image + black + end);
  const auto one = open_source(path("one.gif"));
  EXPECT_EQ(one->kind(), FrameSource::Kind::pictures);
  EXPECT_EQ(one->next()->picture.pixels.row(0)[0].g, 255);
  const auto two = open_source(path("two.gif"));
  EXPECT_EQ(two->kind(), FrameSource::Kind::video);
  EXPECT_GT(two->step(), 0);
  for (int turn = 0; turn < 2; ++turn) {  // played twice, as a video that loops
    EXPECT_EQ(two->next()->picture.pixels.row(0)[0].g, 255);
    EXPECT_EQ(two->next()->picture.pixels.row(0)[0].g, 0);
    EXPECT_FALSE(two->next());
    two->seek(0);
  }
}

TEST_F(SourceTest, WhatIsNotASourceIsReportedInASentence) {
  std::filesystem::create_directory(folder / "empty");
  write_text(folder / "text.avi", "no video");
  for (const char* name : {"empty", "text.avi", "missing.png"}) {
    try {
      open_source(path(name));
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  try {
    open_source("/dev/video77");
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "camera /dev/video77: there is no such device; is the camera connected?");
  }
  EXPECT_THROW(open_source("99"), InputError);
}

TEST(Cameras, TheFirstOneOpensOrASentenceNamesAllThatWereTried) {
  try {
    EXPECT_EQ(open_source("")->kind(), FrameSource::Kind::camera);
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
  // Starts a capture that counts the frames and may open neither refused.avi nor strange.avi.
  void start() {
    capture = std::make_unique<Capture>(
        [this](Frame frame) {
          const std::scoped_lock lock(mutex);
          ++posted;
          last = std::move(frame);
        },
        [](const std::string& name) {
          if (name.ends_with("refused.avi")) throw UsageError("not this one");
          if (name.ends_with("strange.avi")) throw std::bad_alloc();
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
  Frame last;
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
  capture->step(5);  // stops at the last
  EXPECT_TRUE(eventually([&] { return position() == 2; }));
  capture->step(-1);
  EXPECT_TRUE(eventually([&] { return position() == 1; }));
}

TEST_F(CaptureTest, VideosPlayPauseStepSeekAndLoop) {
  test::write_video(path("f.avi"), 30);
  start();
  capture->open(path("f.avi"));
  capture->set_speed(5);
  const auto is_at = [&](double seconds) {
    return eventually([&] { return std::abs(position() - seconds) < 1e-6; });
  };
  EXPECT_TRUE(eventually([&] { return count() > 70; }));  // it loops: the video has 30 frames
  capture->play(false);
  // An older frame may still be in flight after the first seek, but not after the second.
  capture->seek(0.1);
  EXPECT_TRUE(is_at(0.1));
  capture->seek(0.44);
  EXPECT_TRUE(is_at(0.44));
  const int paused = count();
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(count(), paused);
  capture->step(-3);
  EXPECT_TRUE(is_at(0.38));
  EXPECT_EQ(count(), paused + 1);
  capture->loop(false);
  capture->play(true);
  EXPECT_TRUE(eventually([&] { return capture->state().message == Capture::ended; }));
  const int all = count();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(count(), all);
  capture->seek(0);  // continues from there
  EXPECT_TRUE(eventually([&] { return count() > all + 1; }));
}

TEST_F(CaptureTest, AVideoThatHasEndedBeginsAgainWhenPlayedOrLooped) {
  test::write_video(path("f.avi"), 30);
  start();
  capture->open(path("f.avi"));
  capture->set_speed(20);
  capture->loop(false);
  const auto ends = [&] {
    return eventually([&] { return capture->state().message == Capture::ended; });
  };
  ASSERT_TRUE(ends());
  EXPECT_FALSE(capture->state().is_playing());
  const int once = count();
  capture->play(true);
  EXPECT_TRUE(eventually([&] { return count() > once; }));
  ASSERT_TRUE(ends());
  const int twice = count();
  capture->loop(true);
  EXPECT_TRUE(eventually([&] { return count() > twice + 30; }));  // more than the video has
  EXPECT_TRUE(capture->state().is_playing());
}

TEST_F(CaptureTest, ASourceThatFailsLeavesTheOneBeforeOpen) {
  add_face("p/a.pgm");
  add_face("p/b.pgm");
  start();
  capture->open(path("p"));
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  const auto is_refused = [&](const std::string& name, const std::string& said) {
    capture->open(name);
    return eventually([&] { return capture->state().refused.find(said) != std::string::npos; });
  };
  EXPECT_TRUE(is_refused(path("nothing.avi"), "nothing.avi"));
  EXPECT_TRUE(is_refused("refused.avi", "not this one"));
  EXPECT_TRUE(is_refused("strange.avi", "not enough memory"));
  EXPECT_TRUE(is_refused(std::string(300, 'n'), "File name too long"));
  EXPECT_EQ(capture->state().title, path("p"));
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return position() == 1; }));
  EXPECT_EQ(capture->state().message, "");
  capture->open(path("p"));
  EXPECT_TRUE(eventually([&] { return capture->state().refused.empty(); }));
}

TEST_F(CaptureTest, AnIncompletePictureIsShownWithAWarning) {
  std::vector<unsigned char> bytes;
  ASSERT_TRUE(cv::imencode(".jpg", cv::Mat(80, 80, CV_8UC3, cv::Scalar(1, 2, 3)), bytes));
  write_text(folder / "half.jpg", std::string(bytes.begin(), bytes.end() - 2));  // no end marker
  start();
  capture->open(path("half.jpg"));
  EXPECT_TRUE(eventually([&] {
    return capture->state().message.starts_with("half.jpg: the file ends early");
  })) << capture->state().message;
  EXPECT_EQ(count(), 1);
  EXPECT_FALSE(capture->state().failed);
}

TEST_F(CaptureTest, ABrokenPictureCanBeSkipped) {
  add_face("p/a.pgm");
  write_text(folder / "p/b.pgm", "broken");
  add_face("p/c.pgm");
  start();
  capture->open(path("p"));
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  capture->step(1);
  EXPECT_TRUE(
      eventually([&] { return capture->state().message.find("b.pgm") != std::string::npos; }));
  EXPECT_TRUE(capture->state().failed);
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return position() == 2; }));
  EXPECT_TRUE(eventually([&] { return capture->state().message.empty(); }));
}

TEST_F(CaptureTest, NoExceptionEndsTheThread) {
  add_face("p/a.pgm");
  add_face("p/b.pgm");
  std::atomic<int> calls = 0;
  capture = std::make_unique<Capture>([&](const Frame&) {
    if (++calls == 1) throw std::bad_alloc();
  });
  capture->open(path("p"));
  EXPECT_TRUE(eventually(
      [&] { return capture->state().message.find("not enough memory") != std::string::npos; }));
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return calls == 2; }));
  capture.reset();
}

}  // namespace
}  // namespace facesat::app
