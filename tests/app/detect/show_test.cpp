// facesat detect --show: the real window on a virtual display.
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/desktop.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

constexpr Bgr box_colour{60, 220, 60};  // of the first cascade

class Show : public ProgramTest {
 protected:
  void SetUp() override {
    if (display.name.empty()) GTEST_SKIP() << "skipped: there is no Xvfb";
    if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
    for (const char* name : {"a.pgm", "b.pgm", "c.pgm"}) add_face(name);
  }

  // Starts a run that shows pictures. on: a display in place of the test's own; empty: none.
  Running show(
      Arguments arguments, const std::string& on, const Setup& setup = [] {}) const {
    arguments.insert(arguments.begin(), {"detect", "--backend", "cpu", "--show"});
    return start(arguments, "", [&] {
      on.empty() ? unsetenv("DISPLAY") : setenv("DISPLAY", on.c_str(), 1);
      unsetenv("WAYLAND_DISPLAY");
      setup();
    });
  }
  Running show(
      const Arguments& arguments, const Setup& setup = [] {}) const {
    return show(arguments, display.name, setup);
  }

  // Waits until a picture with this title is shown, and presses a key, named as xdotool names it.
  bool press(const std::string& title, const std::string& key) const {
    return display.act("xdotool windowfocus $window mousemove 20 20 key " + key,
                       "--name '^" + title + "$'");
  }
  std::size_t records_in(const std::string& file) const { return read_records(file).size(); }

  VirtualDisplay display;
};

TEST_F(Show, AKeyShowsTheNextPicture) {
  write_text("broken.pgm", broken_pgm);
  const Running run = show({"-o", "r", "a.pgm", "broken.pgm", "b.pgm", "c.pgm"});
  const Desktop desktop(display.name, "a.pgm: 1 face");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.shows(box_colour, 100));
  EXPECT_EQ(desktop.place().width, 120);
  EXPECT_EQ(desktop.place().height, 100);
  EXPECT_EQ(records_in("r"), 1u);
  EXPECT_TRUE(press("a.pgm: 1 face", "space"));
  EXPECT_TRUE(desktop.is_titled("b.pgm: 1 face"));
  EXPECT_EQ(records_in("r"), 3u);
  EXPECT_TRUE(press("b.pgm: 1 face", "Right"));
  EXPECT_TRUE(press("c.pgm: 1 face", "x"));  // means nothing
  EXPECT_TRUE(press("c.pgm: 1 face", "Return"));
  const Finished done = run.wait();
  EXPECT_EQ(done.status, 1) << done.err;  // a picture is broken
  EXPECT_TRUE(has(done.err, "facesat: 4 images, 3 faces, 1 failure"));
}

TEST_F(Show, TheUserEndsTheRunWithItsResultsSoFar) {
  const std::vector<std::string> files{"a.pgm", "b.pgm", "c.pgm"};
  const std::string whole = detect(files).out;
  for (const std::string way : {"q", "Escape", "close"}) {
    const Running run = show({"-o", "r", "a.pgm", "b.pgm", "c.pgm"});
    Desktop desktop(display.name, "a.pgm: 1 face");
    ASSERT_TRUE(desktop.is_there());
    if (way == "close")
      desktop.close();
    else
      EXPECT_TRUE(press("a.pgm: 1 face", way));
    const Finished done = run.wait();
    EXPECT_EQ(done.status, 0) << way << ": " << done.err;
    EXPECT_TRUE(has(done.err, "--resume goes on from here"));
    EXPECT_EQ(read_text("r"), whole.substr(0, whole.find('\n') + 1)) << way;
    EXPECT_EQ(detect({"--resume", "-o", "r", "a.pgm", "b.pgm", "c.pgm"}).status, 0);
    EXPECT_EQ(read_text("r"), whole) << way;
  }
}

TEST_F(Show, ARunThatIsEndedAtItsLastPictureIsComplete) {
  for (const char* jobs : {"1", "4"}) {
    const Running run = show({"-j", jobs, "-o", "r", "a.pgm", "b.pgm"});
    EXPECT_TRUE(press("a.pgm: 1 face", "n"));
    EXPECT_TRUE(press("b.pgm: 1 face", "q"));
    const Finished done = run.wait();
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_FALSE(has(done.err, "--resume"));
    EXPECT_EQ(records_in("r"), 2u);
    EXPECT_FALSE(exists("r.resume"));
  }
}

TEST_F(Show, CtrlCInterruptsWhileAPictureIsShown) {
  const Running run = show({"-o", "r", "a.pgm", "b.pgm"});
  ASSERT_TRUE(Desktop(display.name, "a.pgm: 1 face").is_there());
  run.signal(SIGINT);
  EXPECT_EQ(run.wait().status, 128 + SIGINT);
  EXPECT_EQ(records_in("r"), 1u);
}

// The list on standard input may go on: what it would have named is not lost.
TEST_F(Show, TheUserEndsARunThatWaitsForInputs) {
  ASSERT_EQ(::mkfifo((folder / "list").c_str(), 0600), 0);
  const int list = ::open((folder / "list").c_str(), O_RDWR);
  ASSERT_EQ(::write(list, "a.pgm\n", 6), 6);
  const Running run = show({"-o", "r", "-"}, [] { ::dup2(::open("list", O_RDONLY), 0); });
  EXPECT_TRUE(press("a.pgm: 1 face", "q"));
  const Finished done = run.wait();
  ::close(list);
  EXPECT_TRUE(ended(done, 0, "--resume"));
  EXPECT_EQ(records_in("r"), 1u);
  EXPECT_TRUE(exists("r.resume"));
}

TEST_F(Show, EveryFrameOfAVideoIsShown) {
  write_video(path("v.avi"), 3);
  const Running run = show({"v.avi"});
  for (const char* frame : {"0", "1", "2"})
    EXPECT_TRUE(press(std::string("v.avi, frame ") + frame + ": 0 faces", "space"));
  const Finished done = run.wait();
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(done.records().size(), 3u);
}

TEST_F(Show, LargePicturesFitOnTheScreen) {
  write_pgm("large.pgm", draw_faces({3500, 1000}, {{500, 500, 300}}));
  const Running run = show({"large.pgm", "a.pgm"});
  const Desktop desktop(display.name, "large.pgm: 1 face");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.shows(box_colour, 500));
  EXPECT_TRUE(eventually([&] { return desktop.place().width == 1260; }));  // 0.9 * 1400
  EXPECT_EQ(desktop.place().height, 360);
  EXPECT_TRUE(press("large.pgm: 1 face", "space"));
  EXPECT_TRUE(press("a.pgm: 1 face", "q"));
  EXPECT_EQ(run.wait().status, 0);
}

TEST_F(Show, WithoutADisplayNothingIsProcessed) {
  for (const std::string missing : {"", ":9999", "no display"}) {
    const Finished done = show({"-o", "r", "a.pgm"}, missing).wait();
    EXPECT_EQ(done.status, 2);
    EXPECT_EQ(done.err, missing.empty()
                            ? "facesat: --show: there is no display to open a window on; over SSH, "
                              "'ssh -X' gives one\n"
                            : "facesat: --show: no window can be opened on the display \"" +
                                  missing + "\"\n");
    EXPECT_FALSE(exists("r"));
  }
}

TEST_F(Show, TheEndOfTheDisplayIsReported) {
  VirtualDisplay other;
  const Running run = show({"-o", "r", "a.pgm", "b.pgm"}, other.name);
  ASSERT_TRUE(Desktop(other.name, "a.pgm: 1 face").is_there());
  other.end();
  EXPECT_TRUE(ended(run.wait(), 3, "the connection to the display was lost"));
  EXPECT_EQ(detect({"--resume", "-o", "r", "a.pgm", "b.pgm"}).status, 0);
  EXPECT_EQ(records_in("r"), 2u);
}

// Its libraries take long to load, and a server has no use for them.
TEST_F(Show, TheWindowsLibrariesAreLoadedOnlyForIt) {
  const Finished done = run({"detect", "a.pgm"}, "", [] {
    setenv("LD_DEBUG", "files", 1);
    setenv("LD_DEBUG_OUTPUT", "loaded", 1);
  });
  EXPECT_EQ(done.status, 0) << done.err;
  std::string loaded;
  for (const std::string& file : files_below("."))
    if (file.starts_with("loaded")) loaded += read_text(file);
  EXPECT_TRUE(has(loaded, "libtbb"));
  for (const char* other : {"libfacesat_opencv.so", "highgui"})
    EXPECT_FALSE(has(loaded, other)) << other;
}

}  // namespace
}  // namespace facesat::test
