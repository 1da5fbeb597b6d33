// The test data's folder of malformed and awkward pictures. The folder has a list that states the
// result for each file.
#include <cstdlib>
#include <map>
#include <sstream>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class AwkwardFiles : public ProgramTest {
 protected:
  void SetUp() override {
    const char* data = std::getenv("FACESAT_TEST_DATA");
    if (!data) GTEST_SKIP() << "skipped: FACESAT_TEST_DATA names no folder";
    tricky = fs::absolute(fs::path(data) / "tricky");
  }
  fs::path tricky;
};

// Reads lines of the form FILE,EXPECTATION,... after a header. Only the expectation may be quoted.
std::map<std::string, std::string> read_expectations(const fs::path& file) {
  std::map<std::string, std::string> expected;
  std::istringstream lines(read_text(file));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const std::size_t comma = line.find(',');
    const bool quoted = line[comma + 1] == '"';
    const std::size_t begin = comma + 1 + quoted;
    expected[line.substr(0, comma)] =
        line.substr(begin, line.find(quoted ? '"' : ',', begin) - begin);
  }
  return expected;
}

TEST_F(AwkwardFiles, EachFileHasTheResultThatTheListStates) {
  const auto expected = read_expectations(tricky / "generated/expected.csv");
  ASSERT_GT(expected.size(), 90u);
  std::string list;  // names each file: a folder gives only the files whose extension is known
  for (const auto& [file, expectation] : expected)
    list += (tricky / "generated" / file).string() + "\n";
  std::map<std::string, Json> records;
  for (const Json& record : detect({"--max-seconds", "3600", "-"}, list).records())
    records[fs::path(record["image"].get<std::string>()).filename().string()] = record;
  for (const auto& [file, expectation] : expected) {
    ASSERT_TRUE(records.contains(file)) << file << " has no record";
    const Json& record = records[file];
    const bool failed = record.contains("error");
    // An expectation with "or" allows both.
    const bool must_work =
        expectation.starts_with("ok") && expectation.find(" or ") == std::string::npos;
    const bool must_fail =
        expectation.starts_with("error") && expectation.find(" or ") == std::string::npos;
    if (must_work && FACESAT_READS_VIDEOS) {  // with OpenCV, all of its formats
      EXPECT_FALSE(failed) << file << ": " << record;
    }
    if (must_fail) {
      EXPECT_TRUE(failed) << file << ": " << record;
    }
    if (expectation.find("no detections") != std::string::npos) {
      EXPECT_TRUE(record["faces"].empty()) << record;
    }
    if (expectation.find("with warning") != std::string::npos) {
      EXPECT_TRUE(failed || record.contains("warning")) << file;
    }
    // These files have the same face at the same place, in every orientation.
    if (file.starts_with("orient_")) {
      ASSERT_EQ(record["faces"].size(), 1u) << record;
      const Json& face = record["faces"][0];
      for (const auto& [key, value] :
           std::map<std::string, int>{{"x", 76}, {"y", 52}, {"width", 113}, {"height", 113}})
        EXPECT_LE(std::abs(face[key].get<int>() - value), 5) << record;
    }
  }
}

TEST_F(AwkwardFiles, OtherFoldersAreProcessed) {
  for (const char* name : {"other", "pillow", "exif_orientation_faces"}) {
    const Finished done = detect({(tricky / name).string()});
    EXPECT_LE(done.status, 1) << name;
    EXPECT_GT(done.records().size(), 3u) << name;
  }
}

TEST_F(AwkwardFiles, AllOrientationsHaveTheSameNumberOfFaces) {
  std::vector<std::size_t> faces;
  std::vector<Json> sizes;
  for (const Json& record : detect({(tricky / "exif_orientation_faces").string()}).records()) {
    faces.push_back(record["faces"].size());
    sizes.push_back({record["width"], record["height"]});
  }
  ASSERT_EQ(faces.size(), 8u);
  EXPECT_GE(faces[0], 1u);
  EXPECT_EQ(faces, std::vector<std::size_t>(8, faces[0]));
  EXPECT_EQ(sizes, std::vector<Json>(8, sizes[0]));
}

}  // namespace
}  // namespace facesat::test
