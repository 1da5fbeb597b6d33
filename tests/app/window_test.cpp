// The real window, on a virtual display with a software renderer.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <opencv2/imgcodecs.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/app/program.hpp"

namespace facesat::test {
namespace {

// Xvfb, while it lives; it chooses a free number by itself.
class VirtualDisplay {
 public:
  VirtualDisplay() {
    int ends[2];
    if (pipe(ends) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], 3);
      const int nowhere = open("/dev/null", O_RDWR);
      for (const int descriptor : {0, 1, 2}) dup2(nowhere, descriptor);
      execlp("Xvfb", "Xvfb", "-displayfd", "3", "-screen", "0", "1400x900x24", nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string number;
    for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) number += c;
    close(ends[0]);
    if (!number.empty()) name = ":" + number;
  }
  ~VirtualDisplay() {
    if (process_ <= 0) return;
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  VirtualDisplay(const VirtualDisplay&) = delete;
  VirtualDisplay& operator=(const VirtualDisplay&) = delete;

  std::string name;  // empty: there is no Xvfb

 private:
  pid_t process_ = -1;
};

class WindowTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (display.name.empty()) GTEST_SKIP() << "skipped: there is no Xvfb";
  }
  Running start_live(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"live", "--backend", "cpu", "--no-vsync"});
    return start(arguments, "", [this] {
      setenv("DISPLAY", display.name.c_str(), 1);
      unsetenv("WAYLAND_DISPLAY");
      setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    });
  }
  // Presses keys once the window is there, by xdotool's names.
  bool press(const std::string& keys) const {
    const std::string command = "DISPLAY=" + display.name +
                                " sh -c 'timeout 20 xdotool search --sync --name ^facesat$ "
                                "windowfocus mousemove 300 400 >/dev/null && for k in " +
                                keys + "; do xdotool key $k; sleep 0.3; done' 2>/dev/null";
    return std::system(command.c_str()) == 0;
  }
  // Pixels of a screenshot in the colour of the first cascade's boxes.
  int box_pixels(const std::string& file) const {
    const cv::Mat shot = cv::imread((folder / file).string());
    return static_cast<int>(
        std::count(shot.begin<cv::Vec3b>(), shot.end<cv::Vec3b>(), cv::Vec3b(60, 220, 60)));
  }

  VirtualDisplay display;
};

TEST_F(WindowTest, ShowsThePictureWithItsBoxes) {
  add_face("face.pgm");
  const Finished shown =
      start_live({"face.pgm", "--frames", "5", "--screenshot", "shot.png", "--times", "t.csv"})
          .wait();
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_GT(box_pixels("shot.png"), 200);
  const std::string times = read_text(folder / "t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 2);  // a header and one picture
  EXPECT_EQ(times.substr(0, 17), "frame,capture_ms,");
}

TEST_F(WindowTest, NoFaceNoBox) {
  write_pgm(folder / "grey.pgm", Image<std::uint8_t>({200, 200}));
  EXPECT_EQ(start_live({"grey.pgm", "--frames", "3", "--screenshot", "shot.png"}).wait().status, 0);
  EXPECT_LT(box_pixels("shot.png"), 200);  // the cascade's name in its colour
}

TEST_F(WindowTest, KeysDoWhatTheHelpSays) {
  if (std::system("command -v xdotool >/dev/null") != 0) GTEST_SKIP() << "skipped: no xdotool";
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
  if (std::system("command -v xdotool >/dev/null") != 0) GTEST_SKIP() << "skipped: no xdotool";
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
