// Runs that are killed at each of their calls that change files, one after the other: --resume then
// completes the results, whatever they were before.
#include <algorithm>
#include <csignal>
#include <sstream>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

class KilledRuns : public ProgramTest {
 protected:
  using Arguments = std::vector<std::string>;

  KilledRuns() {
    for (int i = 0; i < 4; ++i) add_face("in/" + std::to_string(i) + ".pgm", i);
    write_text(folder / "in/broken.pgm", "broken");
  }

  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  Finished detect_into_r(const std::string& format, Arguments arguments, int killed_at = 0) const {
    arguments.insert(arguments.begin(), {"detect", "-q", "-j", "1", "--format", format});
    arguments.insert(arguments.end(), {"-o", "r", "in"});
    return run(arguments, "", [killed_at] {
      if (killed_at == 0) return;
      ::setenv("LD_PRELOAD", FACESAT_KILLED_AT, 1);
      ::setenv("FACESAT_KILLED_AT", std::to_string(killed_at).c_str(), 1);
      ::setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", 1);
    });
  }

  // Kills the run with these arguments at each of its calls; before each attempt, the results and
  // their journal are as they are now.
  void expect_completed(const std::string& format, const Arguments& arguments) const {
    const std::string results = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    const auto expected = sorted_lines(detect({"--format", format, "in"}).out);
    int status = 128 + SIGKILL, calls = 0;
    while (true) {
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file()) fs::remove(entry);
      if (!results.empty()) write_text(folder / "r", results);
      if (!journal.empty()) write_text(folder / "r.resume", journal);
      status = detect_into_r(format, arguments, ++calls).status;
      if (status != 128 + SIGKILL) break;
      const Finished done = detect_into_r(format, {"--resume", "--retry-failed"});
      ASSERT_LE(done.status, 1) << format << ", killed at call " << calls << ": " << done.err;
      ASSERT_EQ(sorted_lines(read_text(folder / "r")), expected) << format << ", call " << calls;
      ASSERT_TRUE(read_text(folder / "r.resume").ends_with("\ncomplete\n"));
      for (const auto& entry : fs::directory_iterator(folder))
        ASSERT_TRUE(entry.is_directory() || entry.path().filename() == "r" ||
                    entry.path().filename() == "r.resume")
            << entry.path() << " is left";
    }
    EXPECT_GT(calls, 5);
    EXPECT_LE(status, 1);
  }
};

TEST_F(KilledRuns, AreCompletedFromNothing) {
  for (const std::string format : {"jsonl", "csv"})
    for (const Arguments& arguments : {Arguments{}, {"--resume"}}) {
      for (const char* name : {"r", "r.resume"}) fs::remove(folder / name);
      expect_completed(format, arguments);
    }
}

TEST_F(KilledRuns, AreCompletedIfTheyCompletedARunThatWasKilled) {
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(detect_into_r(format, {}).status, 1);
    const std::string results = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    write_text(folder / "r", results.substr(0, results.size() - 20));
    write_text(folder / "r.resume", journal.substr(0, journal.rfind("complete")));
    expect_completed(format, {"--resume"});
    for (const char* name : {"r", "r.resume"}) fs::remove(folder / name);
  }
}

TEST_F(KilledRuns, AreCompletedIfTheRunBeforeHadFinished) {
  for (const std::string format : {"jsonl", "csv"})
    for (const Arguments& arguments : {Arguments{}, {"--resume"}, {"--resume", "--retry-failed"}}) {
      add_face("in/1.pgm", 1);
      write_text(folder / "in/broken.pgm", "broken");
      fs::remove(folder / "in/0a.pgm");
      for (const char* name : {"r", "r.resume"}) fs::remove(folder / name);
      EXPECT_EQ(detect_into_r(format, {"--resume"}).status, 1);
      add_face("in/1.pgm", 41);
      add_face("in/0a.pgm", 7);
      add_face("in/broken.pgm", 8);
      expect_completed(format, arguments);
    }
}

}  // namespace
}  // namespace facesat::test
