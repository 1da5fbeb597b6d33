// What comes out: records, CSV, pictures with boxes, crops, and the effect of each option on them.
#include <set>

#include "tests/app/program.hpp"

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

TEST_F(Results, SeveralCascadesNameThemselves) {
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
  // They are pictures of the right size: the program itself can read them.
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
}

TEST_F(Results, ProgressAndQuiet) {
  add_face("a.pgm");
  EXPECT_EQ(detect({"a.pgm"}).err, "");
  const Finished loud = run({"detect", "--progress", "on", "a.pgm"});
  EXPECT_NE(loud.err.find("images/s"), std::string::npos) << loud.err;
  EXPECT_NE(loud.err.find("1 image, 1 face in"), std::string::npos) << loud.err;
  const Finished plain = run({"detect", "a.pgm"});
  EXPECT_EQ(plain.err.find("images/s"), std::string::npos);  // standard error is no terminal here
  EXPECT_NE(plain.err.find("detecting on the CPU"), std::string::npos);
}

}  // namespace
}  // namespace facesat::test
