// The base of tests that start the real window on a virtual display.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "tests/kit/desktop.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

// Colours of the window.
constexpr Bgr box_colour{60, 220, 60};  // of the first cascade
constexpr Bgr warning{51, 153, 255};    // of messages about errors
constexpr Bgr step_colours[] = {{130, 120, 120}, {60, 110, 160},  {233, 180, 86},
                                {115, 158, 0},   {66, 228, 240},  {0, 94, 213},
                                {178, 114, 0},   {167, 121, 204}, {180, 170, 170}};
constexpr int most_of_a_picture = 10000;  // pixels
constexpr int letters = 50;               // pixels of the bar that marks even a short message

// Of pictures that add_grey() writes.
constexpr Bgr first_grey{100, 100, 100}, second_grey{150, 150, 150}, third_grey{200, 200, 200};

class WindowTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (display.name.empty()) GTEST_SKIP() << "skipped: there is no Xvfb";
    if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  }
  // Keeps screenshots for inspection.
  void TearDown() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path kept = FACESAT_SCREENSHOTS;
    std::filesystem::create_directories(kept);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".png")
        std::filesystem::copy_file(
            entry.path(),
            kept / (std::string(test->name()) + "." + entry.path().filename().string()),
            std::filesystem::copy_options::overwrite_existing);
  }
  // Starts `facesat live`. waits: the window draws when there is something new; otherwise it draws
  // as fast as it can. other: a display in place of the test's own.
  Running start_live(
      std::vector<std::string> arguments, bool waits = false, const Setup& setup = [] {},
      const std::string& other = "") const {
    arguments.insert(arguments.begin(), {"live", "--backend", "cpu"});
    if (!waits) arguments.emplace_back("--no-vsync");
    return start(arguments, "", [this, setup, &other] {
      setup();
      setenv("DISPLAY", (other.empty() ? display.name : other).c_str(), 1);
      unsetenv("WAYLAND_DISPLAY");
      setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    });
  }
  // Runs the program to its end, which must have this status.
  Finished run_live(
      const std::vector<std::string>& arguments, int status = 0, const Setup& setup = [] {}) const {
    Finished ended = start_live(arguments, false, setup).wait();
    EXPECT_EQ(ended.status, status) << ended.err;
    return ended;
  }
  // How a window is used. waits: as above; end(live, desktop) ends the program, whose status must
  // then be this.
  struct Usage {
    bool waits = false;
    int status = 0;
    std::function<void(const Running&, Desktop&)> end = [](const Running&, Desktop& desktop) {
      desktop.close();
    };
  };
  // Starts the program, calls use(desktop) once its window is there, and ends the program.
  template <class Use>
  Finished use_live(const std::vector<std::string>& arguments, const Use& use,
                    const Usage& usage) const {
    const Running live = start_live(arguments, usage.waits);
    Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.is_there());
    if (desktop.is_there()) {
      use(desktop);
      usage.end(live, desktop);
    } else {
      live.signal(SIGKILL);
    }
    Finished ended = live.wait();
    EXPECT_EQ(ended.status, usage.status) << ended.err;
    return ended;
  }
  template <class Use>
  Finished use_live(const std::vector<std::string>& arguments, const Use& use) const {
    return use_live(arguments, use, Usage());
  }
  // The same, ended by these keys.
  template <class Use>
  Finished use_live_until(const std::string& keys, const std::vector<std::string>& arguments,
                          const Use& use) const {
    const auto end = [&](const Running&, Desktop&) { EXPECT_TRUE(press(keys)); };
    return use_live(arguments, use, {.end = end});
  }
  // Presses keys, named as xdotool names them, with the pointer over the picture.
  bool press(const std::string& keys) const {
    return display.act("xdotool windowfocus $window mousemove 800 400; for key in " + keys +
                       "; do xdotool key $key; done");
  }
  int pixels_of_colour(const std::string& file, Bgr c) const {
    const cv::Mat shot = cv::imread((folder / file).string());
    return static_cast<int>(
        std::count(shot.begin<cv::Vec3b>(), shot.end<cv::Vec3b>(), cv::Vec3b(c.b, c.g, c.r)));
  }
  int box_pixels(const std::string& file) const { return pixels_of_colour(file, box_colour); }
  // The number of pixels in the colours of the steps: in the bar and the plot of times, and a few
  // in the table of times.
  int plot_pixels(const std::string& file) const {
    int pixels = 0;
    for (const Bgr colour : step_colours) pixels += pixels_of_colour(file, colour);
    return pixels;
  }
  // A picture with this grey value everywhere.
  void add_grey(const std::string& name, std::uint8_t grey) const {
    write_pgm(name, flat({200, 200}, grey));
  }
  // Waits until the file exists.
  bool comes(const std::string& name) const {
    return eventually([&] { return std::filesystem::exists(folder / name); });
  }
  int frames_in(const std::string& video) const {
    cv::VideoCapture capture(path(video));
    int frames = 0;
    for (cv::Mat frame; capture.read(frame);) ++frames;
    return frames;
  }
  long lines_in(const std::string& name) const {
    const std::string text = read_text(folder / name);
    return std::count(text.begin(), text.end(), '\n');
  }

  VirtualDisplay display;
};

}  // namespace facesat::test
