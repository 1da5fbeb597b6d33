// facesat bench: the tables' contract; figures are not judged here.
#include "tests/app/program.hpp"

namespace facesat::test {
namespace {

using Bench = ProgramTest;
using Json = nlohmann::ordered_json;

TEST_F(Bench, DetectMeasuresEveryDetectorOnTheSamePicture) {
  write_pgm(folder / "two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  const Finished done =
      run({"bench", "detect", "--size", "150x140", "--size", "300x160", "--threads", "1,2",
           "--seconds", "0.01", "--json", "b.json", "two.pgm"});
  ASSERT_EQ(done.status, 0) << done.err;
  const Json table = Json::parse(read_text(folder / "b.json"));
  EXPECT_TRUE(table["machine"].is_object());
  std::size_t ours = 0;
  for (const Json& row : table["rows"]) {
    for (const char* key :
         {"detector", "cascade", "width", "height", "threads", "sat", "median_ms", "p95_ms",
          "p99_ms", "with_upload_ms", "stages", "windows", "faces", "identical"})
      EXPECT_TRUE(row.contains(key)) << key;
    for (const char* key : {"gray", "resize", "sat", "evaluate", "download", "group"})
      EXPECT_TRUE(row["stages"].contains(key)) << key;
    EXPECT_EQ(row["identical"], true);
    EXPECT_EQ(row["faces"], row["width"] == 300 ? 2 : 1);
    EXPECT_GT(row["median_ms"], 0);
    EXPECT_LE(row["median_ms"], row["p99_ms"]);
    ours += row["detector"] == "facesat-cpu";
  }
  EXPECT_EQ(ours, 4u);
}

TEST_F(Bench, SatNeedsAGpuAndKnownNames) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--size", "0x5"}, {"--size", "40000x5"}, {"--runs", "0"}, {"--algorithm"}}) {
    std::vector<std::string> all{"bench", "sat"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Finished done = run(all);
    EXPECT_EQ(done.status, 2) << arguments[0];
    EXPECT_NE(done.err.find(arguments[0]), std::string::npos) << done.err;
  }
  const Finished small =
      run({"bench", "sat", "--size", "64x32", "--runs", "2", "--squares", "--json", "s.json"});
  if (Json::parse(run({"info", "--json"}).out)["devices"].empty()) {
    EXPECT_EQ(small.status, 2);
    EXPECT_NE(small.err.find("GPU"), std::string::npos) << small.err;
    return;
  }
  EXPECT_EQ(small.status, 0) << small.err;
  const Json table = Json::parse(read_text(folder / "s.json"));
  EXPECT_GT(table["rows"].size(), 3u);
  for (const Json& row : table["rows"]) {
    for (const char* key :
         {"id", "type", "width", "height", "median_us", "min_us", "p95_us", "floor_us", "ratio"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_TRUE(row["id"] == "floor" || row["id"] == "memcpy" || row["checked"] == true);
  }
}

TEST_F(Bench, MistakesAreToldInASentence) {
  write_pgm(folder / "small.pgm", draw_faces({30, 30}, {}));
  for (const auto& [argument, said] :
       {std::pair{"9x", "expected N or WxH"}, {"31x30", "only 30x30"}, {"0x5", "only 30x30"}}) {
    const Finished done = run({"bench", "detect", "--size", argument, "small.pgm"});
    EXPECT_EQ(done.status, 2) << argument;
    EXPECT_NE(done.err.find(said), std::string::npos) << done.err;
  }
  const Finished missing = run({"bench", "detect", "missing.pgm"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_NE(missing.err.find("missing.pgm"), std::string::npos) << missing.err;
  EXPECT_EQ(run({"bench"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
