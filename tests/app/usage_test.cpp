// The program's messages and exit statuses when asked for help, for information, for cascades, or
// wrongly.
#include <fmt/format.h>

#include "tests/kit/cascades.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Usage = ProgramTest;

TEST_F(Usage, HelpNamesEverySubcommandAndExitsWithZero) {
  const Finished help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* word : {"detect", "live", "samples", "bench", "info", "cascades"})
    EXPECT_TRUE(has(help.out, word)) << word;
  EXPECT_EQ(run({"detect", "--help"}).status, 0);
  EXPECT_EQ(run({"--version"}).out, "facesat " FACESAT_VERSION "\n");
}

struct Mistake {
  Arguments arguments;
  std::string said;  // part of the text on standard error
};

TEST_F(Usage, MistakesAreReportedInASentenceAndNothingIsProcessed) {
  add_face("a.pgm");
  write_text("text.xml", "no cascade");
  const Mistake mistakes[] = {
      {{}, "subcommand"},
      {{"fly"}, "fly"},
      {{"detect"}, "INPUT"},
      {{"detect", "--wings", "a.pgm"}, "--wings"},
      {{"detect", "--scale-factor", "1", "a.pgm"}, "scale factor must be greater than 1"},
      {{"detect", "--scale-factor", "nan", "a.pgm"}, "scale factor"},
      {{"detect", "--scale-factor", "1.0000001", "a.pgm"}, "too close to 1"},
      {{"detect", "--scale-factor", "x", "a.pgm"}, "--scale-factor"},
      {{"detect", "--min-neighbors", "many", "a.pgm"},
       "--min-neighbors = many: this is not a number"},
      {{"detect", "-o", "a", "-o", "b", "a.pgm"}, "--output: this option can only be given once"},
      {{"bench", "detect", "--seconds", "nan", "a.pgm"}, "--seconds: expected from 0 to"},
      {{"bench", "detect", "--json", "-", "a.pgm"}, "-: this cannot go to standard output"},
      {{"detect", "--min-neighbors", "-1", "a.pgm"}, "neighbours must not be negative"},
      {{"detect", "--inside-of", "eye", "a.pgm"}, "it must be one of the cascades"},
      {{"detect", "--inside-of=frontalface_default", "a.pgm"}, "no other cascade"},
      {{"detect", "--only-with-inner", "a.pgm"}, "name the cascade of these faces (inside_of)"},
      {{"detect", "--min-size", "3y", "a.pgm"}, "expected N or WxH"},
      {{"detect", "--max-size", "-4", "a.pgm"}, "--max-size"},
      {{"detect", "--max-size", "10x", "a.pgm"}, "expected N or WxH"},
      {{"detect", "--scan", "fast", "a.pgm"}, "--scan"},
      {{"detect", "--scan", "0", "a.pgm"}, "--scan: expected dense|opencv, not \"0\""},
      {{"detect", "--format", "1", "a.pgm"}, "--format: expected"},
      {{"detect", "--progress", "2", "a.pgm"}, "--progress: expected"},
      {{"detect", "--backend", "0", "a.pgm"}, "--backend: expected"},
      {{"detect", "--min-neighbors", "", "a.pgm"}, "--min-neighbors: a value is missing"},
      {{"detect", "--sat", "", "a.pgm"}, "--sat: a value is missing"},
      {{"detect", "--annotate", "", "a.pgm"}, "--annotate: a value is missing"},
      {{"detect", "--output", "", "a.pgm"}, "--output: a value is missing"},
      {{"detect", ""}, "INPUT: a value is missing"},
      {{"detect", "--annotate=", "a.pgm", "a.pgm"}, "--annotate: a value is missing"},
      {{"detect", "--cascade=", "eye", "a.pgm"}, "--cascade: a value is missing"},
      {{"detect", "--max-pixels", "0", "a.pgm"},
       "--max-pixels: expected a whole number of at least 1, not \"0\""},
      {{"detect", "--max-pixels", "1e9", "a.pgm"}, "--max-pixels: expected a whole number"},
      {{"detect", "--max-seconds", "-1", "a.pgm"}, "--max-seconds"},
      {{"detect", "--every", "0", "a.pgm"},
       "--every: expected a whole number from 1 to 2147483647, not \"0\""},
      {{"detect", "--every", "-2", "a.pgm"}, "--every: expected a whole number"},
      {{"detect", "--every", "1.5", "a.pgm"}, "--every: expected a whole number"},
      {{"detect", "--every", "3000000000", "a.pgm"}, "--every: expected a whole number"},
      {{"detect", "--fps", "0", "a.pgm"}, "--fps: expected more than 0"},
      {{"detect", "--fps", "-1", "a.pgm"}, "--fps: expected more than 0"},
      {{"detect", "--fps", "nan", "a.pgm"}, "--fps: expected more than 0"},
      {{"detect", "--fps", "inf", "a.pgm"}, "--fps: expected more than 0"},
      {{"detect", "--fps", "1/2", "a.pgm"}, "--fps = 1/2: this is not a number"},
      {{"detect", "--fps", "2", "--every", "2", "a.pgm"}, "--every excludes --fps"},
      {{"detect", "--blur", "out", "--every", "2", "a.pgm"}, "--blur writes whole videos"},
      {{"detect", "--blur", "out", "--fps", "2", "a.pgm"}, "--blur writes whole videos"},
      {{"detect", "--blur", "out", "camera:0"}, "camera:0: --blur is for files"},
      {{"detect", "--orient", "90", "a.pgm"}, "--orient: expected auto|exif, not \"90\""},
      {{"detect", "--max-seconds", "nan", "a.pgm"}, "--max-seconds"},
      {{"detect", "--retry-failed", "a.pgm"}, "--resume"},
      {{"detect", "@"}, "@FILE"},
      {{"detect", "@a.pgm"}, "@ is for a list of paths, and this is a picture"},
      {{"detect", "--annotate", "a.pgm", "a.pgm"}, "a.pgm"},
      {{"bench", "detect", "--size", "10x10", "a.pgm"}, "--size 10x10"},
      {{"bench", "cascade", "--size", "10x10", "a.pgm"}, "--size 10x10"},
      {{"bench", "cascade", "--runs", "0", "a.pgm"}, "--runs: expected a whole number"},
      {{"bench", "detect", "--size", "", "a.pgm"}, "--size: a value is missing"},
      {{"detect", "--format", "xml", "a.pgm"}, "--format"},
      {{"detect", "--jobs", "0", "a.pgm"}, "--jobs: expected a whole number from 1 to 1024"},
      {{"bench", "detect", "--threads", "1,x", "a.pgm"}, "--threads: expected a whole number"},
      {{"bench", "detect", "--sat", "fast", "a.pgm"}, "--sat fast: "},
      {{"detect", "--resume", "a.pgm"}, "--output"},
      {{"detect", "--resume", "-o", "-", "a.pgm"}, "--resume needs an output file"},
      {{"detect", "--raw", "--min-neighbors", "2", "a.pgm"}, "--raw"},
      {{"detect", "--backend", "gpu", "a.pgm"}, "--backend"},
      {{"detect", "--backend", "cuda", "--device", "99", "a.pgm"}, "facesat: --"},
      {{"detect", "--device", "first", "a.pgm"}, "expected a number or \"all\""},
      {{"detect", "--sat", "fast", "a.pgm"}, "--sat fast: "},
      {{"detect", "--backend", "cpu", "--sat", "facesat_lookback", "a.pgm"}, "nothing to choose"},
      {{"detect", "--cascade", "nose_ring", "a.pgm"}, "no cascade named \"nose_ring\""},
      {{"detect", "--cascade", "text.xml", "a.pgm"},
       "text.xml, line 1: this is not one of OpenCV's cascade files"},
      {{"detect", "--cascade", "missing.xml", "a.pgm"}, "missing.xml: there is no such file"},
      {{"detect", "--cascade", "./", "a.pgm"}, "this is a folder"},
      {{"detect", "@missing.txt"}, "missing.txt: the list cannot be read"},
      {{"detect", "@."}, "this is a folder"},
      {{"detect", "-o", "no/such/folder/r.jsonl", "a.pgm"}, "no/such/folder/r.jsonl"},
      {{"detect", "-o", ".", "a.pgm"}, "directory"},
      {{"cascades", "show", "nose_ring"}, "nose_ring"},
  };
  for (const Mistake& mistake : mistakes) {
    const Finished done = run(mistake.arguments);
    const std::string what =
        mistake.arguments.empty() ? "(nothing)" : ::testing::PrintToString(mistake.arguments);
    EXPECT_EQ(done.status, 2) << what;
    EXPECT_EQ(done.out, "") << what;
    EXPECT_TRUE(has(done.err, mistake.said)) << what << " said: " << done.err;
  }
}

TEST_F(Usage, ValuesOfSatParametersAreChecked) {
  add_face("a.pgm");
  const bool has_cuda = Json::parse(run({"info", "--json"}).out)["build"]["cuda"];
  for (const auto& [sat, said] :
       {std::pair{"dang_2014_blocked:32.5", "must be a whole number from 8 to 256"},
        {"opencv_style:0.5", "opencv_style has no parameter"}}) {
    const std::string expected =
        fmt::format("{}: {}", sat, has_cuda ? "" : "this build has no CUDA backend");
    for (const Finished& done : {run({"detect", "--sat", sat, "a.pgm"}),
                                 run({"bench", "sat", "--algorithm", sat, "--size", "8x8"})}) {
      EXPECT_EQ(done.status, 2) << sat;
      EXPECT_EQ(done.out, "") << sat;
      EXPECT_TRUE(has(done.err, expected));
      EXPECT_EQ(done.err.find(said) != std::string::npos, has_cuda) << done.err;
    }
  }
}

#if !FACESAT_SHOWS
TEST_F(Usage, ABuildWithoutWindowsShowsNothing) {
  add_face("a.pgm");
  EXPECT_TRUE(ended(run({"detect", "--show", "-o", "r", "a.pgm"}), 2,
                    "--show: this build shows no pictures"));
  EXPECT_EQ(files_below("."), Names{"a.pgm"});
}
#endif

TEST_F(Usage, AnOptionThatMayBeRepeatedTakesOneValueAtATime) {
  add_face("a.pgm");
  add_face("b.pgm");
  EXPECT_EQ(detect({"--cascade", "frontalface_alt", "a.pgm", "b.pgm"}).records().size(), 2u);
  EXPECT_EQ(detect({"--cascade", "frontalface_alt", "--cascade", "eye", "a.pgm"}).records().size(),
            1u);
}

TEST_F(Usage, InfoAsJsonKeepsItsContract) {
  const Finished done = run({"info", "--json"});
  ASSERT_EQ(done.status, 0);
  const Json info = Json::parse(done.out);
  EXPECT_EQ(info["version"], FACESAT_VERSION);
  EXPECT_TRUE(info["build"].is_object());
  EXPECT_EQ(info["backends"][0], "cpu");
  EXPECT_TRUE(info["devices"].is_array());
  EXPECT_TRUE(info["sat"].is_array());
  bool has_default = false;
  for (const Json& cascade : info["cascades"])
    has_default |= cascade == Json{{"name", "frontalface_default"},
                                   {"kind", "haar"},
                                   {"window", "24x24"},
                                   {"stages", 25},
                                   {"features", 2913}};
  EXPECT_TRUE(has_default) << info["cascades"];
}

TEST_F(Usage, CascadesAreListedAndShown) {
  const Finished list = run({"cascades"});
  EXPECT_EQ(list.status, 0);
  EXPECT_EQ(list.out, run({"cascades", "list"}).out);
  EXPECT_EQ(std::count(list.out.begin(), list.out.end(), '\n'), 23);  // the title and OpenCV's 22
  const Finished one = run({"cascades", "show", "lbp:frontalface"});
  EXPECT_EQ(one.status, 0);
  EXPECT_TRUE(has(one.out, "lbp"));
  EXPECT_TRUE(has(one.out, "24x24"));
  EXPECT_EQ(one.out, run({"cascades", "lbp:frontalface"}).out);
}

class Cascades : public ProgramTest {
 protected:
  // The first line of what `facesat cascades show` prints; the message if it fails.
  std::string shown(const std::string& name) const {
    const Finished done = run({"cascades", "show", name});
    return done.status == 0 ? done.out.substr(0, done.out.find('\n')) : done.err;
  }
  bool is_stump_cascade(const std::string& name) const {
    return run({"cascades", "show", name}).out.find("window    12x10") != std::string::npos;
  }
};

TEST_F(Cascades, AreReadFromFilesOfAnyName) {
  for (const char* name : {"CASCADE.XML", "cascade.txt", "mine", "eyes.yml", "eyes.json",
                           "e.xml.gz", "eye", "frontalface_default"}) {
    write_text(name, stump_cascade());
    EXPECT_TRUE(is_stump_cascade(name)) << name;
    EXPECT_TRUE(is_stump_cascade("./" + std::string(name))) << name;
  }
  EXPECT_EQ(shown("e.xml.gz"), "e");
  EXPECT_EQ(shown("CASCADE.XML"), "CASCADE");
}

// What facesat train has noted beside the file, unless it is about another cascade.
TEST_F(Cascades, AreShownWithTheRatesOfTheirTraining) {
  write_text("mine.xml", stump_cascade());
  const std::string without = run({"cascades", "show", "mine.xml"}).out;
  std::filesystem::create_directory(folder / "mine.xml.training");
  const auto with_log = [&](int trees) {
    write_text("mine.xml.training/log.jsonl",
               fmt::format("damaged\n{{\"event\":\"tree\",\"stage\":0}}\n"
                           R"({{"event":"stage_end","stage":0,"trees":{},"hit_rate":0.9975,)"
                           R"("false_alarms":0.4125,"held_out":{{"hit_rate":0.9625,)"
                           R"("false_alarms":0.5375}}}})"
                           "\n",
                           trees));
    return run({"cascades", "show", "mine.xml"}).out;
  };
  const std::string with = with_log(2);
  for (const char* rate : {"0.9975", "0.4125", "0.9625", "0.5375"})
    EXPECT_TRUE(has(with, rate)) << with;
  EXPECT_EQ(with_log(1), without);
}

// Only files hide the cascades of the same names.
TEST_F(Cascades, AreFoundBesideFoldersOfTheirNames) {
  std::filesystem::create_directory(folder / "eye");
  EXPECT_EQ(shown("eye"), "eye");
  EXPECT_FALSE(is_stump_cascade("eye"));
}

TEST_F(Cascades, ThatDoNotExistGetTheNearestName) {
  write_text("mine.yaml", stump_cascade());
  write_text("notes.txt", "");
  for (const auto& [name, nearest] :
       {std::pair{"haarcascade_frontalface_default.xml", "frontalface_default"},
        {"/nowhere/haarcascade_eye.xml", "eye"},
        {"lbpcascade_frontalface.xml", "lbp:frontalface"},
        {"lbpcascade_frontalface", "lbp:frontalface"},
        {"frontalface_defualt", "frontalface_default"},
        {"Frontalface_Alt2", "frontalface_alt2"},
        {"smlie", "smile"},
        {"frontalface", "frontalface_alt"},
        {"lbp:frontalfase", "lbp:frontalface"},
        {"mine.yml", "mine.yaml"},
        {"./mnie.yaml", "./mine.yaml"}})
    EXPECT_TRUE(has(shown(name), "did you mean \"" + std::string(nearest) + "\"?"));
  for (const char* name : {"no_such_thing_at_all_here_0123456789", "nowhere/9999999999.xml"})
    EXPECT_FALSE(has(shown(name), "did you mean"));
}

TEST_F(Cascades, AreWarnedOfOnce) {
  add_face("a.pgm");
  add_face("b.pgm", 1);
  write_text("c.xml", replaced(stump_cascade(), "<stageNum>2", "<stageNum>3"));
  const std::string warning =
      "facesat: c.xml, line 11: <stageNum>: the file says \"3\", but there are 2\n";
  const Finished show = run({"cascades", "show", "c.xml"});
  EXPECT_EQ(show.err, warning);
  EXPECT_EQ(show.status, 0);
  const Finished found = run({"detect", "--cascade", "c.xml", "a.pgm", "b.pgm"});
  const std::size_t at = found.err.find(warning);
  EXPECT_NE(at, std::string::npos) << found.err;
  EXPECT_EQ(found.err.find(warning, at + 1), std::string::npos) << found.err;
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.records().size(), 2u);
  EXPECT_EQ(detect({"--cascade", "c.xml", "a.pgm"}).err, "");  // --quiet
}

// The journal knows the file by its contents, whatever its name.
TEST_F(Cascades, InFilesNamedLikeTheDefaultOneCountInTheJournal) {
  add_face("a.pgm");
  write_text("frontalface_default", stump_cascade());
  // An input that fails keeps the journal.
  EXPECT_EQ(detect({"-o", "r", "a.pgm", "missing.pgm"}).status, 1);
  EXPECT_EQ(detect({"-o", "r", "--resume", "a.pgm", "missing.pgm"}).status, 1);
  write_text("frontalface_default", tree_cascade());
  EXPECT_EQ(detect({"-o", "r", "--resume", "a.pgm", "missing.pgm"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
