// facesat train --search.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "core/cascade.hpp"
#include "facesat.hpp"
#include "tests/kit/drawn_letter.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"
#include "training/cascade_prefix.hpp"

namespace facesat::test {
namespace {

class SettingsSearchTest : public ProgramTest {
 protected:
  SettingsSearchTest() {
    for (unsigned i = 0; i < 60; ++i)
      write_pgm(fmt::format("crops/{:02}.pgm", i), drawn_letter({10, 9}, i));
    for (unsigned i = 0; i < 7; ++i)
      write_pgm(fmt::format("photos/{}.pgm", i), clouds({90 + 11 * static_cast<int>(i), 70}, i, 2));
  }

  // Hit rates, depth and negatives vary.
  const Arguments all{"train",          "crops", "--negatives", "photos", "--window", "10x9",
                      "--features",     "lbp",   "--stages",    "2",      "--trees",  "6",
                      "--scale-factor", "1.3"};
  const Arguments few = joined(all, {"--hit-rate", "0.97", "--negatives-per-stage", "40"});

  Finished search(const Arguments& arguments, const std::string& output,
                  const Arguments& more = {}) const {
    return run(joined(joined(arguments, {"--search", "-o", output}), more));
  }
  // The settings, fold and curve of each trial.
  std::vector<Json> trials_of(const std::string& output) const {
    std::vector<Json> trials = read_records(output + ".training/search.jsonl");
    for (Json& trial : trials) trial.erase("seconds");
    return trials;
  }
  // The arguments that a search has found.
  static Arguments best_of(const Finished& done) {
    const std::string beginning = "search: the best: ";
    const std::size_t at = done.err.find(beginning) + beginning.size();
    std::istringstream words(done.err.substr(at, done.err.find('\n', at) - at));
    Arguments arguments;
    for (std::string word; words >> word;) arguments.push_back(word);
    return arguments;
  }
};

TEST_F(SettingsSearchTest, TrainsWithTheBest) {
  const Finished done = search(all, "t.xml");
  EXPECT_TRUE(
      ended(done, 0,
            "search: varies --hit-rate, --depth, --negatives-per-stage; 3 folds; begins with "
            "--features lbp --window 10x9 --hit-rate 0.995 --depth 1 --negatives-per-stage 54\n"));
  for (const char* tried :
       {"search: the settings given: hit rate ",
        "search: --hit-rate 0.99: ", "search: --hit-rate 0.998: ", "search: --hit-rate 0.999: ",
        "search: --depth 2: ", "search: --depth 3: ", "search: --negatives-per-stage 27: ",
        "search: --negatives-per-stage 108: "})
    EXPECT_TRUE(has(done.err, tried)) << done.err;
  const Arguments best = best_of(done);
  ASSERT_EQ(best.size(), 10u) << done.err;
  EXPECT_EQ(std::ranges::count(best, "--features"), 1);

  // Values of the first settings were replaced by better ones alone.
  const Arguments first{"--features", "lbp",        "--window",
                        "10x9",       "--hit-rate", "0.995",
                        "--depth",    "1",          "--negatives-per-stage",
                        "54"};
  for (std::size_t i = 0; i < best.size(); i += 2) {
    EXPECT_EQ(best[i], first[i]);
    if (best[i + 1] == first[i + 1]) continue;
    const std::string line = "search: " + best[i] + " " + best[i + 1] + ": hit rate ";
    const std::size_t at = done.err.find(line);
    ASSERT_NE(at, done.err.npos) << line;
    EXPECT_EQ(done.err.substr(at + line.size() + 6, 3), ", +") << done.err;
  }

  Arguments same{"train",   "crops", "--negatives",    "photos", "--stages", "2",
                 "--trees", "6",     "--scale-factor", "1.3",    "-o",       "same.xml"};
  EXPECT_EQ(run(joined(same, best)).status, 0);
  EXPECT_EQ(cascade_to_xml(load_cascade(folder / "t.xml")),
            cascade_to_xml(load_cascade(folder / "same.xml")));
  EXPECT_TRUE(has(read_text("t.xml"), "folds: 3"));

  // Again: nothing is left to do. With more stages, or another goal, the settings stay.
  const std::string journal = read_text("t.xml.training/search.jsonl");
  const std::string before = read_text("t.xml");
  const Finished again = search(all, "t.xml");
  EXPECT_TRUE(ended(again, 0, "all 2 stages are trained"));
  EXPECT_FALSE(has(again.err, "search: "));
  EXPECT_EQ(read_text("t.xml"), before);
  Arguments more = all;
  *std::next(std::ranges::find(more, "--stages")) = "3";
  EXPECT_TRUE(ended(search(more, "t.xml"), 0, "all 3 stages are trained"));
  EXPECT_TRUE(
      training::begins_with(load_cascade(folder / "t.xml"), load_cascade(folder / "same.xml")));
  EXPECT_EQ(read_text("t.xml.training/search.jsonl"), journal);
}

TEST_F(SettingsSearchTest, GoesOnWhereItWasEnded) {
  EXPECT_EQ(search(few, "whole.xml").status, 0);
  const std::vector<Json> whole = trials_of("whole.xml");
  EXPECT_GE(whole.size(), 5u);
  EXPECT_EQ(search(few, "t.xml", {"-j", "1", "-q"}).err, "");
  EXPECT_EQ(trials_of("t.xml"), whole);
  EXPECT_EQ(read_text("t.xml"), read_text("whole.xml"));

  // It was killed while it wrote a line.
  const std::string journal = read_text("t.xml.training/search.jsonl");
  std::size_t end = 0;
  for (int line = 0; line < 4; ++line) end = journal.find('\n', end) + 1;
  remove({"t.xml.training/trees.jsonl", "t.xml.training/stage.samples", "t.xml"});
  write_text("t.xml.training/search.jsonl", journal.substr(0, end + 20));
  // It does not go on with anything else.
  Arguments more = few;
  *std::next(std::ranges::find(more, "--stages")) = "3";
  const std::string other =
      "search.jsonl: the search was begun with other samples, pictures, "
      "--stages or --goal; --restart begins anew";
  EXPECT_TRUE(ended(search(more, "t.xml"), 2, other));
  write_pgm("photos/more.pgm", clouds({90, 70}, 99, 2));
  EXPECT_TRUE(ended(search(few, "t.xml"), 2, other));
  remove({"photos/more.pgm"});
  write_pgm("crops/more.pgm", drawn_letter({10, 9}, 99));
  EXPECT_TRUE(ended(search(few, "t.xml"), 2, other));
  remove({"crops/more.pgm"});
  EXPECT_EQ(search(few, "t.xml").status, 0);
  EXPECT_EQ(trials_of("t.xml"), whole);
  EXPECT_EQ(read_text("t.xml"), read_text("whole.xml"));
  EXPECT_TRUE(has(read_text("t.xml.training/search.jsonl"), journal.substr(0, end)));

  EXPECT_TRUE(ended(search(few, "t.xml", {"--folds", "2"}), 2, "--folds was 3, is 2"));
  EXPECT_TRUE(
      ended(run(joined(few, {"-o", "t.xml"})), 2, "--search was [\"depth\"], is not given"));
  for (const char* damaged : {"{}\n", "[]\n", "{\"best\":{\"features\":\"hog\"}}\n", "P5\n"}) {
    write_text("t.xml.training/search.jsonl", damaged);
    EXPECT_TRUE(ended(search(few, "t.xml"), 2, "search.jsonl: the file is damaged; --restart"));
  }
  EXPECT_EQ(search(few, "t.xml", {"--restart"}).status, 0);
  EXPECT_EQ(trials_of("t.xml"), whole);
}

TEST_F(SettingsSearchTest, LeavesOutWhatTheSamplesDoNotHave) {
  EXPECT_EQ(run({"samples", "crops", "--window", "24x24", "-o", "s.vec"}).status, 0);
  const Finished done =
      search({"train", "s.vec", "--negatives", "photos", "--features", "lbp", "--stages", "1",
              "--trees", "2", "--hit-rate", "0.97", "--depth", "1", "--negatives-per-stage", "40"},
             "t.xml");
  EXPECT_TRUE(ended(done, 0, "search: --window does not vary: the samples of a .vec file"));
  EXPECT_FALSE(has(done.err, "hit rate ("));
  EXPECT_EQ(load_cascade(folder / "t.xml").window, (Size{24, 24}));
}

TEST_F(SettingsSearchTest, MistakesAreReportedInASentence) {
  const Arguments output{"-o", "t.xml"};
  write_pgm("one/1.pgm", clouds({90, 70}, 1, 2));
  const struct {
    Arguments arguments;
    std::string said;
  } mistakes[] = {
      {joined(few, {"--search", "--depth", "2"}),
       "--search: all of the options that it could vary are given"},
      {joined(few, {"--folds", "4"}), "--folds requires --search"},
      {joined(few, {"--search", "--folds", "1"}), "--folds"},
      {joined(few, {"--search", "--from", "x.xml"}), "--from excludes --search"},
      {joined(few, {"--search", "--folds", "9"}),
       "--search: 9 folds need as many objects and as many pictures for negatives; there are 60 "
       "and 7"},
      {joined(few, {"--search", "--count", "12"}), "8 positives to learn from (4 held out)"},
      {joined(few, {"--search", "--validation", "missing"}), "missing: "},
      {{"train", "crops/00.pgm", "--distort", "40", "--negatives", "photos", "--window", "10x9",
        "--held-out", "0", "--search"},
       "--search: 3 folds need as many objects and as many pictures for negatives; there are 1 "
       "and 7"},
      {joined(few, {"--search", "--thresholds-by-held-out"}),
       "--search cannot be used with --thresholds-by-held-out"},
  };
  for (const auto& [arguments, said] : mistakes) {
    EXPECT_TRUE(ended(run(joined(arguments, output)), 2, said))
        << ::testing::PrintToString(arguments);
    EXPECT_FALSE(exists("t.xml"));
    remove({"t.xml.training"});
  }
}

}  // namespace
}  // namespace facesat::test
