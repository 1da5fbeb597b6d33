// The list of sources, and the thread that plays it.
#include "app/live/frames/capture.hpp"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <new>
#include <thread>

#include <opencv2/imgcodecs.hpp>

#include "support/errors.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::write_text;

using PlaylistTest = test::ProgramTest;

TEST_F(PlaylistTest, FoldersAreTheirPicturesAndVideosByName) {
  add_face("p/b.pgm");
  write_text(folder / "p/a.AVI", "");
  write_text(folder / "p/notes.txt", "");
  write_text(folder / "p/.hidden.png", "");
  add_face("p/below/c.pgm");
  add_face("d.pgm");
  write_text(folder / "list.txt", path("d.pgm") + "\n" + path("p") + "\n");
  const auto names = [](const std::vector<std::string>& of) {
    std::vector<std::string> all;
    for (const PlaylistEntry& entry : make_playlist(of)) all.push_back(entry.name);
    return all;
  };
  EXPECT_EQ(names({path("p"), "0", "rtsp://host/x", path("d.pgm")}),
            (std::vector<std::string>{"a.AVI", "b.pgm", "0", "rtsp://host/x", path("d.pgm")}));
  EXPECT_EQ(names({"@" + path("list.txt")}),
            (std::vector<std::string>{path("d.pgm"), "a.AVI", "b.pgm"}));
  EXPECT_EQ(make_playlist({path("p")}).front().source, path("p/a.AVI"));
  EXPECT_EQ(make_playlist({""}).front().source, "");  // the first camera
}

TEST_F(PlaylistTest, WhatHasNothingToPlayIsReportedInASentence) {
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(test::message_of<InputError>([&] { make_playlist({path("empty")}); }),
            path("empty") + ": there are no pictures and no videos in it");
  EXPECT_THROW(make_playlist({"@" + path("missing.txt")}), UsageError);
}

class CaptureTest : public test::ProgramTest {
 protected:
  void TearDown() override { capture.reset(); }
  // Starts a capture that counts the frames and may open neither refused.avi nor strange.avi.
  void start() {
    capture = std::make_unique<Capture>(
        [this](CapturedFrame frame) {
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
  CapturedFrame newest() {
    const std::scoped_lock lock(mutex);
    return last;
  }
  bool comes(const std::string& wanted) {
    return eventually([&] { return newest().name == wanted; });
  }

  std::mutex mutex;
  int posted = 0;
  CapturedFrame last;
  std::unique_ptr<Capture> capture;
};

TEST_F(CaptureTest, PicturesWaitToBeAskedFor) {
  for (const char* name : {"p/a.pgm", "p/b.pgm", "p/c.pgm"}) add_face(name);
  start();
  capture->set_slide_seconds(0.1);
  capture->open({path("p")});
  ASSERT_TRUE(comes("a.pgm"));
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(capture->state().count, 3u);
  capture->step(1);
  EXPECT_TRUE(comes("b.pgm"));
  capture->step(5);  // stops at the last
  EXPECT_TRUE(comes("c.pgm"));
  capture->step(-1);
  EXPECT_TRUE(comes("b.pgm"));
  capture->show(0);
  EXPECT_TRUE(comes("a.pgm"));
}

TEST_F(CaptureTest, AListOfPicturesAndVideosPlays) {
  add_face("p/a.pgm");
  test::write_video(path("p/b.avi"), 5);
  add_face("p/c.pgm");
  add_face("d.pgm");
  start();
  capture->set_slide_seconds(0.1);
  capture->loop(false);
  capture->open({path("p"), path("d.pgm")});
  ASSERT_TRUE(comes("a.pgm"));
  EXPECT_FALSE(capture->state().is_playing());
  capture->play(true);
  EXPECT_TRUE(comes("b.avi"));
  EXPECT_TRUE(comes("c.pgm"));
  EXPECT_TRUE(comes(path("d.pgm")));
  EXPECT_EQ(count(), 8);  // three pictures, five frames
  EXPECT_TRUE(eventually([&] { return capture->state().exhausted; }));
  capture->play(true);  // from the beginning
  EXPECT_TRUE(comes("a.pgm"));
  capture->loop(true);
  EXPECT_TRUE(eventually([&] { return count() > 20; }));
}

TEST_F(CaptureTest, SkippingLeavesAVideoAsItPlays) {
  add_face("p/b.pgm");
  test::write_video(path("p/a.avi"), 300);
  start();
  capture->open({path("p")});
  ASSERT_TRUE(comes("a.avi"));
  EXPECT_TRUE(capture->state().is_playing());
  capture->set_slide_seconds(3600);
  capture->skip(1);
  EXPECT_TRUE(comes("b.pgm"));
  capture->skip(-1);
  EXPECT_TRUE(comes("a.avi"));
  const int frames = count();
  EXPECT_TRUE(eventually([&] { return count() > frames + 3; }));
  capture->play(false);
  capture->step(1);  // a frame, not an entry
  EXPECT_EQ(capture->state().entry, 0u);
}

TEST_F(CaptureTest, FramesKnowTheirPlace) {
  add_face("p/b.pgm");
  test::write_video(path("p/a.avi"), 20);
  start();
  capture->open({path("p")});
  ASSERT_TRUE(comes("a.avi"));
  capture->play(false);
  capture->seek(0.2);  // the tenth of 20, at 50 frames/s
  capture->seek(0.2);
  EXPECT_TRUE(eventually([&] { return std::abs(newest().position - 0.2) < 1e-6; }));
  EXPECT_EQ(newest().index, 10u);
  EXPECT_EQ(newest().count, 20u);
  capture->skip(1);
  ASSERT_TRUE(comes("b.pgm"));
  EXPECT_EQ(newest().index, 1u);
  EXPECT_EQ(newest().count, 2u);
}

TEST_F(CaptureTest, VideosPlayPauseStepSeekAndLoop) {
  test::write_video(path("f.avi"), 30);
  start();
  capture->open({path("f.avi")});
  capture->set_speed(5);
  const auto is_at = [&](double seconds) {
    return eventually([&] { return std::abs(newest().position - seconds) < 1e-6; });
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

TEST_F(CaptureTest, SequencesEndWhereFramesDoNotFollowEachOther) {
  test::write_video(path("f.avi"), 30);
  start();
  capture->loop(false);
  capture->open({path("f.avi")});
  ASSERT_TRUE(eventually([&] { return capture->state().message == Capture::ended; }));
  const std::uint64_t played = newest().sequence, end = newest().posted;
  EXPECT_EQ(end, 30u);
  const auto after = [&](std::uint64_t frames) {
    EXPECT_TRUE(eventually([&] { return newest().posted == end + frames; }));
    return newest().sequence - played;
  };
  capture->step(-1);
  EXPECT_EQ(after(1), 0u);
  capture->seek(0.2);
  EXPECT_EQ(after(2), 1u);
  capture->step(1);
  EXPECT_EQ(after(3), 1u);
  capture->mirror();
  EXPECT_EQ(after(4), 2u);
  capture->step(1);
  EXPECT_EQ(after(5), 2u);
  capture->open({path("f.avi")});
  EXPECT_TRUE(eventually([&] { return newest().posted > end + 6; }));
  EXPECT_EQ(newest().sequence - played, 4u);  // another source, no longer mirrored
  const std::uint64_t again = newest().sequence;
  capture->loop(true);
  EXPECT_TRUE(eventually([&] { return newest().sequence > again; }));
}

TEST_F(CaptureTest, FramesAreRotatedAndMirroredAsTheyAreSeen) {
  const auto value = [](int x, int y) { return static_cast<std::uint8_t>(100 * y + 10 * x + 5); };
  write_pgm("a.pgm", test::formula<std::uint8_t>({3, 2}, value));
  write_pgm("b.pgm", test::formula<std::uint8_t>({3, 2}, value));
  std::vector<Picture> seen;
  Capture turning([&](CapturedFrame frame) {
    const std::scoped_lock lock(mutex);
    seen.push_back(std::move(frame.picture));
  });
  // The size, and which pixel of the file is the first one, of the n-th frame.
  const auto is_seen = [&](std::size_t n, Size size, int x, int y) {
    return eventually([&] {
      const std::scoped_lock lock(mutex);
      return seen.size() == n && seen.back().pixels.size == size &&
             seen.back().pixels.row(0)[0].g == value(x, y);
    });
  };
  turning.open({path("a.pgm")});
  EXPECT_TRUE(is_seen(1, {3, 2}, 0, 0));
  turning.rotate();
  EXPECT_TRUE(is_seen(2, {2, 3}, 0, 1));
  turning.mirror();
  EXPECT_TRUE(is_seen(3, {2, 3}, 0, 0));
  turning.rotate();
  EXPECT_TRUE(is_seen(4, {3, 2}, 2, 0));
  EXPECT_FALSE(turning.state().is_upright());
  turning.mirror();
  EXPECT_TRUE(is_seen(5, {3, 2}, 0, 0));
  EXPECT_TRUE(turning.state().is_upright());
  turning.rotate();
  EXPECT_TRUE(is_seen(6, {2, 3}, 0, 1));
  turning.open({path("b.pgm")});  // what is opened later is upright
  EXPECT_TRUE(is_seen(7, {3, 2}, 0, 0));
}

TEST_F(CaptureTest, AVideoThatHasEndedBeginsAgainWhenPlayedOrLooped) {
  test::write_video(path("f.avi"), 30);
  start();
  capture->open({path("f.avi")});
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
  capture->open({path("p")});
  ASSERT_TRUE(eventually([&] { return count() == 1; }));
  const auto is_refused = [&](const std::string& name, const std::string& said) {
    capture->open({name});
    return eventually([&] { return capture->state().refused.find(said) != std::string::npos; });
  };
  EXPECT_TRUE(is_refused(path("nothing.avi"), "nothing.avi"));
  EXPECT_TRUE(is_refused("refused.avi", "not this one"));
  EXPECT_TRUE(is_refused("strange.avi", "not enough memory"));
  EXPECT_TRUE(is_refused(std::string(300, 'n'), "File name too long"));
  EXPECT_EQ(capture->state().names, std::vector{path("p")});
  capture->step(1);
  EXPECT_TRUE(comes("b.pgm"));
  EXPECT_EQ(capture->state().message, "");
  capture->open({path("p")});
  EXPECT_TRUE(eventually([&] { return capture->state().refused.empty(); }));
}

TEST_F(CaptureTest, AnIncompletePictureIsShownWithAWarning) {
  std::vector<unsigned char> bytes;
  ASSERT_TRUE(cv::imencode(".jpg", cv::Mat(80, 80, CV_8UC3, cv::Scalar(1, 2, 3)), bytes));
  write_text(folder / "half.jpg", std::string(bytes.begin(), bytes.end() - 2));  // no end marker
  start();
  capture->open({path("half.jpg")});
  EXPECT_TRUE(eventually([&] {
    return capture->state().message.starts_with(path("half.jpg") + ": the file ends early");
  })) << capture->state().message;
  EXPECT_EQ(count(), 1);
  EXPECT_FALSE(capture->state().failed);
}

TEST_F(CaptureTest, WhatCannotBeReadIsPassedOver) {
  write_text(folder / "p/a.pgm", "broken");
  write_text(folder / "p/b.avi", "broken");
  add_face("p/c.pgm");
  start();
  capture->set_slide_seconds(0.1);
  capture->open({path("p")});
  const auto says = [&](const std::string& name) {
    return eventually([&] { return capture->state().message.find(name) != std::string::npos; });
  };
  EXPECT_TRUE(says("a.pgm"));
  EXPECT_TRUE(capture->state().failed);
  capture->step(1);
  EXPECT_TRUE(says("b.avi"));
  EXPECT_TRUE(capture->state().failed);
  capture->step(1);
  EXPECT_TRUE(comes("c.pgm"));
  EXPECT_TRUE(eventually([&] { return capture->state().message.empty(); }));
  EXPECT_EQ(count(), 1);
  capture->play(true);  // around the list again
  EXPECT_TRUE(eventually([&] { return count() > 2; }));
}

TEST_F(CaptureTest, NoExceptionEndsTheThread) {
  add_face("p/a.pgm");
  add_face("p/b.pgm");
  std::atomic<int> calls = 0;
  capture = std::make_unique<Capture>([&](const Frame&) {
    if (++calls == 1) throw std::bad_alloc();
  });
  capture->open({path("p")});
  EXPECT_TRUE(eventually(
      [&] { return capture->state().message.find("not enough memory") != std::string::npos; }));
  capture->step(1);
  EXPECT_TRUE(eventually([&] { return calls == 2; }));
  capture.reset();
}

}  // namespace
}  // namespace facesat::app
