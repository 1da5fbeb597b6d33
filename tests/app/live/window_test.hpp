// The base of tests that start the real window on a virtual display.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "tests/kit/desktop.hpp"
#include "tests/kit/eventually.hpp"
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
    const Finished ended = start_live(arguments, false, setup).wait();
    EXPECT_EQ(ended.status, status) << ended.err;
    return ended;
  }
  // Starts the program, calls use(desktop) once its window is there, and closes the window. The
  // program must then end with this status.
  template <class Use>
  Finished use_live(const std::vector<std::string>& arguments, const Use& use, bool waits = false,
                    int status = 0) const {
    const Running live = start_live(arguments, waits);
    Desktop desktop(display.name, "facesat");
    EXPECT_TRUE(desktop.is_there());
    if (desktop.is_there()) {
      use(desktop);
      desktop.close();
    } else {
      live.signal(SIGKILL);
    }
    const Finished ended = live.wait();
    EXPECT_EQ(ended.status, status) << ended.err;
    return ended;
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
    Image<std::uint8_t> picture({200, 200});
    for (int y = 0; y < 200; ++y) std::fill_n(picture.row(y), 200, grey);
    write_pgm(folder / name, picture);
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
