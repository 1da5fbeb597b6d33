// How the real window is given its sources and goes from one to the next; where it is, what its
// title says, and how its parts share it.
#include "tests/app/live/window_test.hpp"
#include "tests/kit/video.hpp"

namespace facesat::test {
namespace {

using nlohmann::ordered_json;

class WindowSourcesTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    add_grey("a.pgm", first_grey.g);
    add_grey("b.pgm", second_grey.g);
    add_grey("c.pgm", third_grey.g);
    Image<std::uint8_t> flat({400, 50});
    for (int y = 0; y < 50; ++y) std::fill_n(flat.row(y), 400, second_grey.g);
    write_pgm(folder / "flat.pgm", flat);
  }
  static bool shows(const Desktop& desktop, Bgr grey) {
    return desktop.shows(grey, most_of_a_picture);
  }
  // Types into the field of the page for opening, which is open.
  bool open_by_typing(const Desktop& desktop, const std::string& name, Bgr grey) const {
    display.act("xdotool windowfocus $window mousemove 800 700 key ctrl+a type " + name +
                "; xdotool key Return");
    return eventually([&] { return desktop.count(grey) > most_of_a_picture; });
  }
  std::vector<std::string> recent() const {
    const std::string text = read_text("config/facesat/live.json");
    return nlohmann::json::parse(text)["recent"].get<std::vector<std::string>>();
  }
};

TEST_F(WindowSourcesTest, NothingStaysOfThePictureBeforeOneThatCannotBeRead) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  add_face("p/a.pgm");
  write_text(folder / "p/b.pgm", broken_pgm);
  add_face("p/c.pgm");
  const Running live = start_live({"p", "--screenshot", "shot.png"});
  const Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(desktop.shows(box_colour, 1000));
  EXPECT_TRUE(press("Right"));
  EXPECT_TRUE(eventually([&] { return desktop.count(box_colour) < 1000; }));
  EXPECT_TRUE(desktop.shows(warning, letters));
  EXPECT_TRUE(press("Right"));
  EXPECT_TRUE(desktop.shows(box_colour, 1000));
  EXPECT_TRUE(press("Left"));
  EXPECT_TRUE(eventually([&] { return desktop.count(box_colour) < 1000; }));
  EXPECT_TRUE(press("ctrl+q"));
  EXPECT_EQ(live.wait().status, 0);
  EXPECT_LT(plot_pixels("shot.png"), 1500);  // nothing is in the chart of times
}

TEST_F(WindowSourcesTest, EachPictureIsSeenAsAWhole) {
  if (!has_program("xdotool")) GTEST_SKIP() << "skipped: no xdotool";
  const Running live = start_live({"a.pgm", "flat.pgm"});
  const Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  EXPECT_TRUE(shows(desktop, first_grey));
  const int whole = desktop.count(first_grey);
  // Within one frame of a slow machine, a drag is none the less no click, which would open a panel
  // after the time of a double click; and the wheel turns where the pointer was.
  live.signal(SIGSTOP);
  EXPECT_TRUE(
      display.act("xdotool windowfocus $window mousemove 800 400 mousedown 1 "
                  "mousemove 850 400 mousemove 1200 750 mousemove 1270 790 mouseup 1"));
  live.signal(SIGCONT);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_GE(desktop.count(first_grey), whole);
  live.signal(SIGSTOP);
  EXPECT_TRUE(display.act("xdotool mousemove 800 400 click --repeat 5 4 mousemove 1270 790"));
  live.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return desktop.count(first_grey) > whole * 5 / 4; }));
  EXPECT_TRUE(press("Right"));
  EXPECT_TRUE(shows(desktop, second_grey));
  EXPECT_TRUE(eventually([&] { return desktop.count(second_grey) < whole; }));
}

TEST_F(WindowSourcesTest, APathCanBeTyped) {
  constexpr int small_picture = 50'000;  // pixels, on the page
  use_live_until("ctrl+q", {"a.pgm"}, [&](Desktop& desktop) {
    const auto open_page = [&](Bgr shown) {
      EXPECT_TRUE(press("ctrl+o"));
      EXPECT_TRUE(eventually([&] { return desktop.count(shown) < small_picture; }));
    };
    EXPECT_TRUE(desktop.shows(first_grey, small_picture));
    open_page(first_grey);
    EXPECT_TRUE(desktop.shows(first_grey, most_of_a_picture));  // it was opened recently
    EXPECT_TRUE(press("Escape"));  // although the page has the keyboard
    EXPECT_TRUE(desktop.shows(first_grey, small_picture));
    open_page(first_grey);
    EXPECT_TRUE(open_by_typing(desktop, "b.pgm", second_grey));
    open_page(second_grey);
  });
}

TEST_F(WindowSourcesTest, WithoutACameraThePageForOpeningSaysSo) {
  if (std::filesystem::exists("/dev/video0")) GTEST_SKIP() << "skipped: there may be a camera";
  use_live({}, [&](Desktop& desktop) {
    EXPECT_TRUE(desktop.shows(warning, letters));
    EXPECT_EQ(desktop.title(), "facesat");
    EXPECT_TRUE(open_by_typing(desktop, "a.pgm", first_grey));
  });
}

TEST_F(WindowSourcesTest, SeveralFilesAreOneList) {
  use_live({"a.pgm", "b.pgm"}, [&](Desktop& desktop) {
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
  });
}

TEST_F(WindowSourcesTest, PicturesOfAListAreChosenSideBySide) {
  const Running live = start_live({"a.pgm", "b.pgm", "c.pgm"});
  Desktop desktop(display.name, "facesat");
  ASSERT_TRUE(desktop.is_there());
  const auto are_side_by_side = [&] {
    return desktop.shows(third_grey, most_of_a_picture) &&
           desktop.shows(second_grey, most_of_a_picture);
  };
  EXPECT_TRUE(shows(desktop, first_grey));
  EXPECT_TRUE(press("g"));
  EXPECT_TRUE(are_side_by_side());
  EXPECT_TRUE(press("Escape"));
  EXPECT_TRUE(eventually([&] { return desktop.count(third_grey) == 0; }));
  EXPECT_TRUE(press("g"));
  EXPECT_TRUE(are_side_by_side());
  EXPECT_TRUE(press("Escape"));
  live.signal(SIGSTOP);  // even a click within the same frame is one on what the key opens
  EXPECT_TRUE(press("g"));
  EXPECT_TRUE(display.act("xdotool mousemove 640 100 click 1"));  // the second
  live.signal(SIGCONT);
  EXPECT_TRUE(desktop.is_titled("b.pgm - CPU - facesat")) << desktop.title();
  EXPECT_TRUE(shows(desktop, second_grey));
  desktop.close();
  EXPECT_EQ(live.wait().status, 0);
}

TEST_F(WindowSourcesTest, AFolderPlaysAndBeginsAgain) {
  add_grey("p/a.pgm", first_grey.g);
  write_video(path("p/b.avi"), 30);
  use_live({"p", "--times", "t.csv"}, [&](Desktop& desktop) {
    EXPECT_TRUE(shows(desktop, first_grey));
    EXPECT_TRUE(press("space"));
    EXPECT_TRUE(desktop.is_titled("b.avi - CPU - facesat")) << desktop.title();
    EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat")) << desktop.title();
    EXPECT_TRUE(shows(desktop, first_grey));
  });
  EXPECT_GT(lines_in("t.csv"), 4);  // a header, the picture twice, and frames of the video
}

TEST_F(WindowSourcesTest, TheLastSourcesAreRemembered) {
  const auto open = [&](const std::string& name, Bgr grey) {
    use_live({name}, [&](Desktop& desktop) { EXPECT_TRUE(shows(desktop, grey)); });
  };
  open("a.pgm", first_grey);
  open("b.pgm", second_grey);
  open("./a.pgm", first_grey);
  EXPECT_EQ(recent(), (std::vector<std::string>{path("a.pgm"), path("b.pgm")}));
}

class WindowPlaceTest : public WindowTest {
 protected:
  ordered_json remembered() const { return ordered_json::parse(read_text(settings())); }
  std::filesystem::path settings() const { return folder / "config/facesat/live.json"; }
};

TEST_F(WindowPlaceTest, TheTitleNamesSourceAndDevice) {
  add_face("a.pgm");
  add_grey("b c.pgm", second_grey.g);
  use_live({"a.pgm", "--times", "t.csv"}, [&](Desktop& desktop) {
    EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat")) << desktop.title();
    EXPECT_TRUE(desktop.drop(path("b%20c.pgm")));
    EXPECT_TRUE(desktop.is_titled(path("b c.pgm") + " - CPU - facesat")) << desktop.title();
    EXPECT_TRUE(desktop.shows(second_grey, most_of_a_picture));
  });
  EXPECT_EQ(lines_in("t.csv"), 3);  // a header and two pictures
}

TEST_F(WindowPlaceTest, SizeAndPlaceAreThoseOfTheLastTime) {
  add_face("a.pgm");
  const Rect first{130, 70, 900, 650}, second{20, 200, 700, 500};
  const auto run_at = [&](const Rect& from, const Rect& to) {
    use_live({"a.pgm"}, [&](Desktop& desktop) {
      if (from.width > 0) {
        EXPECT_TRUE(eventually([&] { return desktop.place() == from; }));
      }
      desktop.place(to);
      EXPECT_TRUE(eventually([&] { return desktop.place() == to; }));
    });
    EXPECT_EQ(remembered()["window"], ordered_json({to.x, to.y, to.width, to.height}));
  };
  run_at({}, first);
  run_at(first, second);
  run_at(second, first);
}

// As after a second monitor was unplugged.
TEST_F(WindowPlaceTest, APlaceThatIsOnNoMonitorIsNotUsed) {
  add_face("a.pgm");
  const auto run = [&] {
    Rect place;
    use_live({"a.pgm"}, [&](Desktop& desktop) {
      EXPECT_TRUE(desktop.is_titled("a.pgm - CPU - facesat"));
      place = desktop.place();
    });
    return place;
  };
  const Rect usual = run();
  for (const Rect& outside : {Rect{5000, 100, 800, 600}, Rect{100, -3000, 800, 600}}) {
    ordered_json choices = remembered();
    choices["window"] = {outside.x, outside.y, outside.width, outside.height};
    write_text(settings(), choices.dump());
    const Rect shown = run();
    EXPECT_EQ(shown, (Rect{usual.x, usual.y, outside.width, outside.height}));
  }
}

TEST_F(WindowPlaceTest, TheSplitterCanBeDraggedAndStaysThere) {
  constexpr Bgr grey{100, 100, 100};
  write_pgm("wide.pgm", flat({800, 100}, grey.g));  // as wide as the room for it
  const auto run = [&](int from, int to, auto is_before, auto is_after) {
    use_live({"wide.pgm"}, [&](Desktop& desktop) {
      EXPECT_TRUE(eventually([&] { return is_before(desktop.count(grey)); }));
      EXPECT_TRUE(display.act("xdotool windowfocus $window mousemove " + std::to_string(from) +
                              " 500 mousedown 1 mousemove " + std::to_string(to) +
                              " 500 mouseup 1"));
      EXPECT_TRUE(eventually([&] { return is_after(desktop.count(grey)); }));
    });
  };
  const auto is_small = [](int pixels) { return pixels > 70'000 && pixels < 90'000; };
  const auto is_large = [](int pixels) { return pixels > 95'000; };
  run(374, 474, is_large, is_small);
  EXPECT_NEAR(remembered()["side_width"].get<double>(), (474 - 10) / 16.0, 1);
  run(474, 374, is_small, is_large);
}

}  // namespace
}  // namespace facesat::test
