// The files that the real window writes: screenshots, recordings, times; runs of a number of
// frames, and runs without any.
#include <csignal>

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/live/detection/history.hpp"
#include "media/codec.hpp"
#include "tests/app/live/window_test.hpp"
#include "tests/kit/server.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using WindowLimitTest = WindowTest;

class WindowOutputsTest : public WindowTest {
 protected:
  // A video whose frames compress badly, so that a recording of it reaches the disk at once.
  void write_noise(const std::string& name) const {
    cv::VideoWriter noise(path(name), cv::VideoWriter::fourcc('M', 'J', 'P', 'G'), 50, {320, 240});
    for (int i = 0; i < 30; ++i) {
      cv::Mat frame(240, 320, CV_8UC3);
      cv::randu(frame, 0, 256);
      noise.write(frame);
    }
  }
  // Deletes the recording r.avi of a running window, and closes the window once it has said so.
  Finished lose_recording(const std::vector<std::string>& arguments) const {
    return use_live(arguments,
                    [this](Desktop& desktop) {
                      EXPECT_TRUE(comes("r.avi"));
                      fs::remove(folder / "r.avi");
                      EXPECT_TRUE(desktop.shows(warning, letters));
                    },
                    {.status = 3});
  }
};

TEST_F(WindowOutputsTest, RecordsAndTakesScreenshotsByKeys) {
  write_noise("f.avi");
  const auto find = [&](const std::string& extension) {
    for (const std::string& name : files_below("."))
      if (name.starts_with("facesat-") && name.ends_with(extension)) return name;
    return std::string();
  };
  use_live_until("ctrl+r ctrl+q", {"f.avi"}, [&](Desktop&) {
    EXPECT_TRUE(press("ctrl+s"));
    EXPECT_TRUE(eventually([&] { return find(".png") != ""; }));
    EXPECT_TRUE(press("ctrl+r"));
    EXPECT_TRUE(
        eventually([&] { return find(".avi") != "" && fs::file_size(folder / find(".avi")) > 0; }));
  });
  EXPECT_GT(frames_in(find(".avi")), 0);
  EXPECT_FALSE(cv::imread(path(find(".png"))).empty());
}

TEST_F(WindowOutputsTest, AVideoThatIsBeingRecordedIsNotOpened) {
  write_video(path("f.avi"), 30);
  use_live({"f.avi", "--record", "r.avi"}, [&](Desktop& desktop) {
    ASSERT_TRUE(comes("r.avi"));
    EXPECT_TRUE(desktop.drop(path("r.avi")));
    EXPECT_TRUE(desktop.shows(warning, letters));
  });
  EXPECT_GT(frames_in("r.avi"), 0);
}

TEST_F(WindowOutputsTest, ADeletedRecordingIsReportedAtOnceAndAtTheEnd) {
  write_video(path("f.avi"), 30);
  const Finished ended = lose_recording({"f.avi", "--record", "r.avi", "--times", "t.csv"});
  EXPECT_TRUE(has(ended.err, "r.avi: the file was deleted"));
  EXPECT_GT(lines_in("t.csv"), 1);  // written nevertheless
}

// Limits the size of files, which has the same effect as a full disk.
void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, bytes};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_F(WindowOutputsTest, OutputsThatCannotBeWrittenToTheirEndAreFailures) {
  write_noise("f.avi");
  const auto with_limit = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"f.avi", "--frames", "20"});
    return run_live(arguments, 3, [] { limit_files(100'000); });
  };
  for (const char* name : {"r.avi", "r.mp4"}) {
    const Finished recorded = with_limit({"--record", name, "--times", "t.csv"});
    EXPECT_TRUE(has(recorded.err, std::string(name) + ": the video was not written to its end"));
    EXPECT_EQ(lines_in("t.csv"), 21);  // written nevertheless
  }
  write_picture(path("s.png"), Image<Bgr>({8, 8}).view());
  const std::string earlier = read_text("s.png");
  const Finished shot = with_limit({"--screenshot", "s.png"});
  EXPECT_TRUE(has(shot.err, "s.png: File too large"));
  EXPECT_TRUE(read_text("s.png") == earlier);
  if (!fs::is_character_file("/dev/full")) return;
  for (const char* name : {"full.csv", "full.png"}) {  // links, which may be removed
    fs::create_symlink("/dev/full", folder / name);
    const bool is_csv = fs::path(name).extension() == ".csv";
    const Finished full =
        run_live({"f.avi", "--frames", "2", is_csv ? "--times" : "--screenshot", name}, 3);
    EXPECT_TRUE(has(full.err, std::string(name) + ": No space left"));
  }
}

TEST_F(WindowOutputsTest, EveryOutputThatCannotBeWrittenIsNamed) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "skipped: there is no /dev/full";
  write_video(path("f.avi"), 30);
  fs::create_symlink("/dev/full", folder / "full.csv");
  const Finished done = lose_recording({"f.avi", "--times", "full.csv", "--record", "r.avi"});
  for (const char* said : {"r.avi: the file was deleted", "full.csv: No space left"})
    EXPECT_TRUE(has(done.err, said));
}

// A short recording is written only when it ends, and may then lack its last frames.
TEST_F(WindowOutputsTest, RecordingsOnAFullDiskAreFailures) {
  write_video(path("v.avi"), 6);
  fs::create_directory(folder / "disk");
  const Finished done = start_live({"v.avi", "--frames", "5", "--record", "disk/r.avi"}, false, [] {
                          const bool is_mounted =
                              ::unshare(CLONE_NEWNS) == 0 &&
                              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                              ::mount("none", "disk", "tmpfs", 0, "size=4k") == 0;
                          if (!is_mounted) ::_exit(125);
                        }).wait();
  if (done.status == 125) GTEST_SKIP() << "skipped: only root may mount a file system";
  EXPECT_EQ(done.status, 3) << done.err;
  EXPECT_TRUE(has(done.err, "the disk is full"));
}

TEST_F(WindowOutputsTest, CtrlCFinishesTheOutputs) {
  add_face("face.pgm");
  const auto interrupt = [](const Running& live, Desktop&) {
    for (int time = 0; time < 2; ++time) live.signal(SIGINT);  // timeout(1) can send two
  };
  use_live({"face.pgm", "--record", "r.mp4", "--times", "t.csv", "--screenshot", "s.png"},
           [](Desktop& desktop) { EXPECT_TRUE(desktop.shows(box_colour, 1000)); },
           {.waits = true, .status = 128 + SIGINT, .end = interrupt});
  EXPECT_EQ(frames_in("r.mp4"), 1);
  EXPECT_EQ(lines_in("t.csv"), 2);
  EXPECT_GT(box_pixels("s.png"), 1000);
}

TEST_F(WindowOutputsTest, AScreenshotIsTakenWhenTheWindowIsClosed) {
  add_face("face.pgm");
  use_live({"face.pgm", "--screenshot", "s.png"},
           [&](Desktop& desktop) { EXPECT_TRUE(desktop.shows(box_colour, 1000)); },
           {.waits = true});
  EXPECT_GT(box_pixels("s.png"), 1000);
}

TEST_F(WindowOutputsTest, FilesThatAppearDuringTheRunAreNotReplaced) {
  add_face("face.pgm");
  const Finished done = use_live({"face.pgm", "--screenshot", "s.png", "--times", "t.csv"},
                                 [&](Desktop& desktop) {
                                   EXPECT_TRUE(desktop.shows(box_colour, 1000));
                                   for (const char* name : {"s.png", "t.csv"})
                                     write_text(folder / name, "my own");
                                 },
                                 {.waits = true, .status = 3});
  EXPECT_TRUE(has(done.err, "s.png exists and was not written by facesat"));
  for (const char* name : {"s.png", "t.csv"}) EXPECT_EQ(read_text(folder / name), "my own");
}

TEST_F(WindowOutputsTest, TheOutputsAreFinishedWhenTheDisplayEnds) {
  write_video(path("f.avi"), 30);
  for (const bool waits : {false, true}) {
    VirtualDisplay other;
    const std::string video = waits ? "waits.avi" : "draws.avi";
    const Running live = start_live(
        {"f.avi", "--record", video, "--times", "t.csv", "--screenshot", "s.png"}, waits, [] {},
        other.name);
    EXPECT_TRUE(Desktop(other.name, "facesat").shows(step_colours[8], 1000));  // in the chart
    other.end();
    const Finished done = live.wait();
    EXPECT_EQ(done.status, 3);
    EXPECT_TRUE(has(done.err, "the connection to the display was lost"));
    EXPECT_TRUE(has(done.err, "s.png: no screenshot was taken"));
    EXPECT_GT(frames_in(video), 0);
    EXPECT_GT(lines_in("t.csv"), 1);
  }
}

TEST_F(WindowLimitTest, RecordingAndTableHaveExactlyTheFramesAskedFor) {
  write_video(path("f.avi"), 30);
  for (const int frames : {1, 2, 7, 33}) {
    const std::string video = std::to_string(frames) + ".avi";
    run_live({"f.avi", "--frames", std::to_string(frames), "--record", video, "--times", "t.csv"});
    EXPECT_EQ(frames_in(video), frames);
    EXPECT_EQ(lines_in("t.csv"), frames + 1);
  }
}

TEST_F(WindowLimitTest, WhatCannotBeReadIsNamedAndPassedOver) {
  write_text("p/a.pgm", "broken");
  write_text("p/b.avi", "broken");
  add_face("p/c.pgm");
  const Finished some = run_live({"p", "--frames", "3", "--times", "t.csv"}, 1);
  EXPECT_TRUE(has(some.err, "a.pgm: "));
  EXPECT_TRUE(has(some.err, "b.avi: "));
  EXPECT_EQ(some.err.find("c.pgm"), std::string::npos) << some.err;
  EXPECT_TRUE(read_text("t.csv").ends_with(",1\n"));  // a face
  const std::string times = read_text("t.csv");
  write_text("p/c.pgm", "broken");
  const Finished none = run_live({"p", "--frames", "3", "--times", "t.csv"}, 2);
  for (const char* name : {"a.pgm: ", "b.avi: ", "c.pgm: ", "nothing was written to t.csv"})
    EXPECT_TRUE(has(none.err, name));
  EXPECT_EQ(read_text("t.csv"), times);
}

// A stream from this server never begins.
class SilentServer : public Server {
 public:
  SilentServer() : Server([](const Client& client) { client.stall(); }) {}
  const std::string stream = fmt::format("rtsp://127.0.0.1:{}/stream", port);
};

TEST_F(WindowLimitTest, WithoutAFrameEarlierResultsStay) {
  const SilentServer server;
  write_text("t.csv", app::times_csv({app::Sample()}));
  write_picture(path("s.png"), Image<Bgr>({8, 8}).view());
  const std::string times = read_text("t.csv"), shot = read_text("s.png");
  const auto end = [&](const Usage& usage) {
    const Finished done = use_live(
        {server.stream, "--times", "t.csv", "--screenshot", "s.png"}, [](Desktop&) {}, usage);
    EXPECT_TRUE(has(done.err, "no frame was shown, so nothing was written to s.png, t.csv"));
    EXPECT_EQ(read_text("t.csv"), times);
    EXPECT_TRUE(read_text("s.png") == shot);
  };
  end({.status = 2});
  end({.status = 128 + SIGINT, .end = [](const Running& live, Desktop&) { live.signal(SIGINT); }});
}

// A start page that was just looked at is no failure.
TEST_F(WindowLimitTest, WithoutAFrameAndOutputsAllIsWell) {
  const SilentServer server;
  const Finished done = use_live({server.stream}, [](Desktop&) {});
  EXPECT_EQ(done.err, "");
}

}  // namespace
}  // namespace facesat::test
