// The bar below the picture and its marks, the page that opens something, short messages, and the
// font. Tests of the font are skipped where no known one is installed.
#include "app/live/panels/window_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include "app/live/gui/screen.hpp"
#include "app/live/gui/widgets.hpp"
#include "app/live/panels/main_window.hpp"
#include "app/live/panels/pinned.hpp"
#include "app/live/panels/start_page.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

using test::eventually;
using test::PanelTest;

TEST_F(PanelTest, TheBarStepsThroughAFolder) {
  add_face("p/a.pgm");
  add_face("p/b.pgm", 1);
  Capture capture([](const Frame&) {});
  const auto draw = [&] { draw_player_bar(capture, capture.state(), FaceMarks(), false, false); };
  frame(draw);  // nothing is open yet
  capture.open({path("p")});
  const auto shows = [&](const std::string& name) {
    return eventually([&] { return capture.state().title == name; });
  };
  ASSERT_TRUE(shows("a.pgm"));
  press("##next", draw);
  EXPECT_TRUE(shows("b.pgm"));
  press("##previous", draw);
  EXPECT_TRUE(shows("a.pgm"));
  type("##position", "2", draw);  // pictures are counted from 1
  EXPECT_TRUE(shows("b.pgm"));
  type("##slides", "0.5", draw);
  EXPECT_NEAR(capture.state().slide_seconds, 0.5, 1e-6);
  press("##play", draw);
  EXPECT_TRUE(shows("a.pgm"));
}

TEST_F(PanelTest, TheBarPlaysAndSeeksInAVideo) {
  test::write_video(path("f.avi"), 30);
  Capture capture([](const Frame&) {});
  const auto draw = [&] { draw_player_bar(capture, capture.state(), FaceMarks(), false, false); };
  capture.open({path("f.avi")});
  ASSERT_TRUE(eventually([&] { return capture.state().title == path("f.avi"); }));
  press("##play", draw);
  EXPECT_FALSE(capture.state().playing);
  const auto is_at = [&](double seconds) {
    return eventually([&] { return std::abs(capture.state().position - seconds) < 1e-6; });
  };
  type("##position", "0.44", draw);  // seconds: frame 22 of 30
  EXPECT_TRUE(is_at(0.44)) << capture.state().position;
  press("##back", draw);
  EXPECT_TRUE(is_at(0.42));
  press("##forward", draw);
  EXPECT_TRUE(is_at(0.44));
  type("##speed", "2.5", draw);
  EXPECT_NEAR(capture.state().speed, 2.5, 1e-6);
  press("loop", draw);  // off, so that the video ends
  press("##play", draw);
  EXPECT_TRUE(eventually([&] { return capture.state().message == Capture::ended; }));
}

// A picture that fills the panel below the title, and a pointer over it.
class PictureViewTest : public PanelTest {
 protected:
  PictureViewTest() {
    view.set(picture.view());
    pass();
  }
  // Draws the next frame of the user interface.
  void pass() {
    ImGui::GetIO().DeltaTime = 0.05f;
    frame([&] { view.draw(); });
    clicked |= view.clicked_once().has_value();
  }
  void move_to(float x, float y) {
    ImGui::GetIO().MousePos = view.at(x, y);
    pass();
  }
  void hold(bool is_down) {
    ImGui::GetIO().MouseDown[0] = is_down;
    pass();
  }
  void click() {
    hold(true);
    hold(false);
  }
  void wait() {
    for (int i = 0; i < 20; ++i) pass();
  }

  const Image<Bgr> picture{{100, 50}};
  PictureView view;
  bool clicked = false;  // once
};

TEST_F(PictureViewTest, AClickCountsOnceNoOtherFollows) {
  move_to(30, 20);
  click();
  EXPECT_FALSE(clicked);
  wait();
  EXPECT_TRUE(clicked);
}

TEST_F(PictureViewTest, ADoubleClickIsNoClick) {
  move_to(30, 20);
  click();
  click();
  wait();
  EXPECT_FALSE(clicked);
  EXPECT_EQ(view.zoom(), 1);
}

TEST_F(PictureViewTest, DraggingIsNoClick) {
  move_to(30, 20);
  hold(true);
  move_to(50, 20);
  hold(false);
  wait();
  EXPECT_FALSE(clicked);
}

TEST_F(PictureViewTest, TheLineMovesAndHidesWhatIsLeftOfIt) {
  view.pin(picture.view());
  view.compare(true);
  move_to(20, 20);
  EXPECT_FALSE(view.pointed());
  move_to(80, 20);
  EXPECT_TRUE(view.pointed());
  move_to(50, 20);  // the line is in the middle
  hold(true);
  move_to(10, 20);
  hold(false);
  wait();
  EXPECT_FALSE(clicked);
  move_to(20, 20);
  EXPECT_TRUE(view.pointed());
  view.compare(false);
  move_to(5, 20);
  EXPECT_TRUE(view.pointed());
}

TEST_F(PictureViewTest, WithShiftABoxIsDrawn) {
  hold_shift(true);
  move_to(30.5f, 19.5f);
  const ImVec2 corner = view.at(0, 0);
  hold(true);
  EXPECT_FALSE(view.marking());
  move_to(50.5f, 10.5f);  // up and to the right
  EXPECT_EQ(view.marking(), (Rect{30, 10, 21, 10}));
  EXPECT_FALSE(view.marked());
  hold_shift(false);  // at the beginning it counts
  hold(false);
  EXPECT_EQ(view.marked(), (Rect{30, 10, 21, 10}));
  EXPECT_FALSE(view.marking());
  pass();
  EXPECT_FALSE(view.marked());
  EXPECT_EQ(view.at(0, 0).x, corner.x);  // the picture has not moved
  wait();
  EXPECT_FALSE(clicked);
}

TEST_F(PictureViewTest, ABoxEndsAtTheEdgesOfThePicture) {
  hold_shift(true);
  move_to(90.5f, 40.5f);
  hold(true);
  move_to(110, 80);
  hold(false);
  EXPECT_EQ(view.marked(), (Rect{90, 40, 10, 10}));
}

TEST_F(PictureViewTest, AClickWithShiftIsAnEmptyBox) {
  hold_shift(true);
  move_to(30, 20);
  const float zoom = view.zoom();
  hold(true);
  hold(false);
  EXPECT_EQ(view.marked(), Rect{});
  click();
  EXPECT_EQ(view.zoom(), zoom);  // no double click
  wait();
  EXPECT_FALSE(clicked);
}

TEST_F(PictureViewTest, BoxesAreDrawnWithoutShiftIfThatIsWanted) {
  view.draw_boxes(true);
  move_to(30.5f, 10.5f);
  hold(true);
  move_to(49.5f, 39.5f);
  hold(false);
  EXPECT_EQ(view.marked(), (Rect{30, 10, 20, 30}));
  view.one_to_one();
  hold_shift(true);
  move_to(30.5f, 10.5f);
  hold(true);
  move_to(49.5f, 39.5f);
  EXPECT_FALSE(view.marking());
  hold(false);
  EXPECT_FALSE(view.marked());
}

TEST(PinnedResult, SaysWhatDiffers) {
  LiveSettings pinned = test::cpu_settings({"eye"}), now = test::cpu_settings({"eye", "smile"});
  EXPECT_EQ(different_settings(now, now), "");
  now.detect.min_neighbors = 5;
  now.detect.min_size = {30, 30};
  pinned.detect.inside_of = "eye";
  EXPECT_EQ(different_settings(pinned, now), "eye, min-neighbors 3, min-size 0x0, inside-of eye");
  EXPECT_EQ(different_settings(now, pinned),
            "eye + smile, min-neighbors 5, min-size 30x30, without inside-of");
}

TEST(SettingsHistory, UndoesChangesOneByOne) {
  SettingsHistory history;
  EXPECT_FALSE(history.undo());
  LiveSettings settings = test::cpu_settings();
  history.note(settings);
  history.note(settings);
  EXPECT_FALSE(history.undo());
  const LiveSettings first = settings;
  settings.inspection.explains = true;  // no change of detection
  history.note(settings);
  EXPECT_FALSE(history.undo());
  for (const int neighbors : {4, 5, 6}) {  // a slider that is dragged
    settings.detect.min_neighbors = neighbors;
    history.note(settings);
  }
  const std::optional<LiveSettings> before = history.undo();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->detect, first.detect);
  EXPECT_TRUE(before->inspection.explains);
  EXPECT_FALSE(history.undo());
  history.note(*before);
  EXPECT_FALSE(history.undo());  // what was undone is no change
  settings.choose("eye");
  history.note(settings);
  EXPECT_EQ(history.undo(), before);
  settings = *before;
  settings.backend.sat = "another";  // as when two take turns
  history.note(settings);
  EXPECT_FALSE(history.undo());
}

TEST_F(PanelTest, TheBarHasTools) {
  Capture capture([](const Frame&) {});
  std::optional<Tool> tool;
  const auto draw = [&] {
    if (const auto pressed = draw_player_bar(capture, capture.state(), FaceMarks(), false, false))
      tool = pressed;
  };
  for (const auto& [id, expected] :
       {std::pair{"##compare", Tool::compare}, std::pair{"##screenshot", Tool::screenshot},
        std::pair{"##record", Tool::record}, std::pair{"##theme", Tool::theme},
        std::pair{"##help", Tool::help}}) {
    press(id, draw);
    EXPECT_EQ(tool, expected) << id;
  }
}

TEST(PlayerBar, TimesAreWrittenAsOnAClock) {
  EXPECT_EQ(clock_time(0), "0:00.00");
  EXPECT_EQ(clock_time(63.204), "1:03.20");
  EXPECT_EQ(clock_time(59.999), "1:00.00");
  EXPECT_EQ(clock_time(3723.5), "1:02:03.50");
}

TEST(Toasts, GoAfterSomeSecondsButWarningsStay) {
  Toasts toasts;
  toasts.say("a");
  toasts.warn("b");
  toasts.say("a");  // not twice
  const auto now = Toasts::Clock::now();
  EXPECT_EQ(toasts.shown(now).size(), 2u);
  EXPECT_EQ(toasts.shown(now + Toasts::lifetime + std::chrono::seconds(1)).size(), 1u);
  for (int i = 0; i < 9; ++i) toasts.warn(std::to_string(i));
  EXPECT_EQ(toasts.shown(now).size(), Toasts::most);
  EXPECT_EQ(toasts.shown(now).back().text, "8");
}

TEST(Marks, AreOfOneSubjectAndShareTheirPlacesInLongVideos) {
  using Mark = FaceMarks::Mark;
  FaceMarks marks;
  marks.add({.source = 1, .settings = 0, .count = 4}, 2, true);
  EXPECT_EQ(marks.marks(),
            (std::vector<Mark>{Mark::unknown, Mark::unknown, Mark::faces, Mark::unknown}));
  marks.add({.source = 1, .settings = 0, .count = 4}, 2, false);  // it was played again
  EXPECT_EQ(marks.marks()[2], Mark::none);
  marks.add({.source = 1, .settings = 1, .count = 4}, 9, true);  // other settings; past the end
  EXPECT_EQ(marks.marks(),
            (std::vector<Mark>{Mark::unknown, Mark::unknown, Mark::unknown, Mark::faces}));
  const FaceMarks::Subject longer{.source = 2, .settings = 1, .count = 10 * FaceMarks::most};
  marks.add(longer, 11, true);
  marks.add(longer, 12, false);  // the same mark
  EXPECT_EQ(marks.marks()[1], Mark::faces);
  EXPECT_EQ(marks.marks().size(), FaceMarks::most);
  marks.add({.source = 3, .settings = 1, .count = 0}, 0, true);  // a camera
  EXPECT_TRUE(marks.marks().empty());
}

TEST_F(PanelTest, TheStartPageOpensWhatIsTypedAndWhatWasOpenedBefore) {
  StartPage page;
  std::optional<std::vector<std::string>> chosen;
  const std::vector<std::string> recent{"/a/b.png", "/c"};
  const auto draw = [&] {
    if (auto now = page.draw(recent, Capture::State())) chosen = now;
  };
  const std::string inner =
      "start_" + fmt::format("{:08X}", ImHashStr("start", 0, ImHashStr("panel")));
  type("##path", "/x/y.avi", draw, "panel/" + inner);
  EXPECT_EQ(chosen, std::vector<std::string>{"/x/y.avi"});
  press("/c", draw, nullptr, ImGuiActivateFlags_None, "panel/" + inner);
  EXPECT_EQ(chosen, std::vector<std::string>{"/c"});
}

TEST(StartPage, RecentNamesAreWholePathsWithoutRepetition) {
  std::vector<std::string> recent;
  for (const char* name : {"/a", "0", "/b/../a", "rtsp://h/s"}) add_recent(recent, name);
  EXPECT_EQ(recent, (std::vector<std::string>{"rtsp://h/s", "/a", "0"}));
  add_recent(recent, "x.avi");
  EXPECT_EQ(recent.front(), (std::filesystem::current_path() / "x.avi").string());
  for (int i = 0; i < 20; ++i) add_recent(recent, "/n" + std::to_string(i));
  EXPECT_EQ(recent.size(), 8u);
}

TEST_F(PanelTest, PathsAreCompleted) {
  for (const char* name : {"p/apple.png", "p/apricot.avi", "p/apron.txt", "p/.hidden.png"})
    test::write_text(folder / name, "");
  std::filesystem::create_directory(folder / "p/ap below");
  const Completions all = complete_path(path("p/ap"));
  EXPECT_EQ(all.paths, (std::vector<std::string>{path("p/ap below/"), path("p/apple.png"),
                                                 path("p/apricot.avi")}));
  EXPECT_EQ(all.common, path("p/ap"));
  EXPECT_EQ(complete_path(path("p/app")).common, path("p/apple.png"));
  EXPECT_TRUE(complete_path(path("p/x")).paths.empty());
  EXPECT_EQ(complete_path(path("p/")).paths.size(), 3u);  // hidden ones only if asked for
  EXPECT_EQ(complete_path(path("p/.h")).paths.size(), 1u);
  for (int i = 0; i < 20; ++i)
    test::write_text(folder / ("p/many" + std::to_string(i) + ".png"), "");
  EXPECT_EQ(complete_path(path("p/many")).paths.size(), 12u);
  EXPECT_EQ(complete_path(path("p/many")).more, 8u);
  PathCompletion completion;
  completion.ask(path("p/app"));
  EXPECT_TRUE(eventually([&] { return completion.answer() != nullptr; }));
  EXPECT_EQ(completion.answer()->common, path("p/apple.png"));
}

TEST(FileDialogs, CommandsAskForFilesAndFolders) {
  const auto has = [](const char* program, Choosing what, const char* argument) {
    const auto command = dialog_command(program, what);
    return command.front() == program &&
           std::find(command.begin(), command.end(), argument) != command.end();
  };
  EXPECT_TRUE(has("zenity", Choosing::files, "--multiple"));
  EXPECT_TRUE(has("zenity", Choosing::folder, "--directory"));
  EXPECT_TRUE(has("kdialog", Choosing::files, "--getopenfilename"));
  EXPECT_TRUE(has("kdialog", Choosing::folder, "--getexistingdirectory"));
}

// A stand-in for zenity, which writes what is chosen.
TEST_F(PanelTest, TheDialogGivesWhatWasChosen) {
  test::write_text(folder / "bin/zenity", "#!/bin/sh\nprintf '/a b\\n/c\\n'\n");
  std::filesystem::permissions(folder / "bin/zenity", std::filesystem::perms::owner_all);
  const char* const before = std::getenv("PATH");
  ASSERT_TRUE(before);
  setenv("PATH", (path("bin") + ":" + before).c_str(), 1);
  FileDialog dialog;
  ASSERT_TRUE(dialog.is_available());
  dialog.open(Choosing::files);
  std::optional<std::vector<std::string>> chosen;
  EXPECT_TRUE(eventually([&] { return (chosen = dialog.take()).has_value(); }));
  EXPECT_EQ(chosen, (std::vector<std::string>{"/a b", "/c"}));
  EXPECT_TRUE(eventually([&] { return !dialog.is_open(); }));
  test::write_text(folder / "bin/zenity", "#!/bin/sh\nexec sleep 1000\n");
  dialog.open(Choosing::files);  // ends with its object
  setenv("PATH", before, 1);
}

class Fonts : public ::testing::Test {
 protected:
  Fonts() { ImGui::CreateContext(); }
  ~Fonts() override { ImGui::DestroyContext(); }

  // The font as the window uses it.
  static const ImFont& loaded(float pixels) {
    load_fonts(pixels);
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    EXPECT_TRUE(atlas.Build());
    EXPECT_EQ(atlas.Fonts.Size, 1);  // other alphabets are merged into it
    return *atlas.Fonts[0];
  }
};

TEST_F(Fonts, HaveLatinGreekAndCyrillicLetters) {
  const ImFont& font = loaded(16);
  if (font.FontSize != 16) GTEST_SKIP() << "skipped: none of the known fonts is installed";
  for (const ImWchar letter : {u'A', u'é', u'ß', u'Ő', u'Ω', u'Я', u'ђ', u'–'})
    EXPECT_NE(font.FindGlyphNoFallback(letter), nullptr) << static_cast<int>(letter);
}

TEST_F(Fonts, FiguresHaveOneWidth) {
  const ImFont& font = loaded(16);
  for (ImWchar figure = u'1'; figure <= u'9'; ++figure)
    EXPECT_EQ(font.GetCharAdvance(figure), font.GetCharAdvance(u'0'));
}

TEST_F(Fonts, CanBeLoadedAgainInAnotherSize) {
  loaded(16);
  const ImFont& font = loaded(24);
  EXPECT_GE(font.FontSize, 13);
  EXPECT_GT(font.GetCharAdvance(u'M'), 0);
}

}  // namespace
}  // namespace facesat::app
