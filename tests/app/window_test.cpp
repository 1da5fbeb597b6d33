// The real window, on a virtual display with a software renderer.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "tests/app/desktop.hpp"
#include "tests/app/film.hpp"
#include "tests/app/program.hpp"
#include "tests/app/virtual_display.hpp"

namespace facesat::test {
namespace {

using namespace std::chrono_literals;

class WindowTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (display.name.empty()) GTEST_SKIP() << "skipped: there is no Xvfb";
  }
  // Screenshots stay, to be looked at.
  void TearDown() override {
    namespace fs = std::filesystem;
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const fs::path kept = FACESAT_SCREENSHOTS;
    fs::create_directories(kept);
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".png")
        fs::copy_file(entry.path(),
                      kept / (std::string(test->name()) + "." + entry.path().filename().string()),
                      fs::copy_options::overwrite_existing);
  }
  // One that `waits` draws when there is something new, others as fast as they can.
  Running start_live(
      std::vector<std::string> arguments, bool waits = false, const Setup& setup = [] {}) const {
    arguments.insert(arguments.begin(), {"live", "--backend", "cpu"});
    if (!waits) arguments.emplace_back("--no-vsync");
    return start(arguments, "", [this, setup] {
      setup();
      setenv("DISPLAY", display.name.c_str(), 1);
      unsetenv("WAYLAND_DISPLAY");
      setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    });
  }
  // Presses keys by xdotool's names, with the pointer over the picture.
  bool press(const std::string& keys) const {
    return display.act("xdotool windowfocus $window mousemove 800 400; for key in " + keys +
                       "; do xdotool key $key; sleep 0.3; done");
  }
  int pixels_of_colour(const std::string& file, const cv::Vec3b& bgr) const {
    const cv::Mat shot = cv::imread((folder / file).string());
    return static_cast<int>(std::count(shot.begin<cv::Vec3b>(), shot.end<cv::Vec3b>(), bgr));
  }
  // In the colour of the first cascade's boxes.
  int box_pixels(const std::string& file) const { return pixels_of_colour(file, {60, 220, 60}); }
  // In the colour of evaluation, of the bar and the plot of times.
  int plot_pixels(const std::string& file) const { return pixels_of_colour(file, {0, 94, 213}); }

  VirtualDisplay display;
};

TEST_F(WindowTest, ShowsThePictureWithItsBoxes) {
  add_face("face.pgm");
  const Finished shown =
      start_live({"face.pgm", "--frames", "5", "--screenshot", "shot.png", "--times", "t.csv"})
          .wait();
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_GT(box_pixels("shot.png"), 200);
  EXPECT_GT(plot_pixels("shot.png"), 200);
  const std::string times = read_text(folder / "t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 2);  // a header and one picture
  EXPECT_EQ(times.substr(0, 17), "frame,capture_ms,");
}

TEST_F(WindowTest, ShowsTheDemoAlbum) {
  const char* const album = std::getenv("FACESAT_ALBUM");
  if (!album) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no album";
  const Finished portrait = start_live({std::string(album) + "/grace_hopper.jpg", "--frames", "5",
                                        "--screenshot", "portrait.png"})
                                .wait();
  EXPECT_EQ(portrait.status, 0) << portrait.err;
  EXPECT_GT(box_pixels("portrait.png"), 200);
  const Finished film = start_live({std::string(album) + "/movie.avi", "--frames", "60",
                                    "--screenshot", "film.png", "--times", "t.csv"})
                            .wait();
  EXPECT_EQ(film.status, 0) << film.err;
  EXPECT_GT(plot_pixels("film.png"), 1000);
  const std::string times = read_text(folder / "t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 61);
}

TEST_F(WindowTest, NoFaceNoBox) {
  write_pgm(folder / "grey.pgm", Image<std::uint8_t>({200, 200}));
  EXPECT_EQ(start_live({"grey.pgm", "--frames", "3", "--screenshot", "shot.png"}).wait().status, 0);
  EXPECT_LT(box_pixels("shot.png"), 200);  // the cascade's name in its colour
}

TEST_F(WindowTest, KeysDoWhatTheHelpSays) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  add_face("p/a.pgm", 0);
  add_face("p/b.pgm", 1);
  const Running live = start_live({"p", "--times", "t.csv"});
  EXPECT_TRUE(press("h l t f 1 space Right Left q"));
  const Finished ended = live.wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string times = read_text(folder / "t.csv");
  // The first picture, and right and left, unless a busy machine skips one of them.
  EXPECT_GE(std::count(times.begin(), times.end(), '\n'), 3);
}

TEST_F(WindowTest, ChoicesAreRememberedUnlessTheCommandLineSaysOtherwise) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  add_face("a.pgm");
  const auto remembered = [&] { return read_text(folder / "config/facesat/live.json"); };
  for (const char* factor : {"1.3", ""}) {  // given once, remembered the second time
    std::vector<std::string> arguments{"a.pgm"};
    if (*factor) arguments.insert(arguments.end(), {"--scale-factor", factor});
    const Running live = start_live(arguments);
    EXPECT_TRUE(press(*factor ? "t l q" : "q"));
    EXPECT_EQ(live.wait().status, 0);
    EXPECT_NE(remembered().find("\"scale_factor\": 1.3"), std::string::npos) << remembered();
    EXPECT_NE(remembered().find("\"dark\": false"), std::string::npos) << remembered();
    EXPECT_NE(remembered().find("\"labels\": false"), std::string::npos) << remembered();
  }
}

TEST_F(WindowTest, FilesDroppedOntoItAreOpened) {
  add_face("a.pgm");
  add_face("b c.pgm", 1);
  const Running live = start_live({"a.pgm", "--times", "t.csv"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  std::this_thread::sleep_for(500ms);  // the first picture
  EXPECT_TRUE(desktop.drop((folder / "b%20c.pgm").string()));
  std::this_thread::sleep_for(500ms);
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
  const std::string times = read_text(folder / "t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 3);  // a header and two pictures
}

// With the waiting window of everyday use, too.
TEST_F(WindowTest, ResizedMinimisedAndClosedAtAnyMoment) {
  write_film((folder / "f.avi").string(), 30);
  std::minstd_rand random(5);
  for (int run = 0; run < 6; ++run) {
    const Running live = start_live({"f.avi"}, run % 2 == 0);
    Desktop desktop(display.name, "facesat");
    ASSERT_TRUE(desktop.is_there());
    for (unsigned i = random() % 12; i > 0; --i) {
      const int width = 1 + static_cast<int>(random() % 1300);
      const int height = 1 + static_cast<int>(random() % 880);
      switch (random() % 3) {
        case 0:
          desktop.resize({width, height});
          break;
        case 1:
          desktop.minimise();
          break;
        default:
          desktop.restore();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    }
    desktop.close();
    const Finished ended = live.wait();
    EXPECT_EQ(ended.status, 0) << run << ": " << ended.err;
  }
}

// A camera that is unplugged after so many frames. Its raw frames are grey, its compressed ones
// red.
class CameraTest : public WindowTest {
 protected:
  Running start_camera(std::vector<std::string> arguments, int frames) const {
    cv::imwrite(path("red.jpg"), cv::Mat(720, 1280, CV_8UC3, cv::Scalar(0, 0, 255)));
    return start_live(std::move(arguments), false, [this, frames] {
      setenv("LD_PRELOAD", FACESAT_FAKE_CAMERA, 1);
      setenv("FACESAT_FAKE_CAMERA", path("red.jpg").c_str(), 1);
      setenv("FACESAT_FAKE_CAMERA_FRAMES", std::to_string(frames).c_str(), 1);
      setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
    });
  }
  // A frame of a film.
  cv::Mat frame_of(const std::string& name) const {
    cv::Mat frame;
    cv::VideoCapture(path(name)).read(frame);
    return frame;
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
};

TEST_F(CameraTest, IsFoundAndShown) {
  const Finished ended = start_camera({"--frames", "5", "--record", "f.avi"}, 1000).wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const cv::Mat frame = frame_of("f.avi");
  EXPECT_EQ(frame.size(), cv::Size(640, 480));
  EXPECT_NEAR(frame.at<cv::Vec3b>(240, 320)[2], 130, 10);  // raw is as fast, and grey
}

TEST_F(CameraTest, CompressesWhereThatIsFaster) {
  const Finished ended =
      start_camera({"0", "--camera-size", "1280x720", "--frames", "5", "--record", "f.avi"}, 1000)
          .wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const cv::Mat frame = frame_of("f.avi");
  EXPECT_EQ(frame.size(), cv::Size(1280, 720));
  EXPECT_GT(frame.at<cv::Vec3b>(240, 320)[2], 200);
  EXPECT_LT(frame.at<cv::Vec3b>(240, 320)[1], 50);
}

TEST_F(CameraTest, UnpluggedEndsAnUnattendedRunWithItsResults) {
  const Finished ended =
      start_camera({"0", "--frames", "100", "--times", "t.csv", "--screenshot", "s.png"}, 10)
          .wait();
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.err.find("gives no more frames, after "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("of 100 frames"), std::string::npos) << ended.err;
  const std::string times = read_text(folder / "t.csv");
  EXPECT_GT(std::count(times.begin(), times.end(), '\n'), 1);
  EXPECT_FALSE(cv::imread(path("s.png")).empty());
}

TEST_F(CameraTest, UnpluggedIsAMessageNotAnExit) {
  const Running live = start_camera({"--times", "t.csv"}, 30);
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  std::this_thread::sleep_for(3s);  // thirty frames take one
  add_face("face.pgm");
  EXPECT_TRUE(desktop.drop(path("face.pgm")));  // it goes on with something else
  std::this_thread::sleep_for(500ms);
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
  const std::string times = read_text(folder / "t.csv");
  const auto lines = std::count(times.begin(), times.end(), '\n');
  EXPECT_GT(lines, 3);
  EXPECT_LE(lines, 32);
  EXPECT_EQ(times.substr(times.size() - 3), ",1\n");  // a face in the last
}

// What the kernel counts for a process: kB of memory, and open files.
struct Holdings {
  long memory = 0, handles = 0;

  explicit Holdings(int process) {
    const std::string proc = "/proc/" + std::to_string(process);
    const std::string status = read_text(proc + "/status");
    if (const auto at = status.find("VmRSS:"); at != std::string::npos)
      memory = std::atol(status.c_str() + at + 6);
    std::error_code gone;
    for (std::filesystem::directory_iterator i(proc + "/fd", gone), end; !gone && i != end;
         i.increment(gone))
      ++handles;
  }
};

TEST_F(WindowTest, TwoThousandFramesWithoutGrowth) {
  write_film((folder / "f.avi").string(), 30);
  const Running live = start_live({"f.avi", "--frames", "2000", "--times", "t.csv"}, false, [] {
    // AddressSanitizer shall not keep what is freed.
    setenv("ASAN_OPTIONS", "detect_leaks=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0",
           1);
  });
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  // 50 frames a second: 40 seconds or more.
  std::this_thread::sleep_for(10s);
  const Holdings early(live.process());
  std::this_thread::sleep_for(25s);
  const Holdings late(live.process());
  ASSERT_GT(early.memory, 0);
  ASSERT_GT(late.memory, 0);  // it still runs
  EXPECT_LT(late.memory, early.memory + 4000);
  EXPECT_EQ(late.handles, early.handles);
  EXPECT_EQ(live.wait().status, 0);
  const std::string times = read_text(folder / "t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 2001);
}

TEST_F(WindowTest, WhatCannotBeShownEndsAnUnattendedRun) {
  const Finished missing = start_live({"missing.avi", "--frames", "5"}).wait();
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("missing.avi"), std::string::npos);
  EXPECT_EQ(start_live({"--cascade", "nose_ring"}).wait().status, 2);
}

TEST_F(WindowTest, WithoutADisplayItSaysWhatElseThereIs) {
  const Finished refused = run({"live", "face.pgm"}, "", [] {
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
  });
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("there is no display"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("facesat detect"), std::string::npos);
}

}  // namespace
}  // namespace facesat::test
