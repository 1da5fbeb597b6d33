// How the real window is given its sources, and how it goes from one to the next.
#include <chrono>
#include <thread>

#include "tests/app/live/window_test.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

class WindowSourcesTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    add_grey("a.pgm", first_grey.g);
    add_grey("b.pgm", second_grey.g);
    add_grey("c.pgm", third_grey.g);
  }
  static bool shows(const Desktop& desktop, Bgr grey) {
    return desktop.shows(grey, most_of_a_picture);
  }
  // Types into the field of the page for opening, which is open. Dear ImGui 1.86 does not see a key
  // that is pressed and released within a frame, so Enter is held for longer than most frames take.
  bool open_by_typing(const Desktop& desktop, const std::string& name, Bgr grey) const {
    const std::string script = "xdotool windowfocus $window mousemove 800 700 key ctrl+a type " +
                               name + "; xdotool keydown Return sleep 0.4 keyup Return";
    return eventually([&] {
      display.act(script);
      for (int i = 0; i < 100; ++i) {
        if (desktop.count(grey) > most_of_a_picture) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      return false;
    });
  }
  std::vector<std::string> recent() const {
    const std::string text = read_text(folder / "config/facesat/live.json");
    return nlohmann::json::parse(text)["recent"].get<std::vector<std::string>>();
  }
};

TEST_F(WindowSourcesTest, APathCanBeTyped) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  const Running live = start_live({"a.pgm"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(press("ctrl+o"));
  EXPECT_TRUE(eventually([&] { return desktop.count(first_grey) < most_of_a_picture; }));
  EXPECT_TRUE(press("Escape"));  // although the page has the keyboard
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(press("ctrl+o"));
  EXPECT_TRUE(eventually([&] { return desktop.count(first_grey) < most_of_a_picture; }));
  EXPECT_TRUE(open_by_typing(desktop, "b.pgm", second_grey));
  EXPECT_TRUE(press("ctrl+o"));
  EXPECT_TRUE(eventually([&] { return desktop.count(second_grey) < most_of_a_picture; }));
  EXPECT_TRUE(press("ctrl+q"));
  EXPECT_EQ(live.wait().status, 0);
}

TEST_F(WindowSourcesTest, WithoutACameraThePageForOpeningSaysSo) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  if (std::filesystem::exists("/dev/video0")) GTEST_SKIP() << "skipped: there may be a camera";
  const Running live = start_live({});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.shows(warning, letters));
  EXPECT_EQ(desktop.title(), "facesat");
  EXPECT_TRUE(open_by_typing(desktop, "a.pgm", first_grey));
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
}

TEST_F(WindowSourcesTest, SeveralFilesAreOneList) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  const Running live = start_live({"a.pgm", "b.pgm"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(press("Next"));  // Page Down
  EXPECT_TRUE(shows(desktop, second_grey));
  EXPECT_TRUE(desktop.is_titled("b.pgm - CPU - facesat")) << desktop.title();
  EXPECT_TRUE(press("Prior"));
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(desktop.drop({path("c.pgm"), path("b.pgm")}));
  EXPECT_TRUE(shows(desktop, third_grey));
  EXPECT_TRUE(press("Next"));
  EXPECT_TRUE(shows(desktop, second_grey));
  EXPECT_TRUE(press("Next Prior"));  // there is none after the last
  EXPECT_TRUE(shows(desktop, third_grey));
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
}

TEST_F(WindowSourcesTest, AFolderPlaysAndBeginsAgain) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  add_grey("p/a.pgm", first_grey.g);
  write_video(path("p/b.avi"), 30);
  const Running live = start_live({"p", "--times", "t.csv"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(press("space"));
  EXPECT_TRUE(desktop.is_titled("b.avi - CPU - facesat")) << desktop.title();
  EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat")) << desktop.title();
  EXPECT_TRUE(shows(desktop, first_grey));
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
  EXPECT_GT(lines_in("t.csv"), 4);  // a header, the picture twice, and frames of the video
}

TEST_F(WindowSourcesTest, TheLastSourcesAreRemembered) {
  const auto open = [&](const std::string& name, Bgr grey) {
    const Running live = start_live({name});
    Desktop desktop(display.name, "facesat");
    ASSERT_TRUE(desktop.is_there());
    EXPECT_TRUE(shows(desktop, grey));
    desktop.close();
    EXPECT_EQ(live.wait().status, 0);
  };
  open("a.pgm", first_grey);
  open("b.pgm", second_grey);
  open("./a.pgm", first_grey);
  EXPECT_EQ(recent(), (std::vector<std::string>{path("a.pgm"), path("b.pgm")}));
}

}  // namespace
}  // namespace facesat::test
