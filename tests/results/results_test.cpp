// The program's output: records, CSV, annotated pictures, crops, and the effect of each option on
// them.
#include <cstdlib>
#include <set>

#include <fcntl.h>
#include <unistd.h>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Results = ProgramTest;
using Json = nlohmann::ordered_json;

TEST_F(Results, ARecordHasTheKeysOfTheContractInOrder) {
  write_pgm(folder / "two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  const Finished done = detect({"two.pgm"});
  ASSERT_EQ(done.status, 0);
  const Json record = done.records().at(0);
  const auto keys = [](const Json& json) {
    std::vector<std::string> names;
    for (const auto& [name, value] : json.items()) names.push_back(name);
    return names;
  };
  EXPECT_EQ(keys(record), (std::vector<std::string>{"image", "width", "height", "faces"}));
  EXPECT_EQ(record["width"], 300);
  EXPECT_EQ(record["height"], 160);
  ASSERT_EQ(record["faces"].size(), 2u);
  for (const Json& face : record["faces"])
    EXPECT_EQ(keys(face),
              (std::vector<std::string>{"x", "y", "width", "height", "neighbors", "score"}));
  EXPECT_LE(record["faces"][0]["y"], record["faces"][1]["y"]);
}

TEST_F(Results, CsvSaysTheSameAsJsonLines) {
  for (int i = 0; i < 3; ++i) add_face("in/" + std::to_string(i) + ".pgm", i);
  std::string expected = "image,x,y,w,h,neighbors,score\n";
  for (const Json& record : detect({"in"}).records())
    for (const Json& f : record["faces"])
      expected += record["image"].get<std::string>() + "," + f["x"].dump() + "," + f["y"].dump() +
                  "," + f["width"].dump() + "," + f["height"].dump() + "," + f["neighbors"].dump() +
                  "," + f["score"].dump() + "\n";
  EXPECT_EQ(detect({"--format", "csv", "in"}).out, expected);
}

TEST_F(Results, FacesNameTheirCascadeIfThereAreSeveral) {
  add_face("a.pgm", 4);
  const Finished done = detect({"--cascade", "frontalface_default", "--cascade", "lbp:frontalface",
                                "--cascade", "frontalface_alt", "a.pgm"});
  ASSERT_EQ(done.status, 0) << done.err;
  std::set<std::string> named;
  const Json record = done.records().at(0);
  for (const Json& face : record["faces"]) named.insert(face["cascade"]);
  EXPECT_TRUE(named.contains("frontalface_default"));
  EXPECT_GE(named.size(), 2u);
  const Finished csv =
      detect({"--format", "csv", "--cascade", "eye", "--cascade", "frontalface_default", "a.pgm"});
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')), "image,x,y,w,h,neighbors,score,cascade");
  EXPECT_NE(csv.out.find(",frontalface_default\n"), std::string::npos);
}

TEST_F(Results, CsvIsMadeSafeForSpreadsheetsWhenAskedTo) {
  const std::vector<std::string> formulas{"=1+1.pgm", "+a.pgm", "-a.pgm", "@a.pgm", "\ta.pgm"};
  for (const std::string& name : formulas) add_face("in/" + name);
  add_face("in/a=b.pgm");
  const Finished exact = detect({"--format", "csv", "in"}),
                 safe = detect({"--format", "csv", "--csv-safe", "in"});
  for (const std::string& name : formulas) {
    EXPECT_NE(exact.out.find("\n" + name + ","), std::string::npos) << exact.out;
    EXPECT_EQ(safe.out.find("\n" + name + ","), std::string::npos) << safe.out;
    EXPECT_NE(safe.out.find("\n'" + name + ","), std::string::npos) << safe.out;
  }
  EXPECT_NE(safe.out.find("\na=b.pgm,"), std::string::npos) << safe.out;
  EXPECT_EQ(detect({"--csv-safe", "in"}).status, 2);
}

TEST_F(Results, LimitsAreErrorRecordsThatNameTheirOptions) {
  add_face("a.pgm");
  const auto error = [&](const char* option, const char* value) {
    const Finished done = detect({option, value, "a.pgm"});
    EXPECT_EQ(done.status, 1);
    return done.records().at(0)["error"];
  };
  for (const auto& [option, value] :
       // The picture has 120 x 100 = 12,000 pixels.
       {std::pair("--max-pixels", "11999"), {"--max-seconds", "1e-9"}}) {
    const Json json = error(option, value);
    EXPECT_EQ(json["kind"], "limit") << json;
    EXPECT_NE(json["message"].get<std::string>().find(option), std::string::npos) << json;
  }
  EXPECT_EQ(detect({"--max-pixels", "12000", "a.pgm"}).status, 0);
}

TEST_F(Results, OptionsReachTheDetector) {
  add_face("a.pgm", 2);
  const auto faces = [&](std::vector<std::string> options) {
    options.push_back("a.pgm");
    return detect(options).records().at(0)["faces"];
  };
  const Json plain = faces({});
  ASSERT_EQ(plain.size(), 1u);
  const int windows = plain[0]["neighbors"];
  EXPECT_EQ(static_cast<int>(faces({"--raw"}).size()), windows);
  EXPECT_EQ(static_cast<int>(faces({"--min-neighbors", "0"}).size()), windows);
  EXPECT_EQ(faces({"--min-neighbors", std::to_string(windows - 1)}).size(), 1u);
  EXPECT_EQ(faces({"--min-neighbors", std::to_string(windows)}).size(), 0u);
  EXPECT_GT(faces({"--raw", "--scan", "dense"}).size(), faces({"--raw"}).size());
  EXPECT_GT(faces({"--raw", "--scale-factor", "1.05"}).size(), faces({"--raw"}).size());
  for (const Json& face : faces({"--raw", "--max-size", "60x70"})) EXPECT_LE(face["width"], 60);
  for (const Json& face : faces({"--raw", "--min-size", "55"})) EXPECT_GE(face["width"], 55);
  EXPECT_NE(faces({"--raw", "--equalize"}), faces({"--raw"}));
}

TEST_F(Results, ThreadsDoNotChangeTheOutput) {
  for (int i = 0; i < 40; ++i) add_face("in/" + std::to_string(100 + i) + ".pgm", i);
  const std::string one = detect({"-j", "1", "in"}).out;
  EXPECT_EQ(parse_records(one).size(), 40u);
  EXPECT_EQ(detect({"-j", "2", "in"}).out, one);
  EXPECT_EQ(detect({"-j", "7", "in"}).out, one);
}

TEST_F(Results, AnnotatedPicturesAndCropsAreWritten) {
  write_pgm(folder / "in/two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  write_pgm(folder / "in/sub/none.pgm", draw_faces({60, 50}, {}));
  const Finished done = detect({"-r", "--annotate", "out/boxes", "--crops", "out/crops", "in"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"),
            (std::vector<std::string>{"boxes/sub/none.pgm.png", "boxes/two.pgm.png",
                                      "crops/two.pgm.png_1.png", "crops/two.pgm.png_2.png"}));
  // Both have the right size, and the program itself can read them.
  const Json face = done.records().at(1)["faces"][0];
  const Json crop = detect({"out/crops/two.pgm.png_1.png"}).records().at(0);
  EXPECT_EQ(crop["width"], face["width"]);
  EXPECT_EQ(crop["height"], face["height"]);
  EXPECT_EQ(detect({"out/boxes/two.pgm.png"}).records().at(0)["width"], 300);
}

TEST_F(Results, PicturesStayBelowTheirFolderAndNeverReplaceEachOther) {
  add_face("a/1.pgm", 0);
  add_face("b/1.pgm", 1);
  add_face("c.pgm", 2);
  const Finished done =
      detect({"--annotate", "out", "a", "b", "a/../c.pgm", (folder / "c.pgm").string()});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"),
            (std::vector<std::string>{"1.pgm.png", "1.pgm_2.png", "c.pgm.png", "c.pgm_2.png"}));
  EXPECT_EQ(files_below("."),
            (std::vector<std::string>{"a/1.pgm", "b/1.pgm", "c.pgm", "out/1.pgm.png",
                                      "out/1.pgm_2.png", "out/c.pgm.png", "out/c.pgm_2.png"}));
}

TEST_F(Results, ResultsInsideTheInputFolderAreNotRead) {
  add_face("in/a.pgm");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(
        detect({"-r", "--annotate", "in/boxes", "--crops", "in/crops", "in"}).records().size(), 1u);
  // But a user's own picture in such a folder is read.
  add_face("in/boxes/mine.pgm", 1);
  const Finished done =
      run({"detect", "-r", "--annotate", "in/boxes", "--crops", "in/crops", "in"});
  ASSERT_EQ(done.records().size(), 2u);
  EXPECT_EQ(done.records()[1]["image"], "boxes/mine.pgm");
  EXPECT_NE(done.err.find("pictures (written by facesat"), std::string::npos) << done.err;
}

TEST_F(Results, CascadesOfTheSameNameAreDistinguished) {
  add_face("a.pgm");
  const std::string xml =
      read_text(fs::path(FACESAT_CASCADE_DIR) / "haarcascades/haarcascade_frontalface_default.xml");
  for (const char* file : {"a/c.xml", "b/c.xml"}) {
    fs::create_directory((folder / file).parent_path());
    write_text(folder / file, xml);
  }
  std::set<std::string> names;
  const auto records = detect({"--cascade", "a/c.xml", "--cascade", "b/c.xml", "a.pgm"}).records();
  for (const Json& face : records.at(0)["faces"]) names.insert(face["cascade"]);
  EXPECT_EQ(names, (std::set<std::string>{"a/c.xml", "b/c.xml"}));
}

TEST_F(Results, QuietAndProgressDecideWhatStandardErrorShows) {
  add_face("a.pgm");
  EXPECT_EQ(detect({"a.pgm"}).err, "");
  const Finished loud = run({"detect", "--progress", "on", "a.pgm"});
  EXPECT_NE(loud.err.find("images/s"), std::string::npos) << loud.err;
  EXPECT_NE(loud.err.find("1 image, 1 face in"), std::string::npos) << loud.err;
  const Finished plain = run({"detect", "a.pgm"});
  EXPECT_EQ(plain.err.find("images/s"), std::string::npos);  // standard error is no terminal here
  EXPECT_NE(plain.err.find("detecting on the CPU"), std::string::npos);
}

// On a terminal, results and progress would share lines.
TEST_F(Results, ProgressIsNotShownOnATerminalThatShowsResults) {
  add_face("in/a.pgm");
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_EQ(::grantpt(terminal) + ::unlockpt(terminal), 0);
  const auto shown = [&](const std::vector<std::string>& arguments) {
    EXPECT_EQ(run(arguments, "",
                  [&] {
                    const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
                    ::dup2(end, 1);
                    ::dup2(end, 2);
                  })
                  .status,
              0);
    std::string text(4096, '\0');
    const ssize_t size = ::read(terminal, text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return text;
  };
  const int slave = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);  // keeps what was written
  EXPECT_NE(shown({"detect", "-o", "r", "in"}).find("images/s"), std::string::npos);
  const std::string both = shown({"detect", "in"});
  EXPECT_EQ(both.find("images/s"), std::string::npos) << both;
  EXPECT_NE(both.find("{\"image\":"), std::string::npos) << both;
  EXPECT_NE(shown({"detect", "--progress", "on", "in"}).find("images/s"), std::string::npos);
  ::close(slave);
  ::close(terminal);
}

}  // namespace
}  // namespace facesat::test
