// The faces panel, and the files that it saves: the same as those of `facesat detect`.
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "app/live/face_export.hpp"
#include "app/live/outputs.hpp"
#include "media/frame_source.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/video.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using test::eventually;

class FacesTest : public test::OnePanelTest {
 protected:
  FacesTest() : OnePanelTest(make_faces_panel()), before(fs::current_path()) {
    fs::current_path(folder);
  }
  ~FacesTest() override { fs::current_path(before); }

  // What the window shows of this frame.
  LiveResult detected(CapturedFrame frame) {
    detection.set(settings);
    return test::result_of(detection, std::move(frame));
  }
  CapturedFrame picture(const std::string& name) const {
    CapturedFrame frame = test::first_frame(name);
    frame.kind = FrameSource::Kind::picture;
    frame.name = frame.origin = name;
    return frame;
  }
  // Runs `facesat detect` with the same cascades; `words`: its other arguments.
  test::Finished detect_both(const std::string& words) const {
    std::istringstream all(
        "--backend cpu --cascade frontalface_default --cascade lbp:frontalface " + words);
    return detect({std::istream_iterator<std::string>(all), {}});
  }
  // Waits for the end of the search, and returns what went wrong.
  static std::string end_of(ListExport& list) {
    std::optional<OwnProcess::End> end;
    EXPECT_TRUE(eventually([&] { return (end = list.process().take_end()).has_value(); }));
    return end ? end->problem : "";
  }
  // The contents of all files in a folder.
  static std::map<std::string, std::string> contents(const fs::path& of) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(of))
      files[entry.path().filename()] = test::read_text(entry.path());
    return files;
  }

  // Compares files without printing them.
  static void expect_equal(const fs::path& a, const fs::path& b) {
    const auto files = contents(a), others = contents(b);
    EXPECT_EQ(files.size(), others.size());
    for (const auto& [name, bytes] : files) {
      ASSERT_TRUE(others.contains(name)) << name;
      EXPECT_TRUE(bytes == others.at(name)) << name;
    }
  }

  static LiveSettings both_cascades() {
    LiveSettings chosen = test::cpu_settings({});
    for (const char* cascade : {"frontalface_default", "lbp:frontalface"}) chosen.choose(cascade);
    return chosen;
  }

  const fs::path before;
  LiveSettings settings = both_cascades();
};

TEST_F(FacesTest, ThoseOfAPictureAreSavedAsDetectSavesThem) {
  test::write_pgm(folder / "two.pgm",
                  test::draw_faces({500, 300}, {{350, 120, 120}, {120, 150, 150}}));
  settings.colours = {"eye", "lbp:frontalface", "frontalface_default"};  // colours are no indices
  const LiveResult shown = detected(picture("two.pgm"));
  ASSERT_GE(shown.faces.size(), 2u);
  for (const Format* format : formats()) {
    const std::string name(format->name), wanted = "wanted-" + name;
    const std::string saved = export_faces(shown, {.format = format, .crops = true});
    fs::create_directory(wanted);
    const test::Finished done =
        detect_both(fmt::format("--format {0} {2} -o {1}/faces.{0} --crops {1} two.pgm", name,
                                wanted, format == &csv_format() ? "--csv-all" : ""));
    ASSERT_EQ(done.status, 0) << done.err;
    expect_equal(saved, wanted);
    EXPECT_EQ(contents(saved).size(), shown.faces.size() + 1);
  }
  EXPECT_EQ(contents(export_faces(shown, {.format = &csv_format(), .crops = false})).size(), 1u);
}

TEST_F(FacesTest, SearchesInsideFacesAreSavedAsDetectSavesThem) {
  test::write_pgm(folder / "two.pgm",
                  test::draw_faces({500, 300}, {{350, 120, 120}, {120, 150, 150}}));
  settings.detect.inside_of = "frontalface_default";
  settings.detect.only_with_inner = true;
  settings.detect.min_neighbors = 1;
  const LiveResult shown = detected(picture("two.pgm"));
  ASSERT_GE(shown.faces.size(), 2u);
  const std::string saved = export_faces(shown, {.format = &csv_format(), .crops = false});
  EXPECT_EQ(test::read_text(fs::path(saved) / "faces.csv"),
            detect_both("--inside-of frontalface_default --only-with-inner --min-neighbors 1 "
                        "--format csv --csv-all two.pgm")
                .out);
  const auto arguments = export_arguments({"two.pgm"}, settings, "f", {.format = &csv_format()});
  for (const char* const wanted : {"--inside-of=frontalface_default", "--only-with-inner"})
    EXPECT_NE(std::ranges::find(arguments, wanted), arguments.end()) << wanted;
}

TEST_F(FacesTest, ThePictureIsSavedWithItsBoxes) {
  add_face("face.pgm");
  const LiveResult shown = detected(picture("face.pgm"));
  fs::create_directory("into");
  const std::string saved = export_faces(
      shown, {.format = &csv_format(), .crops = false, .boxes = true, .folder = "into"});
  EXPECT_TRUE(saved.starts_with("into/facesat-")) << saved;
  ASSERT_EQ(detect_both("--annotate wanted face.pgm").status, 0);
  fs::remove(saved + "/faces.csv");
  expect_equal(saved, "wanted");
  settings.detect.min_score = 3.5;
  const auto arguments =
      export_arguments({"face.pgm"}, settings, "f", {.format = &csv_format(), .boxes = true});
  for (const char* const wanted : {"--annotate=f", "--min-score=3.5"})
    EXPECT_NE(std::ranges::find(arguments, wanted), arguments.end()) << wanted;
}

TEST_F(FacesTest, RejectedOnesAreLeftOut) {
  test::write_pgm(folder / "two.pgm",
                  test::draw_faces({500, 300}, {{350, 120, 120}, {120, 150, 150}}));
  result = detected(picture("two.pgm"));
  const std::size_t all = result.faces.size();
  ASSERT_GE(all, 2u);
  choices.settings = settings;
  const auto press_delete = [&] { return panel->handle_key({Screen::delete_key, false}, context); };
  EXPECT_TRUE(press_delete());
  EXPECT_FALSE(context.wishes.settings);  // the pointer is on no face
  context.highlighted = 1;
  const Face kept = result.faces.front();
  EXPECT_TRUE(press_delete());
  EXPECT_TRUE(context.wishes.settings);
  result = test::result_with(detection, choices.settings);
  ASSERT_EQ(result.faces.size(), all - 1);
  EXPECT_EQ(result.faces.front().box, kept.box);
  EXPECT_EQ(result.rejected, 1u);
  EXPECT_EQ(contents(export_faces(result, {})).size(), all);  // a table, and a crop of each other
  EXPECT_NE(why_not_exportable({"two.pgm"}, choices.settings).find("rejected"), std::string::npos);
  test::write_pgm(folder / "same.pgm",
                  test::draw_faces({500, 300}, {{350, 120, 120}, {120, 150, 150}}));
  EXPECT_EQ(test::result_of(detection, picture("same.pgm")).faces.size(), all);  // another picture
  EXPECT_TRUE(wishes_after("restore 1 rejected###restore").settings);
  EXPECT_TRUE(choices.settings.rejected.empty());
}

TEST_F(FacesTest, ThoseOfAVideoAreSavedWithTheirFrame) {
  test::write_video("v.avi", 3);
  const auto video = open_source("v.avi");
  video->next();
  CapturedFrame frame{*video->next()};
  frame.name = "v.avi";
  frame.index = 1;
  settings.detect.min_neighbors = 0;  // every window
  const LiveResult shown = detected(std::move(frame));
  const std::string saved =
      contents(export_faces(shown, {.format = &jsonl_format(), .crops = false}))["faces.jsonl"];
  const auto all = detect_both("--min-neighbors 0 v.avi");
  EXPECT_NE(all.out.find(saved), std::string::npos) << saved;  // one of its three lines
  EXPECT_NE(saved.find("\"frame\":1"), std::string::npos);
}

TEST_F(FacesTest, ThoseOfAListAreSavedByDetect) {
  add_face("p/a.pgm");
  add_face("p/b.pgm", 1);
  add_face("-c.pgm");
  test::write_pgm(folder / "p/none.pgm", test::draw_faces({80, 80}, {}));
  settings.detect.scale_factor = 1.3;
  settings.detect.min_size = {40, 40};
  settings.detect.equalize = true;
  settings.detect.scan = Scan::dense;
  ListExport list(FACESAT_PROGRAM, {"p", "-c.pgm"}, settings,
                  {.format = &csv_format(), .crops = true});
  EXPECT_EQ(end_of(list), "");
  EXPECT_NE(list.process().line().find("4 images"), std::string::npos) << list.process().line();
  fs::create_directory("wanted");
  const test::Finished done = detect_both(
      "--scale-factor 1.3 --min-size 40 --equalize --scan dense --format csv --csv-all "
      "-o wanted/faces.csv --crops wanted -- p -c.pgm");
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(test::has(test::read_text("wanted/faces.csv"), "none.pgm,,,,,,,,\n"));
  expect_equal(list.folder(), "wanted");
}

TEST_F(FacesTest, ListsThatDetectCannotReadAreReported) {
  ListExport list(FACESAT_PROGRAM, {"missing.pgm"}, settings, {});
  EXPECT_NE(end_of(list), "");
  ListExport none("/no such program", {"missing.pgm"}, settings, {});
  EXPECT_NE(end_of(none), "");
  EXPECT_EQ(why_not_exportable({"a.avi", "p"}, settings), "");
  EXPECT_NE(why_not_exportable({"0"}, settings), "");
  EXPECT_NE(why_not_exportable({"rtsp://host/x"}, settings), "");
}

TEST_F(FacesTest, AListCanBeStopped) {
  test::write_video("long.avi", 3000);
  ListExport list(FACESAT_PROGRAM, {"long.avi"}, settings,
                  {.format = &csv_format(), .crops = false});
  list.process().stop();
  end_of(list);
  ListExport other(FACESAT_PROGRAM, {"long.avi"}, settings, {});  // is stopped by its destructor
}

TEST_F(FacesTest, ThePanelSavesWhatIsShown) {
  add_face("face.pgm");
  result = detected(picture("face.pgm"));
  frame([this] { draw(); });  // nothing is open
  source.kind = FrameSource::Kind::picture;
  source.count = 1;
  source.names = {"face.pgm"};
  wishes_after("this picture");
  ASSERT_EQ(toasts.shown(Toasts::Clock::now()).size(), 1u);
  const std::string text = toasts.shown(Toasts::Clock::now()).front().text;
  EXPECT_TRUE(text.starts_with("saved: " + folder.string() + "/facesat-")) << text;
  EXPECT_TRUE(fs::exists(fs::path(text.substr(7)) / "faces.csv")) << text;
}

}  // namespace
}  // namespace facesat::app
