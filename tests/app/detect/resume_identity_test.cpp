// Which inputs --resume takes for those of the earlier run: the same files, under any spelling of
// their paths and wherever they were moved, unless they have changed. Runs that have finished, and
// whose command is given again.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <random>
#include <thread>

#include <sys/stat.h>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Resume = SixtyPictures;
using ResumedInputs = EachFormat<ProgramTest>;
INSTANTIATE_TEST_SUITE_P(, ResumedInputs, ::testing::Values("jsonl", "csv"));

// The line of the text that has `part` in it, with its end.
std::string line_with(const std::string& part, const std::string& text) {
  const std::size_t begin = text.rfind('\n', text.find(part)) + 1;
  return text.substr(begin, text.find('\n', begin) + 1 - begin);
}

void erase(std::string& text, const std::string& line) {
  text.erase(text.find(line), line.size());
}

TEST_P(ResumedInputs, TwoPicturesOfOneNameHaveTwoRecords) {
  add_face("a/1.pgm", 1);
  write_pgm("a/2.pgm", draw_faces({80, 80}, {}));  // no line in CSV
  add_face("b/1.pgm", 2);
  add_face("b/2.pgm", 3);
  const std::string expected = detect({"--format", format, "a", "b"}).out;
  write_text("broken.pgm", broken_pgm);  // so that the journal stays
  detect({"--format", format, "-o", "r", "a", "b", "broken.pgm"});
  const std::string complete = read_text("r"), journal = read_text("r.resume");
  for (std::size_t keep = 1; keep < complete.size(); keep += 29) {
    write_text("r", complete.substr(0, keep));
    write_text("r.resume", journal);
    add_face("broken.pgm", 4);  // must not be processed again if it is complete
    const Finished done = detect({"--resume", "--format", format, "-o", "r", "a", "b"});
    ASSERT_LE(done.status, 1) << done.err;
    const std::string text = read_text("r");
    ASSERT_EQ(text.substr(0, expected.size()), expected) << keep;
  }
}

TEST_P(ResumedInputs, InputsThatHaveChangedAreProcessedAgain) {
  add_face("four/a.pgm", 1);
  add_face("four/b.pgm", 2);
  add_face("four/c.pgm", 3);
  write_text("four/d.pgm", broken_pgm);
  const auto run = [&](const Arguments& more) {
    return detect(joined({"--format", format, "-o", "r", "--annotate", "boxes", "four"}, more));
  };
  EXPECT_EQ(run({}).status, 1);
  const std::string before = read_text("r");
  add_face("four/b.pgm", 40);
  remove({"four/c.pgm"});  // its record stays, because there is no newer one
  EXPECT_EQ(run({"--resume"}).status, 1);
  std::string expected = before;
  erase(expected, line_with("b.pgm", before));
  expected += line_with("b.pgm", detect({"--format", format, "four"}).out);
  EXPECT_EQ(read_text("r"), expected);
  EXPECT_NE(expected, before);
  EXPECT_EQ(run({"--resume"}).status, 1);
  EXPECT_EQ(read_text("r"), expected) << "once is enough";
  add_face("four/d.pgm", 4);  // has changed like the others, although it had failed
  EXPECT_EQ(run({"--resume"}).status, 0);
  if (format == "jsonl") erase(expected, line_with("d.pgm", expected));
  expected += line_with("d.pgm", detect({"--format", format, "four"}).out);
  EXPECT_EQ(read_text("r"), expected);
}

// An input is identified by its path, however the path is spelled.
TEST_P(ResumedInputs, PicturesOfTheSameNameInOtherFoldersAreDifferentInputs) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text("A/broken.pgm", broken_pgm);  // so that the journal stays
  const auto run = [&](const Arguments& more) {
    return detect(joined({"--format", format, "-o", "r"}, more)).status;
  };
  EXPECT_EQ(run({"A"}), 1);
  const std::string before = read_text("r");
  EXPECT_EQ(run({"--resume", "B", "A"}), 1);
  std::string of_b = detect({"--format", format, "B"}).out;
  if (format == "csv") of_b.erase(0, of_b.find('\n') + 1);
  EXPECT_EQ(read_text("r"), before + of_b);
  EXPECT_EQ(run({"--resume", "./B", path("B/../A")}), 1);
  EXPECT_EQ(read_text("r"), before + of_b);
}

TEST_F(Resume, NamesWithoutAFolderBelongToTheCurrentFolder) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text("broken.pgm", broken_pgm);  // so that the journal stays
  const auto run_in = [&](const char* where, const std::string& input) {
    return run({"detect", "-q", "-o", path("r"), "--resume", input}, "", in_folder(folder / where))
        .status;
  };
  EXPECT_EQ(run_in(".", "broken.pgm"), 1);
  const std::string before = read_text("r");
  EXPECT_EQ(run_in("A", "a.pgm"), 1);
  EXPECT_EQ(run_in("B", "a.pgm"), 1);
  EXPECT_EQ(run_in("B", "../A/a.pgm"), 1);
  EXPECT_EQ(run_in("A", "./a.pgm"), 1);
  EXPECT_EQ(run_in(".", "B/a.pgm"), 1);
  const auto of = [&](const char* input) {
    const std::string record = detect({input}).out;
    return "{\"image\":\"" + record.substr(record.find("a.pgm"));
  };
  EXPECT_EQ(read_text("r"), before + of("A/a.pgm") + of("B/a.pgm"));
}

// Results may have been moved, and an input may be reached through another link.
TEST_F(Resume, MovedResultsCanBeCompleted) {
  add_face("p/in/a.pgm", 1);
  add_face("moved/in/a.pgm", 2);  // another picture
  write_text("p/in/broken.pgm", broken_pgm);
  fs::create_directory_symlink("p", folder / "q");
  EXPECT_EQ(detect({"-o", "r", "p/in"}).status, 1);
  const std::string text = read_text("r");
  for (const char* file : {"r", "r.resume"}) fs::rename(folder / file, folder / "moved" / file);
  for (const std::string input : {"p/in", "q/in", "./q/../p//in"}) {
    EXPECT_EQ(detect({"-o", "moved/r", "--resume", input}).status, 1);
    EXPECT_EQ(read_text("moved/r"), text) << input;
  }
  EXPECT_EQ(detect({"-o", "moved/r", "--resume", "moved/in"}).status, 1);
  EXPECT_EQ(read_text("moved/r"), text + detect({"moved/in"}).out);
}

// The inputs are moved with their parent folders, so that their names in the results do not change.
TEST_P(ResumedInputs, InputsThatWereMovedAreRecognised) {
  for (const char* name : {"A/a.pgm", "A/sub/a.pgm", "A/sub/b.pgm"}) add_face(name, 1);
  EXPECT_EQ(detect({"--format", format, "-o", "r", "-r", "A", "missing"}).status, 1);
  const std::string text = read_text("r");
  fs::create_directory(folder / "usb");
  fs::rename(folder / "A", folder / "usb/B");
  for (const char* attempt : {"first", "second"}) {
    EXPECT_EQ(detect({"--format", format, "-o", "r", "--resume", "-r", "usb/B", "missing"}).status,
              1);
    EXPECT_EQ(read_text("r"), text) << attempt;
  }
  // From now on they are identified by their new path; a file at the old path is a new input.
  add_face("A/a.pgm", 2);
  const std::string of_new = detect({"--format", format, "A"}).out;
  EXPECT_EQ(detect({"--format", format, "-o", "r", "--resume", "-r", "A", "missing"}).status, 1);
  EXPECT_EQ(read_text("r"), text + of_new.substr(format == "csv" ? of_new.find('\n') + 1 : 0));
}

// Different files may have the same names, sizes and times.
TEST_F(Resume, AnotherFolderIsNotTakenForOneThatWasMoved) {
  const std::vector<fs::path> both{folder / "s1/a.pgm", folder / "s2/a.pgm"};
  add_face("s1/a.pgm", 1);
  add_face("s2/a.pgm", 2);
  fs::last_write_time(both[1], fs::last_write_time(both[0]));
  struct stat first {
  }, second{};
  for (int attempt = 0; attempt < 1000; ++attempt) {  // until both are changed within one tick
    for (const fs::path& picture : both) fs::permissions(picture, fs::perms::owner_all);
    ::stat(both[0].c_str(), &first);
    ::stat(both[1].c_str(), &second);
    if (first.st_ctim.tv_nsec == second.st_ctim.tv_nsec) break;
  }
  if (first.st_ctim.tv_nsec != second.st_ctim.tv_nsec) GTEST_SKIP() << "times are too exact here";
  EXPECT_EQ(detect({"-o", "r", "s1", "missing"}).status, 1);
  remove({"s1"});
  const std::string before = read_text("r"), of_second = detect({"s2"}).out;
  EXPECT_EQ(detect({"-o", "r", "--resume", "s2", "missing"}).status, 1);
  EXPECT_EQ(read_text("r"), before + of_second);
}

// Programs that edit EXIF data may keep a file's size and time.
TEST_F(Resume, ChangesThatKeepSizeAndTimeAreNoticed) {
  add_face("in2/a.pgm", 1);
  EXPECT_EQ(detect({"-o", "r", "in2", "missing"}).status, 1);
  const auto time = fs::last_write_time(folder / "in2/a.pgm");
  const auto size = fs::file_size(folder / "in2/a.pgm");
  add_face("in2/a.pgm", 2);
  fs::last_write_time(folder / "in2/a.pgm", time);
  ASSERT_EQ(fs::file_size(folder / "in2/a.pgm"), size);
  EXPECT_EQ(detect({"-o", "r", "--resume", "in2", "missing"}).status, 1);
  EXPECT_EQ(read_records("r").size(), 2u);
  EXPECT_TRUE(has(read_text("r"), detect({"in2"}).out));
}

// A run that has finished, and whose command is given again.
class FinishedRuns : public ProgramTest {
 protected:
  FinishedRuns() {
    for (int i = 0; i < 6; ++i) add_face("in/" + std::to_string(i) + ".pgm", i);
    write_pgm("in/none.pgm", draw_faces({80, 80}, {}));
  }

  Finished again(const std::string& format, Arguments more = {}) const {
    more.insert(more.begin(), {"detect", "--resume", "--format", format, "-o", "r"});
    more.insert(more.end(), {"-r", "in"});
    return run(more);
  }

  std::string undisturbed(const std::string& format) const {
    return detect({"--format", format, "-r", "in"}).out;
  }

  // Kills a run with these arguments, which would take about as long as `whole`, at a random
  // moment; its status.
  int status_of_killed(const Arguments& arguments, std::chrono::microseconds whole) {
    const Running running =
        start(joined({"detect", "-q", "-j", "2"}, joined(arguments, {"-o", "r", "-r", "in"})));
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % whole.count()));
    running.signal(SIGKILL);
    return running.wait().status;
  }
  void expect_completed(const std::string& format, const std::string& expected) const {
    const Finished done = again(format);
    ASSERT_EQ(done.status, 0) << done.err;
    ASSERT_EQ(sorted_lines(read_text("r")), sorted_lines(expected));
  }

  void remove_results() const { remove({"r", "r.resume", "boxes", "crops"}); }

  std::pair<timespec, timespec> times() const {
    struct stat results {
    }, journal{};
    ::stat((folder / "r").c_str(), &results);
    ::stat((folder / "r.resume").c_str(), &journal);
    return {results.st_ctim, journal.st_ctim};
  }

 private:
  std::mt19937 random_{11};
};

using FinishedRunsEachFormat = EachFormat<FinishedRuns>;
INSTANTIATE_TEST_SUITE_P(, FinishedRunsEachFormat, ::testing::Values("jsonl", "csv"));

TEST_P(FinishedRunsEachFormat, AreDoneAgainWithoutWork) {
  for (const bool fails : {false, true}) {
    if (fails) write_text("in/broken.pgm", broken_pgm);
    const int status = fails ? 1 : 0;
    EXPECT_EQ(again(format).status, status);
    const std::string expected = read_text("r"), journal = read_text("r.resume");
    EXPECT_EQ(expected, undisturbed(format));
    const auto written = times();
    for (int i = 0; i < 2; ++i) {
      const Finished done = again(format);
      EXPECT_TRUE(
          ended(done, status,
                fails ? "8 of the inputs were in r already" : "7 of the inputs were in r already"));
      EXPECT_FALSE(has(done.err, "had no journal"));
    }
    EXPECT_EQ(read_text("r"), expected);
    EXPECT_EQ(read_text("r.resume"), journal);
    const auto now = times();
    for (const auto& [before, after] :
         {std::pair(written.first, now.first), {written.second, now.second}})
      EXPECT_TRUE(before.tv_sec == after.tv_sec && before.tv_nsec == after.tv_nsec)
          << "files that need no change are not written";
    remove_results();
    remove({"in/broken.pgm"});
  }
}

// The records of inputs that are new or have changed come after the others.
TEST_P(FinishedRunsEachFormat, TakeUpWhatIsNewOrHasChanged) {
  EXPECT_EQ(again(format).status, 0);
  add_face("in/0a.pgm", 11);
  add_face("in/sub/b.pgm", 12);
  add_face("in/3.pgm", 40);
  EXPECT_TRUE(ended(again(format), 0, "6 of the inputs were in r already"));
  const std::string text = read_text("r"), expected = undisturbed(format);
  EXPECT_EQ(sorted_lines(text), sorted_lines(expected));
  std::string in_order = expected, later;
  for (const char* name : {"0a.pgm", "3.pgm", "sub/b.pgm"}) {
    later += line_with(name, in_order);
    erase(in_order, line_with(name, in_order));
  }
  EXPECT_EQ(text, in_order + later);
  EXPECT_EQ(again(format).status, 0);
  EXPECT_EQ(read_text("r"), text);
  remove_results();
  remove({"in/0a.pgm", "in/sub"});
  add_face("in/3.pgm", 3);
}

// Programs with sanitizers take several times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr int attempts = 4;
#else
constexpr int attempts = 25;
#endif

TEST_P(FinishedRunsEachFormat, AreCompletedByResumeHoweverOftenTheSecondRunIsKilled) {
  for (int i = 0; i < 60; ++i) add_face("in/" + std::to_string(1000 + i) + ".pgm", i);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(again(format).status, 0);
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  int killed = 0;
  for (int round = 1; round <= 3; ++round) {
    for (int i = round; i < 60; i += 3)
      add_face("in/" + std::to_string(1000 + i) + ".pgm", i + 50 * round);
    for (int i = 0; i < 20; ++i) add_face("in/new" + std::to_string(100 * round + i) + ".pgm", i);
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const int status = status_of_killed({"--resume", "--format", format}, whole);
      killed += status == 128 + SIGKILL;
      ASSERT_TRUE(status == 0 || status == 128 + SIGKILL) << status;
    }
    ASSERT_NO_FATAL_FAILURE(expect_completed(format, undisturbed(format)));
  }
  EXPECT_GT(killed, 0);
  // A run that begins anew, and is killed, can be completed, too. One that ends first deletes its
  // journal.
  const std::string expected = undisturbed(format);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    status_of_killed({"--format", format}, whole);
    if (exists("r.resume") || read_text("r").empty()) {
      ASSERT_NO_FATAL_FAILURE(expect_completed(format, expected));
    } else {
      ASSERT_EQ(sorted_lines(read_text("r")), sorted_lines(expected));
    }
  }
  remove_results();
  for (int round = 1; round <= 3; ++round)
    for (int i = 0; i < 20; ++i) remove({"in/new" + std::to_string(100 * round + i) + ".pgm"});
}

// Without --resume, complete results are replaced, and nothing of the earlier run stays.
TEST_P(FinishedRunsEachFormat, AreReplacedByARunThatBeginsAnew) {
  EXPECT_EQ(again(format).status, 0);
  ASSERT_TRUE(exists("r.resume"));
  add_face("in/3.pgm", 40);
  EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 0);
  EXPECT_EQ(read_text("r"), undisturbed(format));
  EXPECT_FALSE(exists("r.resume"));
  // With other options, too.
  EXPECT_EQ(detect({"--resume", "--format", format, "-o", "s", "in"}).status, 0);
  EXPECT_EQ(detect({"--resume", "--format", format, "--raw", "-o", "s", "in"}).status, 2);
  EXPECT_EQ(detect({"--format", format, "--raw", "-o", "s", "in"}).status, 0);
  EXPECT_EQ(read_text("s"), detect({"--format", format, "--raw", "in"}).out);
}

// The journal is prepared in a file of its own before the output is touched.
TEST_F(FinishedRuns, StayIfNoJournalCanBeWritten) {
  EXPECT_EQ(again("csv").status, 0);
  const std::string expected = read_text("r");
  fs::create_directory(folder / "r.resume.new");
  EXPECT_EQ(detect({"--format", "csv", "-o", "r", "in"}).status, 2);
  EXPECT_EQ(read_text("r"), expected);
  EXPECT_EQ(again("csv").status, 0) << "nothing is to be written";
  EXPECT_EQ(read_text("r"), expected);
}

TEST_F(FinishedRuns, InShardsAreDoneAgain) {
  const auto shards = [&] {
    std::string all;
    for (const std::string number : {"0", "1", "2"}) {
      EXPECT_EQ(detect({"--resume", "--format", "csv", "--shard", number + "/3", "-o", "s{shard}",
                        "-r", "in"})
                    .status,
                0);
      all += read_text("s" + number + "-of-3");
    }
    return all;
  };
  const auto expect_all = [&](const std::string& text) {
    std::vector<std::string> lines = sorted_lines(text);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());  // one of three headers
    EXPECT_EQ(lines, sorted_lines(undisturbed("csv")));
  };
  const std::string first = shards();
  expect_all(first);
  EXPECT_EQ(shards(), first);
  for (int i = 0; i < 9; ++i) add_face("in/new" + std::to_string(i) + ".pgm", i);
  add_face("in/2.pgm", 40);
  expect_all(shards());
}

TEST_F(FinishedRuns, ReplaceThePicturesOfWhatHasChanged) {
  const Arguments folders{"--annotate", "boxes", "--crops", "crops"};
  EXPECT_EQ(again("jsonl", folders).status, 0);
  const auto modified = [&](const char* name) { return fs::last_write_time(folder / name); };
  const auto of_2 = modified("boxes/2.pgm.png");
  const std::string of_3 = read_text("boxes/3.pgm.png");
  add_face("in/3.pgm", 40);
  add_face("in/7.pgm", 7);
  write_pgm("in/4.pgm", draw_faces({80, 80}, {}));  // no face: no crop
  EXPECT_EQ(again("jsonl", folders).status, 0);
  EXPECT_EQ(modified("boxes/2.pgm.png"), of_2);
  EXPECT_TRUE(read_text("boxes/3.pgm.png") != of_3);
  const auto boxes = files_below("boxes"), crops = files_below("crops");
  EXPECT_EQ(detect({"--annotate", "b", "--crops", "c", "in"}).status, 0);
  EXPECT_EQ(boxes, files_below("b"));
  EXPECT_EQ(crops, files_below("c"));
}

TEST_F(FinishedRuns, RetryWhatFailed) {
  write_text("in/broken.pgm", broken_pgm);
  EXPECT_EQ(again("jsonl").status, 1);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 1) << "fails again";
  EXPECT_EQ(sorted_lines(read_text("r")), sorted_lines(undisturbed("jsonl")));
  add_face("in/broken.pgm", 3);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 0);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 0);
  EXPECT_EQ(sorted_lines(read_text("r")), sorted_lines(undisturbed("jsonl")));
}

}  // namespace
}  // namespace facesat::test
