// `facesat evaluate`: its counts against those of `facesat detect`, its files, and what it refuses.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>
#include <unistd.h>

#include "core/cascade.hpp"
#include "datasets/evaluation.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

// Pictures with faces, annotated as they are found, but for an object that is not there (in a.pgm),
// and for a face that is not annotated (in c.pgm).
class Evaluate : public ProgramTest {
 protected:
  Evaluate() {
    add_face("in/a.pgm");
    add_face("in/b.pgm", 1);
    add_face("in/c.pgm", 2);
    std::string truth = "image,x,y,w,h\n";
    for (const Json& record : records_of({"in"})) {
      EXPECT_EQ(record["faces"].size(), 1u);
      const Json& face = record["faces"][0];
      if (record["image"] != "c.pgm")
        truth +=
            fmt::format("{},{},{},{},{}\n", record["image"].get<std::string>(), face["x"].dump(),
                        face["y"].dump(), face["width"].dump(), face["height"].dump());
    }
    write_text("in/truth.csv", truth + "a.pgm,2,70,30,28\n");
  }

  // The results as JSON. Expects that the run ends well.
  Json evaluated(Arguments arguments, const std::string& file = "r.json") const {
    const Finished done = run(joined({"evaluate", "-q", "-o", file}, arguments));
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.err, "");
    return Json::parse(read_text(file));
  }
  static void expect_counts(const Json& row, std::size_t found, std::size_t missed,
                            std::size_t wrong) {
    EXPECT_EQ(row["found"], found) << row;
    EXPECT_EQ(row["missed"], missed) << row;
    EXPECT_EQ(row["false"], wrong) << row;
  }

  const Arguments all{"--pictures", "in", "in/truth.csv", "frontalface_default"};
};

TEST_F(Evaluate, CountsWhatIsFoundMissedAndFalse) {
  const Json json = evaluated(all);
  EXPECT_EQ(json["pictures"], 3);
  EXPECT_EQ(json["objects"], 3);
  const Json& cascade = json["cascades"][0];
  expect_counts(cascade, 2, 1, 1);
  EXPECT_DOUBLE_EQ(cascade["recall"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(cascade["precision"], 2.0 / 3);
  EXPECT_DOUBLE_EQ(cascade["false_per_picture"], 1.0 / 3);
  EXPECT_EQ(
      cascade["misses"],
      (Json{{{"image", "a.pgm"}, {"x", 2.0}, {"y", 70.0}, {"width", 30.0}, {"height", 28.0}}}));
  ASSERT_EQ(cascade["false_alarms"].size(), 1u);
  EXPECT_EQ(cascade["false_alarms"][0]["image"], "c.pgm");
  // Without the pictures that are not annotated.
  const Json annotated = evaluated({"in/truth.csv", "frontalface_default"});
  EXPECT_EQ(annotated["pictures"], 2);
  expect_counts(annotated["cascades"][0], 2, 1, 0);
}

TEST_F(Evaluate, AnnotationsThatAreLeftOutShowInTheStatus) {
  write_text("in/truth.csv", read_text("in/truth.csv") + "b.pgm,1,2,three,4\n");
  const Finished done = run(joined({"evaluate"}, all));
  EXPECT_TRUE(ended(done, 1, "line 5: "));
  EXPECT_TRUE(has(done.out, "3 objects"));
}

TEST_F(Evaluate, PrintsATableForEachCascade) {
  const Finished done = run({"evaluate", "-q", "in/truth.csv", "frontalface_default", "eye"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(done.out.starts_with(
      "3 objects in 2 pictures; --match iou --iou 0.4, --min-neighbors 3\n\ncascade"));
  EXPECT_TRUE(has(done.out, "\nfrontalface_default            2       1   66.7 %         0"));
  EXPECT_TRUE(has(done.out, "\neye "));
  EXPECT_TRUE(has(done.out, "\ncascade                  neighbors   found"));
  const Finished curves = run({"evaluate", "--curve", "score", "--curve", "windows", "in/truth.csv",
                               "frontalface_default"});
  EXPECT_FALSE(has(curves.out, " neighbors "));
  EXPECT_TRUE(has(curves.out, "     score   found"));
  EXPECT_TRUE(has(curves.out, "   windows   found"));
}

// What detection found, compared with the objects of a.pgm, b.pgm and c.pgm.
training::Counts counts_of_detect(const std::vector<Json>& records,
                                  const std::vector<training::AnnotatedPicture>& pictures) {
  training::Counts sum;
  for (const Json& record : records) {
    std::vector<training::AnnotatedObject> objects;
    for (const training::AnnotatedPicture& picture : pictures)
      if (picture.name == record["image"]) objects = picture.objects;
    std::vector<Face> faces;
    for (const Json& face : record["faces"])
      faces.push_back({{face["x"], face["y"], face["width"], face["height"]},
                       face["neighbors"],
                       face["score"]});
    const training::Counts counts = training::counts_of(training::match(objects, faces, {}));
    sum.found += counts.found;
    sum.false_alarms += counts.false_alarms;
  }
  return sum;
}

// One search gives what a detection for each number of neighbours and each score gives. The picture
// has faces at its edges, where windows are cut.
TEST_F(Evaluate, EveryOperatingPointIsThatOfADetection) {
  write_pgm("in/d.pgm", draw_faces({233, 187}, {{24, 30, 25}, {120, 90, 40}, {212, 160, 27}}));
  const auto pictures = training::read_annotations(folder / "in/truth.csv").pictures;
  const Arguments search{"--scale-factor", "1.07"};
  const Json json = evaluated(joined(search, all));
  const Json& curves = json["cascades"][0]["curves"];
  ASSERT_GE(curves["neighbors"].size(), 15u);
  for (const Json& point : curves["neighbors"]) {
    const auto records = records_of(
        joined(search, {"--min-neighbors", std::to_string(point["value"].get<int>()), "in"}));
    const training::Counts counts = counts_of_detect(records, pictures);
    expect_counts(point, counts.found, 3 - counts.found, counts.false_alarms);
  }
  ASSERT_GE(curves["score"].size(), 2u);
  for (const Json& point : curves["score"]) {
    const auto records = records_of(joined(search, {"--min-score", point["value"].dump(), "in"}));
    const training::Counts counts = counts_of_detect(records, pictures);
    expect_counts(point, counts.found, 3 - counts.found, counts.false_alarms);
  }
  // The options choose the point of the summary.
  for (const Arguments& chosen : {Arguments{"--min-neighbors", "9"}, {"--min-score", "2"}}) {
    const training::Counts counts =
        counts_of_detect(records_of(joined(search, joined(chosen, {"in"}))), pictures);
    expect_counts(evaluated(joined(search, joined(chosen, all)))["cascades"][0], counts.found,
                  3 - counts.found, counts.false_alarms);
  }
}

TEST_F(Evaluate, FirstStagesAreACascadeByThemselves) {
  const Json json = evaluated(joined({"--curve", "stages"}, all));
  const Json& cascade = json["cascades"][0];
  const Json& points = cascade["curves"]["stages"];
  const Cascade whole = *default_model();
  ASSERT_EQ(points.size(), whole.stages.size());
  for (const std::size_t stages : {1u, 8u, 20u}) {
    Cascade cut = whole;
    cut.stages.resize(stages);
    write_text("cut.xml", to_xml(cut));
    const Json alone = evaluated({"--pictures", "in", "in/truth.csv", "cut.xml"})["cascades"][0];
    const Json& point = points[stages - 1];
    EXPECT_EQ(point["value"], stages);
    for (const char* key : {"found", "missed", "false", "recall", "precision"})
      EXPECT_EQ(point[key], alone[key]) << stages << ' ' << key;
    EXPECT_EQ(point["window_rate"], alone["curves"]["windows"].back()["window_rate"]) << stages;
  }
  expect_counts(points.back(), cascade["found"], cascade["missed"], cascade["false"]);
}

TEST_F(Evaluate, CriteriaDiffer) {
  // A quarter of the face's width beside it: near enough for all but IoU 0.7.
  const Json face = records_of({"in/a.pgm"})[0]["faces"][0];
  const int width = face["width"], x = face["x"];
  write_text("info.dat", fmt::format("in/a.pgm 1 {} {} {} {}\n", x + width / 4, face["y"].dump(),
                                     width, width));
  const auto found = [&](const Arguments& options) {
    return evaluated(joined(options, {"info.dat", "frontalface_default"}))["cascades"][0]["found"];
  };
  for (const char* criterion : {"iou", "centre", "opencv", "uiuc"})
    EXPECT_EQ(found({"--match", criterion}), 1) << criterion;
  EXPECT_EQ(found({"--iou", "0.7"}), 0);
  write_text("info.dat", fmt::format("in/a.pgm 1 {} {} {} {}\n", x + width / 3, face["y"].dump(),
                                     width, width));
  EXPECT_EQ(found({}), 1);
  for (const char* criterion : {"centre", "opencv", "uiuc"})
    EXPECT_EQ(found({"--match", criterion}), 0) << criterion;
}

TEST_F(Evaluate, ObjectsWithOtherLabelsAreIgnored) {
  std::string truth = read_text("in/truth.csv");
  std::string labelled;
  std::istringstream lines(truth);
  for (std::string line; std::getline(lines, line);)
    labelled += line + (labelled.empty()            ? ",label\n"
                        : line.starts_with("b.pgm") ? ",dog\n"
                                                    : ",cat\n");
  write_text("in/labels.csv", labelled);
  const Json json = evaluated({"--label", "cat", "in/labels.csv", "frontalface_default"});
  EXPECT_EQ(json["objects"], 2);
  EXPECT_EQ(json["ignored"], 1);
  expect_counts(json["cascades"][0], 1, 1, 0);  // the face of b.pgm is not false
}

TEST_F(Evaluate, ResultsDoNotDependOnThreads) {
  for (int i = 0; i < 12; ++i) add_face(fmt::format("in/more/{}.pgm", i), i);
  const Arguments names{"-o", "r.csv", "-o", "r.json", "-o", "r.html", "--curve", "stages"};
  std::string first, printed;
  for (const char* jobs : {"1", "2", "8"}) {
    const Finished done = run(joined({"evaluate", "-j", jobs}, joined(names, all)));
    EXPECT_EQ(done.status, 0);
    std::string files = read_text("r.csv") + read_text("r.json") + read_text("r.html") + done.out;
    // The command line is in the files; nothing else differs.
    for (std::size_t at; (at = files.find(fmt::format("--jobs {}", jobs))) != files.npos;)
      files.replace(at, 8, "--jobs N");
    files = files.substr(0, files.rfind("<!-- facesat ")) + done.out;
    if (first.empty()) first = files;
    EXPECT_TRUE(files == first) << jobs;
  }
}

TEST_F(Evaluate, CsvHasARowForEachPoint) {
  const Json json = evaluated(joined({"-o", "r.csv"}, all));
  std::istringstream lines(read_text("r.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "cascade,curve,value,objects,found,missed,recall,false,pictures,false_per_picture,"
            "precision,window_rate");
  std::size_t rows = 0, points = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 11) << line;
    rows += line.starts_with("frontalface_default,");
  }
  for (const auto& [name, curve] : json["cascades"][0]["curves"].items()) points += curve.size();
  EXPECT_EQ(rows, points);
  const Json& third = json["cascades"][0]["curves"]["neighbors"][3];
  EXPECT_TRUE(has(
      read_text("r.csv"),
      fmt::format("\nfrontalface_default,neighbors,3,3,2,1,{},1,3,{},{},\n", third["recall"].dump(),
                  third["false_per_picture"].dump(), third["precision"].dump())));
}

TEST_F(Evaluate, PageIsSelfContainedAndShowsWhatIsWrong) {
  const std::string name = "a&b<c>.xml";  // as a cascade may be called
  add_cascade(name, "frontalface_default");
  const Json json =
      evaluated({"--pictures", "in", "-o", "r.html", "in/truth.csv", name, "frontalface_alt"});
  const std::string text = read_text("r.html");
  pugi::xml_document page;
  const pugi::xml_parse_result parsed =
      page.load_string(text.c_str(), pugi::parse_default | pugi::parse_ws_pcdata_single);
  ASSERT_TRUE(parsed) << parsed.description() << " at " << text.substr(parsed.offset, 80);
  const auto count = [&](const char* path) { return page.select_nodes(path).size(); };
  for (const char* word : {"http:", "https:", "@import", "url("})
    EXPECT_EQ(text.find(word), text.npos) << word;
  EXPECT_EQ(count("//link | //iframe"), 0u);
  EXPECT_EQ(count("//section[starts-with(@id, 'cascade-')]"), 2u);
  for (const char* charts : {"FROC by number of neighbours", "FROC by score",
                             "Precision and recall by score", "ROC over windows"})
    EXPECT_TRUE(has(text, charts));
  EXPECT_FALSE(has(text, "Recall by number of stages"));
  std::size_t wrong = 0;
  for (const Json& cascade : json["cascades"])
    wrong += cascade["misses"].size() + cascade["false_alarms"].size();
  EXPECT_EQ(count("//figure//img[starts-with(@src, 'data:image/jpeg;base64,/9j/')]"), wrong);
  EXPECT_EQ(count("//img"), wrong);
  Json data = Json::parse(page.select_node("//script[@id='data']").node().child_value());
  EXPECT_EQ(data["cascades"], json["cascades"]);
}

TEST_F(Evaluate, FilesReplaceOnlyEarlierResults) {
  const Arguments outputs{"-o", "r.csv", "-o", "r.json", "-o", "r.html"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(joined({"evaluate"}, joined(outputs, all))).status, 0);
  add_cascade("my.xml", "eye");
  fs::copy(folder / "my.xml", folder / "my.json");
  write_text("page.html", "<html>");
  const auto expect_refused = [&](const Arguments& arguments, const std::string& said) {
    const std::string before = contents();
    const Finished done = run(joined({"evaluate"}, arguments));
    EXPECT_TRUE(ended(done, 2, said)) << ::testing::PrintToString(arguments);
    EXPECT_EQ(done.out, "");
    EXPECT_TRUE(contents() == before);
  };
  expect_refused(joined({"-o", "in/truth.csv"}, all), "in/truth.csv exists and was not written");
  expect_refused({"-o", "my.json", "in/truth.csv", "my.json"}, "my.json exists");
  expect_refused(joined({"-o", "page.html"}, all), "page.html exists");
  expect_refused(joined({"-o", "r.txt"}, all), "must end with .csv, .json or .html");
  expect_refused(joined({"-o", "r.csv", "-o", "./r.csv"}, all), "are the same file");
  expect_refused(joined({"-o", "no/r.csv"}, all), "no/r.csv");
  // A page that somebody has changed.
  write_text("r.html", read_text("r.html") + "mine");
  expect_refused(joined({"-o", "r.html"}, all), "r.html exists");
}

TEST_F(Evaluate, SaysWhatIsWrong) {
  write_text("none.csv", "image,x,y,w,h\na.pgm,,,,\n");
  write_text("broken.dat", "in/a.pgm 2 1 2 30\n");
  write_text("notes.txt", "These are no annotations.\n");
  write_text("dark.xml", "<opencv_storage></opencv_storage>");
  struct Mistake {
    Arguments arguments;
    std::string said;
  };
  const std::vector<Mistake> mistakes{
      {{}, "ANNOTATIONS is required"},
      {{"in/truth.csv"}, "CASCADE is required"},
      {{"missing.csv", "eye"}, "missing.csv"},
      {{"notes.txt", "eye"}, "notes.txt"},
      {{"broken.dat", "eye"}, "broken.dat"},
      {{"none.csv", "eye"}, "none.csv: there are no objects in it that count"},
      {{"--label", "cat", "in/truth.csv", "eye"}, "in/truth.csv"},
      {{"in/truth.csv", "nose_ring"}, "no cascade named \"nose_ring\""},
      {{"in/truth.csv", "missing.xml"}, "missing.xml: there is no such file"},
      {{"in/truth.csv", "dark.xml"}, "dark.xml"},
      {{"in/truth.csv", "eye", "in/truth.csv"}, "in/truth.csv, line 1"},
      {{"--pictures", "nowhere", "in/truth.csv", "eye"}, "--pictures nowhere: there is no such"},
      {{"--match", "best", "in/truth.csv", "eye"}, "--match: expected centre|iou|opencv|uiuc"},
      {{"--curve", "roc", "in/truth.csv", "eye"}, "--curve: expected"},
      {{"--iou", "0", "in/truth.csv", "eye"}, "--iou: expected more than 0 and at most 1"},
      {{"--iou", "nan", "in/truth.csv", "eye"}, "--iou: expected more than 0 and at most 1"},
      {{"--iou", "0.5", "--match", "uiuc", "in/truth.csv", "eye"}, "--iou is for --match iou"},
      {{"--scale-factor", "1", "in/truth.csv", "eye"}, "scale factor"},
      {{"--backend", "cpu", "--sat", "facesat_lookback", "in/truth.csv", "eye"},
       "nothing to choose"},
      {{"--jobs", "0", "in/truth.csv", "eye"}, "--jobs: expected a whole number"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finished done = run(joined({"evaluate"}, mistake.arguments));
    EXPECT_TRUE(ended(done, 2, mistake.said)) << ::testing::PrintToString(mistake.arguments);
    EXPECT_EQ(done.out, "");
  }
}

TEST_F(Evaluate, PicturesThatCannotBeReadDoNotCount) {
  write_text("in/truth.csv", read_text("in/truth.csv") + "gone.pgm,1,1,20,20\nbad.pgm,1,1,9,9\n");
  write_text("in/bad.pgm", broken_pgm);
  const Finished done = run({"evaluate", "-o", "r.json", "in/truth.csv", "frontalface_default"});
  EXPECT_EQ(done.status, 1);
  EXPECT_TRUE(has(done.err, "facesat: gone.pgm: "));
  EXPECT_TRUE(has(done.err, "facesat: bad.pgm: "));
  EXPECT_TRUE(has(done.err, "pictures that could not be read, and do not count: 2"));
  EXPECT_TRUE(has(done.out, "3 objects in 2 pictures (2 more could not be read)"));
  const Json json = Json::parse(read_text("r.json"));
  EXPECT_EQ(json["unreadable"], 2);
  expect_counts(json["cascades"][0], 2, 1, 0);
  EXPECT_EQ(json["cascades"][0]["misses"][0]["image"], "a.pgm");
  remove({"in/a.pgm", "in/b.pgm"});
  EXPECT_TRUE(ended(run({"evaluate", "-o", "r.json", "in/truth.csv", "frontalface_default"}), 2,
                    "in/truth.csv: of 4 pictures, none could be read"));
  EXPECT_EQ(Json::parse(read_text("r.json")), json);
}

TEST_F(Evaluate, CtrlCEndsWithoutResults) {
  const Image<std::uint8_t> tile = draw_faces({150, 150}, {{75, 75, 50}});
  write_pgm("large.pgm", formula<std::uint8_t>({3600, 3000}, [&](int x, int y) {
              return tile.row(y % 150)[x % 150];
            }));
  std::string list;
  for (int i = 0; i < 200; ++i) {
    fs::create_hard_link(folder / "large.pgm", folder / fmt::format("{}.pgm", i));
    list += fmt::format("{}.pgm 1 25 25 100 100\n", i);
  }
  write_text("info.dat", list);
  const Running running = start({"evaluate", "--progress", "on", "-o", "r.csv", "-o", "r.html",
                                 "info.dat", "frontalface_default"});
  const std::string stat = fmt::format("/proc/{}/stat", running.process());
  const auto clock_ticks = [&] {  // of processor time: field 14
    const std::string text = test::read_text(stat);
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string field;
    for (int i = 3; i <= 14; ++i) fields >> field;
    return std::atol(field.c_str());
  };
  EXPECT_TRUE(eventually([&] { return clock_ticks() > ::sysconf(_SC_CLK_TCK) / 2; }));
  running.signal(SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 128 + SIGINT);
  EXPECT_EQ(done.out, "");
  EXPECT_TRUE(has(done.err, "facesat: interrupted: nothing is printed or written\n"));
  EXPECT_FALSE(exists("r.csv") || exists("r.html"));
}

// The figures that OpenCV's detector has on the frontal faces of CMU and MIT.
TEST_F(Evaluate, AgreesWithOpencvOnPublishedPictures) {
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (!data) GTEST_SKIP() << "skipped: FACESAT_TEST_DATA names no folder";
  const fs::path faces = fs::path(data) / "cmu_mit";
  Arguments arguments{
      "--root", faces / "images",    "--pictures",         faces / "images", "--min-size",
      "20",     faces / "faces.csv", "frontalface_default"};
#ifndef __SANITIZE_ADDRESS__
  arguments.insert(arguments.end(), {"frontalface_alt2", "frontalface_alt"});
#endif
  const Json json = evaluated(arguments);
  EXPECT_EQ(json["pictures"], 72);
  EXPECT_EQ(json["objects"], 281);
  const Json& cascades = json["cascades"];
  expect_counts(cascades[0], 263, 18, 33);
  if (cascades.size() > 1) {
    expect_counts(cascades[1], 259, 22, 4);
    expect_counts(cascades[2], 262, 19, 6);
  }
  expect_counts(evaluated(joined({"--match", "centre"}, arguments))["cascades"][0], 262, 19, 34);
}

}  // namespace
}  // namespace facesat::test
