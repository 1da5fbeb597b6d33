// The real window, on a virtual display with a software renderer.
#include "tests/app/live/window_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include <fcntl.h>
#include <glad/gl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/live/gui/screen.hpp"
#include "support/files.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST_F(WindowTest, ShowsThePictureWithItsBoxes) {
  add_face("face.pgm");
  run_live({"face.pgm", "--frames", "5", "--screenshot", "shot.png", "--times", "t.csv"});
  EXPECT_GT(box_pixels("shot.png"), 200);
  EXPECT_GT(plot_pixels("shot.png"), 5000);
  const std::string times = read_text("t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 2);  // a header and one picture
  EXPECT_EQ(times.substr(0, 17), "frame,capture_ms,");
}

TEST_F(WindowTest, ShowsTheDemoAlbum) {
  const char* const album = std::getenv("FACESAT_ALBUM");
  if (!album) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no album";
  run_live(
      {std::string(album) + "/grace_hopper.jpg", "--frames", "5", "--screenshot", "portrait.png"});
  EXPECT_GT(box_pixels("portrait.png"), 200);
  run_live({std::string(album) + "/movie.avi", "--frames", "60", "--screenshot", "video.png",
            "--times", "t.csv"});
  EXPECT_GT(plot_pixels("video.png"), 5000);
  const std::string times = read_text("t.csv");
  EXPECT_EQ(std::count(times.begin(), times.end(), '\n'), 61);
}

TEST_F(WindowTest, NoFaceNoBox) {
  add_grey("grey.pgm", 120);
  run_live({"grey.pgm", "--frames", "3", "--screenshot", "shot.png"});
  EXPECT_LT(box_pixels("shot.png"), 200);  // the cascade's name in its colour
}

TEST_F(WindowTest, KeysDoWhatTheHelpSays) {
  add_grey("p/a.pgm", first_grey.g);
  add_grey("p/b.pgm", second_grey.g);
  use_live_until("ctrl+q", {"p", "--times", "t.csv"}, [&](Desktop& desktop) {
    EXPECT_TRUE(desktop.shows(first_grey, most_of_a_picture));
    EXPECT_TRUE(press("h h l t f 1 F11 F11 space Right"));
    EXPECT_TRUE(desktop.shows(second_grey, most_of_a_picture));
    EXPECT_TRUE(press("q s"));  // without Ctrl they neither write files nor quit
    EXPECT_TRUE(press("Left"));
    EXPECT_TRUE(desktop.shows(first_grey, most_of_a_picture));
  });
  EXPECT_EQ(lines_in("t.csv"), 4);  // a header and three lines, one per frame shown
}

TEST_F(WindowTest, TabHidesThePanels) {
  add_face("face.pgm");
  for (const char* keys : {"Tab ctrl+q", "Tab Tab ctrl+q"}) {
    use_live_until(keys, {"face.pgm", "--screenshot", "shot.png"},
                   [](Desktop& desktop) { EXPECT_TRUE(desktop.shows(box_colour, 200)); });
    EXPECT_EQ(plot_pixels("shot.png") > 5000, std::string(keys) == "Tab Tab ctrl+q");
  }
}

TEST_F(WindowTest, ShowsTheValueUnderThePointer) {
  add_grey("grey.pgm", first_grey.g);
  const auto letters_over_the_picture = [&](const char* pointer) {
    const auto end = [&](const Running&, Desktop&) {
      EXPECT_TRUE(display.act(std::string("xdotool windowfocus $window mousemove ") + pointer +
                              " key ctrl+q"));
    };
    use_live({"grey.pgm", "--screenshot", "shot.png"},
             [](Desktop& desktop) { EXPECT_TRUE(desktop.shows(first_grey, most_of_a_picture)); },
             {.end = end});
    const cv::Mat shot = cv::imread(path("shot.png"));
    constexpr int panels = 380, height = 642;  // the strip of faces is below
    const cv::Mat picture = shot(cv::Rect(panels, 0, shot.cols - panels, height));
    // Nothing else there is so bright.
    const auto is_letter = [](const cv::Vec3b& c) { return c[0] > first_grey.b + 50; };
    return std::count_if(picture.begin<cv::Vec3b>(), picture.end<cv::Vec3b>(), is_letter);
  };
  EXPECT_EQ(letters_over_the_picture("5 5"), 0);
  EXPECT_GT(letters_over_the_picture("800 400"), 100);
}

TEST_F(WindowTest, ChoicesAreRememberedUnlessTheCommandLineSaysOtherwise) {
  add_face("a.pgm");
  const auto remembered = [&] { return read_text("config/facesat/live.json"); };
  for (const char* factor : {"1.3", ""}) {  // given once, remembered the second time
    std::vector<std::string> arguments{"a.pgm"};
    if (*factor) arguments.insert(arguments.end(), {"--scale-factor", factor});
    const Running live = start_live(arguments);
    EXPECT_TRUE(press(*factor ? "t l ctrl+plus ctrl+plus ctrl+minus ctrl+q" : "ctrl+q"));
    EXPECT_EQ(live.wait().status, 0);
    EXPECT_TRUE(has(remembered(), "\"scale_factor\": 1.3"));
    EXPECT_TRUE(has(remembered(), "\"dark\": false"));
    EXPECT_TRUE(has(remembered(), "\"labels\": false"));
    EXPECT_TRUE(has(remembered(), "\"font_size\": 17"));
  }
}

// The largest side of a texture on this display.
int largest_texture(const std::string& display) {
  setenv("DISPLAY", display.c_str(), 1);
  unsetenv("WAYLAND_DISPLAY");
  const app::Screen screen("probe", {}, false);
  int side = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
  return side;
}

TEST_F(WindowTest, PicturesLargerThanATextureAreShownWithTheirBoxes) {
  const int side = largest_texture(display.name);
  ASSERT_GT(side, 1000);
  const Size size{side + side / 10 + 1, 800};
  write_pgm("wide.pgm", draw_faces(size, {{size.width * 3 / 4, 400, 300}}));
  run_live({"wide.pgm", "--scale-factor", "1.3", "--frames", "3", "--screenshot", "shot.png"});
  const auto records = detect({"--backend", "cpu", "--scale-factor", "1.3", "wide.pgm"}).records();
  ASSERT_EQ(records.size(), 1u);
  ASSERT_EQ(records[0]["faces"].size(), 1u);
  const double left = records[0]["faces"][0]["x"].get<double>() / size.width;

  const cv::Mat shot = cv::imread(path("shot.png"));
  // The first and last columns of the picture's background and of the box, and their mean row.
  const auto columns_of = [&](Bgr c) {
    int first = shot.cols, last = -1, count = 0, rows = 0;
    for (int y = 0; y < 600; ++y)            // above the strip of faces
      for (int x = 380; x < shot.cols; ++x)  // right of the panels
        if (shot.at<cv::Vec3b>(y, x) == cv::Vec3b(c.b, c.g, c.r))
          ++count, rows += y, first = std::min(first, x), last = std::max(last, x);
    return std::array{first, last, count, rows / std::max(count, 1)};
  };
  const auto [begin, end, pixels, unused] = columns_of({70, 70, 70});
  EXPECT_GT(pixels, most_of_a_picture);
  const auto [box, box_end, box_pixel_count, box_row] = columns_of(box_colour);
  EXPECT_GT(box_pixel_count, 100);
  EXPECT_NEAR(box, begin + left * (end + 1 - begin), 2);
  // In the box is the face, which is brighter than its background.
  EXPECT_GT(shot.at<cv::Vec3b>(box_row, (box + box_end) / 2)[1], 100);
}

TEST_F(WindowTest, ChoicesThatCannotBeRememberedAreNoFailure) {
  add_face("a.pgm");
  write_text("config", "not a folder");
  const Finished ended = use_live({"a.pgm"}, [](Desktop&) {});
  EXPECT_TRUE(has(ended.err, "facesat: your choices cannot be remembered: "));
}

// Tested with a window that redraws all the time and with one that waits, as in normal use.
TEST_F(WindowTest, ResizedMinimisedAndClosedAtAnyMoment) {
  write_video(path("f.avi"), 30);
  std::minstd_rand random(5);
  for (int run = 0; run < 6; ++run) {
    use_live({"f.avi"},
             [&](Desktop& desktop) {
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
             },
             {.waits = run % 2 == 0});
  }
}

// The operating system's figures for a process: kB of memory, and open files. Zero after its end.
struct Holdings {
  long memory = 0, handles = 0;
  bool has_file = false;  // the given file is open

  Holdings(int process, const fs::path& file) {
    const std::string proc = "/proc/" + std::to_string(process);
    const std::string status = read_text(proc + "/status");
    if (const auto at = status.find("VmRSS:"); at != std::string::npos)
      memory = std::atol(status.c_str() + at + 6);
    std::error_code gone;
    for (fs::directory_iterator i(proc + "/fd", gone), end; !gone && i != end; i.increment(gone)) {
      ++handles;
      has_file |= same_file(i->path(), file);
    }
  }
};

// A full pipe in place of a file: a process that writes to it blocks at its first bytes.
class FullPipe {
 public:
  explicit FullPipe(fs::path name) : file(std::move(name)) {
    EXPECT_EQ(::mkfifo(file.c_str(), 0600), 0);
    pipe_ = ::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    while (::write(pipe_, " ", 1) == 1) {
    }
  }
  ~FullPipe() { ::close(pipe_); }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  // Everything that can be read now.
  std::string drain() const {
    std::string all;
    char block[4096];
    for (ssize_t size; (size = ::read(pipe_, block, sizeof block)) > 0;)
      all.append(block, static_cast<std::size_t>(size));
    return all;
  }

  const fs::path file;

 private:
  int pipe_ = -1;
};

TEST_F(WindowTest, HundredsOfFramesWithoutGrowth) {
  write_video(path("f.avi"), 30, 240);
  // The holdings of a run that has processed its frames and is about to write their times.
  const auto holdings_after = [&](int frames) {
    const FullPipe times(folder / ("times" + std::to_string(frames)));
    const Running live = start_live(
        {"f.avi", "--frames", std::to_string(frames), "--times", times.file.filename()}, false, [] {
          // AddressSanitizer must not retain freed memory.
          setenv("ASAN_OPTIONS",
                 "detect_leaks=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0", 1);
        });
    // Before exec, the process has the open files of this test, including the pipe: wait for the
    // program's window.
    EXPECT_TRUE(Desktop(display.name, "facesat").is_there());
    const auto now = [&] { return Holdings(live.process(), times.file); };
    Holdings held = now();
    for (; held.handles > 0 && !held.has_file; held = now()) std::this_thread::sleep_for(20ms);
    std::string text;
    for (bool has_ended = false; !has_ended; std::this_thread::sleep_for(5ms)) {
      has_ended = now().handles == 0;
      text += times.drain();
    }
    EXPECT_EQ(live.wait().status, 0);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), frames + 1);
    return held;
  };
  const Holdings early = holdings_after(200), late = holdings_after(1200);
  ASSERT_TRUE(early.has_file && late.has_file);
  EXPECT_LT(late.memory, early.memory + 6000);  // kB; a frame has 9, so to keep all would take 9000
  EXPECT_EQ(late.handles, early.handles);
}

TEST_F(WindowTest, WhatCannotBeShownEndsAnUnattendedRun) {
  const Finished missing = run_live({"missing.avi", "--frames", "5"}, 2);
  EXPECT_TRUE(has(missing.err, "missing.avi"));
  run_live({"--cascade", "nose_ring"}, 2);
  write_text("broken.pgm", "broken");
  const Finished broken = run_live({"broken.pgm", "--frames", "5"}, 2);
  EXPECT_TRUE(has(broken.err, "broken.pgm: "));
  const Finished long_name = run_live({std::string(300, 'n'), "--frames", "5"}, 2);
  EXPECT_TRUE(has(long_name.err, "File name too long"));
}

}  // namespace
}  // namespace facesat::test
