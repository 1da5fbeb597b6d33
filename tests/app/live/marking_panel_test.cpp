// Marking objects in the window, and training with them.
#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/live/marks.hpp"
#include "app/live/own_process.hpp"
#include "datasets/annotations.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/app/live/window_test.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::app {
namespace {

Image<Bgr> coloured(Size size, unsigned seed) {
  const Image<std::uint8_t> gray = test::noise(size, seed);
  Image<Bgr> picture(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const std::uint8_t value = gray.row(y)[x];
      picture.row(y)[x] = {value, static_cast<std::uint8_t>(255 - value), 7};
    }
  return picture;
}

class MarksTest : public test::ProgramTest {
 protected:
  MarksTest() { std::filesystem::create_directory(folder / "m"); }

  const Image<Bgr> picture = coloured({50, 40}, 1), other = coloured({50, 40}, 2);
};

TEST_F(MarksTest, AreAnnotationsOfTheirPictures) {
  const std::string first = Marks::name_of(picture.view()), second = Marks::name_of(other.view());
  EXPECT_NE(first, second);
  EXPECT_EQ(Marks::name_of(coloured({50, 40}, 1).view()), first);
  {
    Marks marks(folder / "m");
    EXPECT_FALSE(marks.find(first));
    marks.set(first, picture.view(), {{1, 2, 10, 20}, {30, 5, 20, 35}});
    marks.set(second, other.view(), {});
  }
  Marks marks(folder / "m");  // on another day
  ASSERT_TRUE(marks.find(first));
  EXPECT_EQ(*marks.find(first), (Marks::Boxes{{1, 2, 10, 20}, {30, 5, 20, 35}}));
  ASSERT_TRUE(marks.find(second));
  EXPECT_TRUE(marks.find(second)->empty());
  EXPECT_EQ(marks.pictures(), 2u);
  EXPECT_EQ(marks.objects(), 2u);

  const training::Annotations read = training::read_annotations(marks.annotations());
  EXPECT_TRUE(read.warnings.empty());
  ASSERT_EQ(read.pictures.size(), 2u);
  for (const training::AnnotatedPicture& one : read.pictures) {
    const bool is_first = one.name == first;
    EXPECT_EQ(one.objects.size(), is_first ? 2u : 0u);
    EXPECT_EQ(Marks::name_of(read_picture(one.file).pixels), one.name);
  }
  marks.remove(second);
  EXPECT_FALSE(std::filesystem::exists(folder / "m" / second));
  EXPECT_EQ(Marks(folder / "m").pictures(), 1u);
}

TEST_F(MarksTest, TheWindowHasTheMeanAspectRatio) {
  Marks marks(folder / "m");
  EXPECT_EQ(marks.window(), (Size{24, 24}));
  marks.set("a.png", picture.view(), {{0, 0, 40, 10}, {0, 0, 10, 40}});
  EXPECT_EQ(marks.window(), (Size{24, 24}));
  marks.set("a.png", picture.view(), {{0, 0, 40, 10}, {5, 5, 20, 5}});
  EXPECT_EQ(marks.window(), (Size{48, 12}));
}

TEST_F(MarksTest, ThatCannotBeReadOrWrittenSaySo) {
  write_text("m/objects.info.dat", "nonsense\n");
  EXPECT_THROW(Marks(folder / "m"), UsageError);
  EXPECT_THROW(Marks(folder / "none"), UsageError);
  std::filesystem::create_directory(folder / "gone");
  Marks marks(folder / "gone");
  std::filesystem::remove(folder / "gone");
  EXPECT_THROW(marks.set("a.png", picture.view(), {}), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
}

TEST_F(MarksTest, OfTwoWindowsStay) {
  Marks one(folder / "m"), another(folder / "m");
  one.set("a.png", picture.view(), {{1, 2, 3, 4}});
  another.set("b.png", other.view(), {});
  one.set("c.png", picture.view(), {});
  EXPECT_EQ(Marks(folder / "m").pictures(), 3u);
  another.remove("a.png");
  EXPECT_EQ(Marks(folder / "m").pictures(), 2u);
}

// ---- the panel

class MarkingPanelTest : public test::OnePanelTest {
 protected:
  MarkingPanelTest() : OnePanelTest(make_marking_panel()) {
    machine.program = FACESAT_PROGRAM;
    saving.use_folder(folder.string());
    show(coloured({100, 80}, 3), {});
  }
  void show(Image<Bgr> shown, std::vector<Face> faces) {
    pixels = std::move(shown);
    result.frame.picture.pixels = pixels.view();
    result.frame.posted = ++posted;
    result.faces = std::move(faces);
    view.set(pixels.view());
    pass();
  }
  // A frame of the window with the picture.
  void pass() {
    ImGui::GetIO().DeltaTime = 0.05f;
    panel->begin(context);
    frame([&] {
      view.draw();
      panel->draw_over(context);
    });
  }
  void drag(ImVec2 from, ImVec2 to) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = view.at(from.x, from.y);
    pass();
    io.MouseDown[0] = true;
    pass();
    io.MousePos = view.at(to.x, to.y);
    pass();
    io.MouseDown[0] = false;
    pass();
    pass();
  }
  void click(ImVec2 at) { drag(at, at); }
  void press_key(int key) {
    panel->handle_key({.key = key, .ctrl = false}, context);
    pass();
  }
  // The marks that are in the folder now.
  Marks saved() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().string().ends_with("-objects")) return Marks(entry.path());
    std::filesystem::create_directory(folder / "none");
    return Marks(folder / "none");
  }
  Marks::Boxes boxes() const {
    const Marks marks = saved();
    return marks.find(Marks::name_of(pixels.view())).value_or(Marks::Boxes());
  }

  Image<Bgr> pixels;
  std::uint64_t posted = 0;
};

TEST_F(MarkingPanelTest, BoxesAreDrawnAndTakenAway) {
  drag({10, 10}, {30, 40});  // moves the picture
  EXPECT_EQ(saved().pictures(), 0u);
  press_key('B');
  EXPECT_TRUE(context.wishes.pause);
  drag({10.5f, 10.5f}, {29.5f, 39.5f});
  drag({50.5f, 20.5f}, {69.5f, 39.5f});
  EXPECT_EQ(boxes(), (Marks::Boxes{{10, 10, 20, 30}, {50, 20, 20, 20}}));
  EXPECT_FALSE(context.wishes.followed);
  click({60, 30});
  EXPECT_EQ(boxes(), (Marks::Boxes{{10, 10, 20, 30}}));
  click({90, 70});  // nothing is there
  EXPECT_EQ(boxes().size(), 1u);
  // Another picture has boxes of its own.
  const Image<Bgr> first = coloured({100, 80}, 3);
  show(coloured({100, 80}, 4), {});
  EXPECT_TRUE(boxes().empty());
  drag({5.5f, 5.5f}, {24.5f, 24.5f});
  EXPECT_EQ(boxes(), (Marks::Boxes{{5, 5, 20, 20}}));
  show(coloured({100, 80}, 3), {});
  EXPECT_EQ(boxes(), (Marks::Boxes{{10, 10, 20, 30}}));
  press_key('B');
  drag({50.5f, 20.5f}, {69.5f, 39.5f});
  EXPECT_EQ(boxes().size(), 1u);
}

TEST_F(MarkingPanelTest, WhatIsFoundIsCorrected) {
  const Face right{.box = {10, 10, 20, 20}}, wrong{.box = {60, 40, 20, 20}};
  press_key('B');
  show(coloured({100, 80}, 5), {right, wrong});
  wishes_after("take what is found");
  EXPECT_EQ(boxes(), (Marks::Boxes{right.box, wrong.box}));
  click({70, 50});
  EXPECT_EQ(boxes(), (Marks::Boxes{right.box}));
  click({70, 50});  // it is one, after all
  EXPECT_EQ(boxes(), (Marks::Boxes{right.box, wrong.box}));
  wishes_after("take what is found");
  EXPECT_EQ(boxes().size(), 2u);
  wishes_after("none here###none");
  EXPECT_TRUE(boxes().empty());
  EXPECT_EQ(saved().pictures(), 1u);
  wishes_after("not marked###none");
  EXPECT_EQ(saved().pictures(), 0u);
}

TEST_F(MarkingPanelTest, TheFolderIsRememberedAndCanBeLeft) {
  press_key('B');
  drag({10.5f, 10.5f}, {29.5f, 39.5f});
  nlohmann::ordered_json file;
  panel->remember(choices, file);
  const auto again = make_marking_panel();
  again->recall(file, choices);
  EXPECT_NO_THROW(again->recall({}, choices));
  nlohmann::ordered_json same;
  again->remember(choices, same);
  EXPECT_EQ(file, same);
  EXPECT_TRUE(test::has(file.dump(), "-objects"));
  wishes_after("begin another set");
  panel->remember(choices, same);
  EXPECT_FALSE(test::has(same.dump(), "-objects"));
}

TEST_F(MarkingPanelTest, WhatCannotBeSavedIsSaid) {
  panel->recall({{"marks", {{"folder", path("gone")}}}}, choices);
  press_key('B');
  const auto said = [&] {
    std::string all;
    for (const auto& toast : toasts.shown({})) all += toast.text + "\n";
    return all;
  };
  EXPECT_TRUE(test::has(said(), path("gone")));
  drag({10.5f, 10.5f}, {29.5f, 39.5f});
  EXPECT_FALSE(std::filesystem::exists(folder / "gone"));
  // It is not forgotten: it may come back.
  nlohmann::ordered_json file;
  panel->remember(choices, file);
  EXPECT_TRUE(test::has(file.dump(), path("gone")));
  std::filesystem::create_directory(folder / "gone");
  press_key('B');
  press_key('B');
  drag({10.5f, 10.5f}, {29.5f, 39.5f});
  EXPECT_EQ(Marks(folder / "gone").objects(), 1u);
  // While it is used, it goes.
  std::filesystem::remove_all(folder / "gone");
  drag({40.5f, 10.5f}, {69.5f, 39.5f});
  ASSERT_FALSE(saving.failures().empty());
  EXPECT_TRUE(test::has(saving.failures().front(), path("gone")));
}

// From marks to a detector that the window uses.
TEST_F(MarkingPanelTest, TrainsADetectorFromMarks) {
  std::filesystem::create_directory(folder / "m");
  Marks marks(folder / "m");
  for (unsigned i = 0; i < 12; ++i) {
    Image<Bgr> picture = coloured({160, 120}, 100 + i);
    const Rect box{static_cast<int>(7 * i), static_cast<int>(5 * i), 40, 40};
    for (int y = 0; y < box.height; ++y)  // a disc on a dark ground
      for (int x = 0; x < box.width; ++x) {
        const bool is_inside = (x - 20) * (x - 20) + (y - 20) * (y - 20) < 150;
        const auto value = static_cast<std::uint8_t>(is_inside ? 230 + (x + y) % 8 : 20 + x % 5);
        picture.row(box.y + y)[box.x + x] = {value, value, value};
      }
    marks.set(Marks::name_of(picture.view()), picture.view(), {box});
  }
  panel->recall({{"marks", {{"folder", path("m")}, {"features", "lbp"}}}}, choices);
  press_key('B');
  wishes_after("train");
  const std::string detector = path("m/detector.xml");
  EXPECT_TRUE(test::eventually([&] {
    panel->begin(context);
    return choices.settings.has(detector);
  }));
  EXPECT_TRUE(context.wishes.settings);
  const auto is_saved = [&] {
    panel->begin(context);
    return std::ranges::any_of(toasts.shown({}), [&](const Toasts::Toast& toast) {
      return toast.text.find("detector.xml") != std::string::npos;
    });
  };
  EXPECT_TRUE(test::eventually(is_saved));
  EXPECT_FALSE(load_cascade(detector).stages.empty());
  // Another training leaves this one alone, and takes its place.
  wishes_after("train");
  const std::string next = path("m/detector-2.xml");
  EXPECT_TRUE(test::eventually([&] {
    panel->begin(context);
    return choices.settings.has(next);
  }));
  EXPECT_FALSE(choices.settings.has(detector));
  EXPECT_FALSE(load_cascade(detector).stages.empty());
}

// With the real pointer, in the real window.
class WindowMarkingTest : public test::WindowTest {};

TEST_F(WindowMarkingTest, BoxesAreDrawnWithThePointer) {
  add_grey("a.pgm", 100);
  const auto drag = [&](const std::string& from, const std::string& to) {
    return display.act("xdotool mousemove " + from + " sleep 0.3 mousedown 1 sleep 0.2 mousemove " +
                       to + " sleep 0.3 mouseup 1");
  };
  use_live_until("ctrl+q", {"a.pgm", "--screenshot", "end.png"}, [&](test::Desktop& desktop) {
    EXPECT_TRUE(desktop.shows(test::first_grey, test::most_of_a_picture));
    EXPECT_TRUE(press("b"));
    EXPECT_TRUE(drag("700 200", "800 280"));
    std::vector<training::AnnotatedPicture> pictures;
    EXPECT_TRUE(test::eventually([&] {
      for (const std::string& name : files_below("."))
        if (name.ends_with("objects.info.dat"))
          pictures = training::read_annotations(folder / name).pictures;
      return !pictures.empty();
    }));
    ASSERT_EQ(pictures.size(), 1u);
    ASSERT_EQ(pictures[0].objects.size(), 1u);
    const training::Box box = pictures[0].objects[0].box;
    EXPECT_NEAR(box.width / box.height, 100 / 80.0, 0.1);
    EXPECT_EQ(read_picture(pictures[0].file).pixels.size, (Size{200, 200}));
  });
  EXPECT_GT(pixels_of_colour("end.png", {255, 255, 255}), 300);
}

}  // namespace
}  // namespace facesat::app
