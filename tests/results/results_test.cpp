// The program's output: records, CSV, annotated pictures, crops, and the effect of each option on
// them; the results of awkward files and of long lists.
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Results = ProgramTest;

TEST_F(Results, ARecordHasTheKeysOfTheContractInOrder) {
  write_pgm("two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  const Json record = records_of({"two.pgm"}).at(0);
  const auto keys = [](const Json& json) {
    std::vector<std::string> names;
    for (const auto& [name, value] : json.items()) names.push_back(name);
    return names;
  };
  EXPECT_EQ(keys(record), (Names{"image", "width", "height", "faces"}));
  EXPECT_EQ(record["width"], 300);
  EXPECT_EQ(record["height"], 160);
  ASSERT_EQ(record["faces"].size(), 2u);
  for (const Json& face : record["faces"])
    EXPECT_EQ(keys(face), (Names{"x", "y", "width", "height", "neighbors", "score"}));
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
  std::set<std::string> named;
  const Json record = records_of({"--cascade", "frontalface_default", "--cascade",
                                  "lbp:frontalface", "--cascade", "frontalface_alt", "a.pgm"})
                          .at(0);
  for (const Json& face : record["faces"]) named.insert(face["cascade"]);
  EXPECT_TRUE(named.contains("frontalface_default"));
  EXPECT_GE(named.size(), 2u);
  const Finished csv =
      detect({"--format", "csv", "--cascade", "eye", "--cascade", "frontalface_default", "a.pgm"});
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n')), "image,x,y,w,h,neighbors,score,cascade");
  EXPECT_TRUE(has(csv.out, ",frontalface_default\n"));
}

TEST_F(Results, CsvIsMadeSafeForSpreadsheetsWhenAskedTo) {
  const std::vector<std::string> formulas{"=1+1.pgm", "+a.pgm", "-a.pgm", "@a.pgm", "\ta.pgm"};
  for (const std::string& name : formulas) add_face("in/" + name);
  add_face("in/a=b.pgm");
  const Finished exact = detect({"--format", "csv", "in"}),
                 safe = detect({"--format", "csv", "--csv-safe", "in"});
  for (const std::string& name : formulas) {
    EXPECT_TRUE(has(exact.out, "\n" + name + ","));
    EXPECT_FALSE(has(safe.out, "\n" + name + ","));
    EXPECT_TRUE(has(safe.out, "\n'" + name + ","));
  }
  EXPECT_TRUE(has(safe.out, "\na=b.pgm,"));
  EXPECT_EQ(detect({"--csv-safe", "in"}).status, 2);
}

TEST_F(Results, CsvHasPicturesWithoutFacesAndCropsWhenAskedTo) {
  add_face("in/face.pgm");
  write_pgm("in/none.pgm", draw_faces({80, 80}, {}));
  write_text("in/broken.pgm", "P5 no");
  const std::vector<std::string> all{"--format", "csv", "--csv-all", "-o", "r"};
  EXPECT_EQ(detect(joined(all, {"in"})).status, 1);
  const std::string table = read_text("r");
  EXPECT_EQ(std::ranges::count(table, '\n'), 3) << table;  // the header and two pictures
  EXPECT_TRUE(has(table, "\nnone.pgm,,,,,,,\n")) << table;
  // What failed has no row, and is completed by its journal.
  write_pgm("in/broken.pgm", draw_faces({90, 80}, {}));
  EXPECT_EQ(detect(joined(all, {"--resume", "in"})).status, 0);
  EXPECT_TRUE(has(read_text("r"), "\nbroken.pgm,,,,,,,\n"));
  // Other columns are another file.
  EXPECT_EQ(detect({"--format", "csv", "-o", "r", "--resume", "in"}).status, 2);
  EXPECT_EQ(detect(joined(all, {"--crops", "crops", "in"})).status, 0);
  const std::string text = read_text("r");
  EXPECT_TRUE(text.starts_with("image,x,y,w,h,neighbors,score,crop\nbroken.pgm,,,,,,,\nface.pgm,"))
      << text;
  EXPECT_TRUE(has(text, ",face.pgm.png_1.png\nnone.pgm,,,,,,,\n")) << text;
  EXPECT_TRUE(exists("crops/face.pgm.png_1.png"));
  // It is recognised as results, which may be replaced.
  EXPECT_EQ(detect({"--format", "csv", "-o", "r", "in"}).status, 0);
  EXPECT_EQ(detect({"--csv-all", "in"}).status, 2);
}

TEST_F(Results, LimitsAreErrorRecordsThatNameTheirOptions) {
  add_face("a.pgm");
  const auto error = [&](const char* option, const char* value) {
    return records_of({option, value, "a.pgm"}, 1).at(0)["error"];
  };
  for (const auto& [option, value] :
       // The picture has 120 x 100 = 12,000 pixels.
       {std::pair("--max-pixels", "11999"), {"--max-seconds", "1e-9"}}) {
    const Json json = error(option, value);
    EXPECT_EQ(json["kind"], "limit") << json;
    EXPECT_TRUE(has(json["message"], option)) << json;
  }
  EXPECT_EQ(detect({"--max-pixels", "12000", "a.pgm"}).status, 0);
}

TEST_F(Results, OptionsReachTheDetector) {
  add_face("a.pgm", 2);
  const auto faces = [&](Arguments options) {
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
  write_pgm("in/two.pgm", draw_faces({300, 160}, {{80, 70, 36}, {220, 80, 48}}));
  write_pgm("in/sub/none.pgm", draw_faces({60, 50}, {}));
  const auto records = records_of({"-r", "--annotate", "out/boxes", "--crops", "out/crops", "in"});
  EXPECT_EQ(files_below("out"), (Names{"boxes/sub/none.pgm.png", "boxes/two.pgm.png",
                                       "crops/two.pgm.png_1.png", "crops/two.pgm.png_2.png"}));
  // Both have the right size, and the program itself can read them.
  const Json face = records.at(1)["faces"][0];
  const Json crop = detect({"out/crops/two.pgm.png_1.png"}).records().at(0);
  EXPECT_EQ(crop["width"], face["width"]);
  EXPECT_EQ(crop["height"], face["height"]);
  EXPECT_EQ(detect({"out/boxes/two.pgm.png"}).records().at(0)["width"], 300);
}

TEST_F(Results, PicturesStayBelowTheirFolderAndNeverReplaceEachOther) {
  add_face("a/1.pgm", 0);
  add_face("b/1.pgm", 1);
  add_face("c.pgm", 2);
  const Finished done = detect({"--annotate", "out", "a", "b", "a/../c.pgm", path("c.pgm")});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"), (Names{"1.pgm.png", "1.pgm_2.png", "c.pgm.png", "c.pgm_2.png"}));
  EXPECT_EQ(files_below("."), (Names{"a/1.pgm", "b/1.pgm", "c.pgm", "out/1.pgm.png",
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
  EXPECT_TRUE(has(done.err, "pictures (written by facesat"));
}

TEST_F(Results, CascadesOfTheSameNameAreDistinguished) {
  add_face("a.pgm");
  const std::string xml =
      read_text(fs::path(FACESAT_CASCADE_DIR) / "haarcascades/haarcascade_frontalface_default.xml");
  for (const char* file : {"a/c.xml", "b/c.xml"}) {
    fs::create_directory((folder / file).parent_path());
    write_text(file, xml);
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
  EXPECT_TRUE(has(loud.err, "images/s"));
  EXPECT_TRUE(has(loud.err, "1 image, 1 face in"));
  const Finished plain = run({"detect", "a.pgm"});
  EXPECT_FALSE(has(plain.err, "images/s"));  // standard error is no terminal here
  EXPECT_TRUE(has(plain.err, "detecting on the CPU"));
}

// On a terminal, results and progress would share lines.
TEST_F(Results, ProgressIsNotShownOnATerminalThatShowsResults) {
  add_face("in/a.pgm");
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_EQ(::grantpt(terminal) + ::unlockpt(terminal), 0);
  const auto shown = [&](const Arguments& arguments) {
    EXPECT_EQ(run(arguments, "",
                  [&] {
                    const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
                    ::dup2(end, 1);
                    ::dup2(end, 2);
                  })
                  .status,
              0);
    // The terminal may still be on the way with what the program has written. The summary is last.
    std::string text;
    pollfd more{terminal, POLLIN, 0};
    constexpr int most_ms = 20'000;
    while (text.find("1 face in ") == text.npos || !text.ends_with('\n')) {
      std::array<char, 4096> part{};
      if (::poll(&more, 1, most_ms) <= 0) break;
      const ssize_t size = ::read(terminal, part.data(), part.size());
      if (size <= 0) break;
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  };
  const int slave = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);  // keeps what was written
  EXPECT_TRUE(has(shown({"detect", "-o", "r", "in"}), "images/s"));
  const std::string both = shown({"detect", "in"});
  EXPECT_FALSE(has(both, "images/s"));
  EXPECT_TRUE(has(both, "{\"image\":"));
  EXPECT_TRUE(has(shown({"detect", "--progress", "on", "in"}), "images/s"));
  ::close(slave);
  ::close(terminal);
}

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

class ManyInputs : public ProgramTest {
 protected:
  ManyInputs() {
    write_pgm("picture.pgm", draw_faces({64, 48}, {}));
    std::ofstream list(folder / "list.txt");
    for (int i = 0; i < count; ++i) {
      const std::string name = "in/" + std::to_string(100000 + i) + ".pgm";
      if (i == 0) fs::create_directory(folder / "in");
      fs::create_hard_link(folder / "picture.pgm", folder / name);
      list << name << "\n";
    }
    list << "missing.pgm\n";  // so that the journal stays
  }

  // The largest number of bytes in memory during a run.
  std::size_t peak_of(const std::vector<std::string>& inputs) const {
    Arguments arguments{"detect", "-q", "--min-size", "9000", "-o", "r"};
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    const Running running = start(arguments);
    rusage usage{};
    int status = 0;
    EXPECT_EQ(::wait4(running.process(), &status, 0, &usage), running.process());
    EXPECT_EQ(WEXITSTATUS(status), 1);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }

  static constexpr int count = 20000;
};

TEST_F(ManyInputs, NeedLittleMemoryEach) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "skipped: the address sanitizer keeps freed memory";
#endif
  const std::size_t of_one = peak_of({"picture.pgm", "missing.pgm"});
  remove({"r"});
  constexpr std::size_t each = 1500;  // bytes
  EXPECT_LT(peak_of({"@list.txt"}), of_one + each * count);
  EXPECT_EQ(read_records("r").size(), count + 1u);
  EXPECT_LT(peak_of({"--resume", "@list.txt"}), of_one + each * count);
  EXPECT_EQ(read_records("r").size(), count + 1u);
}

// Nothing is read ahead but what is needed to keep the processors busy.
TEST_F(ManyInputs, TheFirstRecordComesBeforeTheListEnds) {
  ASSERT_EQ(::mkfifo((folder / "list").c_str(), 0600), 0);
  const Running running = start({"detect", "-q", "-o", "r", "@list"});
  const int list = ::open((folder / "list").c_str(), O_WRONLY);
  ASSERT_EQ(::write(list, "picture.pgm\n", 12), 12);
  wait_for("r");
  ::close(list);
  EXPECT_EQ(running.wait().status, 0);
}

}  // namespace
}  // namespace facesat::test
