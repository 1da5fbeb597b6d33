// Runs that end early, killed at any of their calls that change files included, and outputs that
// others delete, change or share: the results are complete records, which --resume completes.
#include <chrono>
#include <csignal>
#include <regex>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/pictures.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Interruption = SixtyPictures;

// Expects complete records: the beginning of these results.
void expect_beginning(const std::string& text, const std::string& of) {
  EXPECT_EQ(text, of.substr(0, text.size()));
  EXPECT_TRUE(text.ends_with('\n'));
}

// SIGINT is Ctrl+C; a terminal sends SIGHUP when it is closed.
TEST_F(Interruption, SignalsEndTheRunWithWholeRecords) {
  const std::string expected = undisturbed("jsonl");
  for (const int signal : {SIGINT, SIGHUP}) {
    const Running running = start({"detect", "-q", "-o", "r", "in"});
    wait_for("r");
    running.signal(signal);
    const Finished done = running.wait();
    const std::string text = read_text("r");
    expect_beginning(text, expected);
    if (text != expected) {
      EXPECT_EQ(done.status, 128 + signal);
    }
    remove({"r", "r.resume"});
  }
}

TEST_F(Interruption, NohupIsObeyed) {
  const std::string expected = undisturbed("jsonl");
  const Running running =
      start({"detect", "-q", "-o", "r", "in"}, "", [] { std::signal(SIGHUP, SIG_IGN); });
  wait_for("r");
  running.signal(SIGHUP);
  EXPECT_EQ(running.wait().status, 1);
  EXPECT_EQ(read_text("r"), expected);
}

// Seconds of processor time that a process has used.
double processor_seconds(int process) {
  const std::string stat = read_text("/proc/" + std::to_string(process) + "/stat");
  std::istringstream fields(stat.substr(stat.rfind(')') + 1));
  std::string ignored;
  for (int i = 3; i < 14; ++i) fields >> ignored;  // fields 3 to 13; the name was field 2
  long user = 0, system = 0;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// The run is interrupted after a third of the work on a picture, and ends before the rest is done.
// Measured in processor time, which does not depend on other load.
TEST_F(Interruption, CtrlCEndsInTheMiddleOfALargePicture) {
  const Image<std::uint8_t> tile = draw_faces({150, 150}, {{75, 75, 50}});
  write_pgm("large.pgm", formula<std::uint8_t>({3600, 3000}, [&](int x, int y) {
              return tile.row(y % 150)[x % 150];
            }));
  const auto used_by_children = [] {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
  };
  const double begin = used_by_children();
  EXPECT_EQ(detect({"-j", "1", "--max-seconds", "3000", "large.pgm"}).status, 0);
  const double whole = used_by_children() - begin;
  const Running running = start({"detect", "-q", "-j", "1", "--max-seconds", "3000", "large.pgm"});
  while (processor_seconds(running.process()) < whole / 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  running.signal(SIGINT);
  const Finished done = running.wait();
  EXPECT_EQ(done.status, 128 + SIGINT);
  EXPECT_EQ(done.out, "");
  EXPECT_LT(used_by_children() - begin - whole, 0.7 * whole);
}

TEST_F(Interruption, AClosedPipeEndsTheRunSilently) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const Finished done = run({"detect", "-q", "in"}, "", [&] { ::dup2(ends[1], 1); });
  ::close(ends[1]);
  EXPECT_EQ(done.status, 128 + SIGPIPE);
  EXPECT_EQ(done.err, "");
}

TEST_F(Interruption, AFullDiskEndsTheRunWithWholeRecords) {
  const std::string expected = undisturbed("jsonl");
  const Finished done =
      run({"detect", "-o", "r", "in"}, "", with_limit(RLIMIT_FSIZE, 3000));  // bytes per file
  EXPECT_TRUE(ended(done, 3, "--resume goes on from there"));
  // Either the results or their journal, whichever is larger.
  EXPECT_TRUE(std::regex_search(done.err, std::regex("r(\\.resume)?: File too large"))) << done.err;
  const std::string text = read_text("r");
  EXPECT_GT(text.size(), 2000u);
  expect_beginning(text, expected);
  resume("jsonl");
  EXPECT_EQ(read_text("r"), expected);
}

TEST_F(Interruption, PicturesTooLargeForTheMemoryAreRefusedAndTheRestIsProcessed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP()
      << "skipped: the address sanitizer needs the address space that this test takes away";
#endif
  write_pgm("large/a.pgm", draw_faces({10500, 10500}, {}));
  add_face("large/b.pgm");
  // Runs with that many MiB of address space.
  const auto detect_within = [&](std::uint64_t mebibytes, const char* files) {
    return run({"detect", "-q", "-j", "1", files}, "", with_limit(RLIMIT_AS, mebibytes << 20));
  };
  std::uint64_t enough = 200;  // for the program and the small picture
  while (enough < 4000 && detect_within(enough, "large/b.pgm").status != 0) enough += 50;
  const Finished done = detect_within(enough + 50, "large");  // the large picture needs 105 MiB
  EXPECT_EQ(done.status, 1) << done.err;
  const auto records = done.records();
  ASSERT_EQ(records.size(), 2u) << done.err;
  EXPECT_EQ(records[0]["error"]["kind"], "memory");
  EXPECT_TRUE(has(records[0]["error"]["message"], "memory"));
  EXPECT_EQ(records[1]["faces"].size(), 1u);
}

class KilledRuns : public EachFormat<ProgramTest> {
 protected:
  KilledRuns() {
    for (int i = 0; i < 4; ++i) add_face("in/" + std::to_string(i) + ".pgm", i);
    write_text("in/broken.pgm", broken_pgm);
  }

  Finished detect_into_r(Arguments arguments, int killed_at = 0) const {
    arguments.insert(arguments.begin(), {"detect", "-q", "-j", "1", "--format", format});
    arguments.insert(arguments.end(), {"-o", "r", "in"});
    return run(arguments, "", [killed_at] {
      if (killed_at == 0) return;
      preload(FACESAT_KILLED_AT);
      ::setenv("FACESAT_KILLED_AT", std::to_string(killed_at).c_str(), 1);
    });
  }

  // Kills the run with these arguments at each of its calls; before each attempt, the results and
  // their journal are as they are now.
  void expect_completed(const Arguments& arguments) const {
    const std::string results = read_text("r"), journal = read_text("r.resume");
    const auto expected = sorted_lines(detect({"--format", format, "in"}).out);
    int status = 128 + SIGKILL, calls = 0;
    while (true) {
      for (const auto& entry : fs::directory_iterator(folder))
        if (entry.is_regular_file()) fs::remove(entry);
      if (!results.empty()) write_text("r", results);
      if (!journal.empty()) write_text("r.resume", journal);
      status = detect_into_r(arguments, ++calls).status;
      if (status != 128 + SIGKILL) break;
      const Finished done = detect_into_r({"--resume", "--retry-failed"});
      ASSERT_LE(done.status, 1) << "killed at call " << calls << ": " << done.err;
      ASSERT_EQ(sorted_lines(read_text("r")), expected) << "call " << calls;
      ASSERT_TRUE(read_text("r.resume").ends_with("\ncomplete\n"));
      for (const auto& entry : fs::directory_iterator(folder))
        ASSERT_TRUE(entry.is_directory() || entry.path().filename() == "r" ||
                    entry.path().filename() == "r.resume")
            << entry.path() << " is left";
    }
    EXPECT_GT(calls, 5);
    EXPECT_LE(status, 1);
  }
};

INSTANTIATE_TEST_SUITE_P(, KilledRuns, ::testing::Values("jsonl", "csv"));

TEST_P(KilledRuns, AreCompletedFromNothing) {
  for (const Arguments& arguments : {Arguments{}, {"--resume"}}) {
    remove({"r", "r.resume"});
    expect_completed(arguments);
  }
}

TEST_P(KilledRuns, AreCompletedIfTheyCompletedARunThatWasKilled) {
  EXPECT_EQ(detect_into_r({}).status, 1);
  const std::string results = read_text("r"), journal = read_text("r.resume");
  write_text("r", results.substr(0, results.size() - 20));
  write_text("r.resume", journal.substr(0, journal.rfind("complete")));
  expect_completed({"--resume"});
}

TEST_P(KilledRuns, AreCompletedIfTheRunBeforeHadFinished) {
  for (const Arguments& arguments : {Arguments{}, {"--resume"}, {"--resume", "--retry-failed"}}) {
    add_face("in/1.pgm", 1);
    write_text("in/broken.pgm", broken_pgm);
    remove({"in/0a.pgm"});
    remove({"r", "r.resume"});
    EXPECT_EQ(detect_into_r({"--resume"}).status, 1);
    add_face("in/1.pgm", 41);
    add_face("in/0a.pgm", 7);
    add_face("in/broken.pgm", 8);
    expect_completed(arguments);
  }
}

// A run that has written the record of one picture and is waiting for the next line of its list.
class Waiting : public ProgramTest {
 protected:
  Waiting() {
    add_face("a.pgm");
    ::mkfifo((folder / "list").c_str(), 0600);
  }
  Running start_waiting() {
    Running running = start({"detect", "-q", "-j", "1", "-o", "r", "@list"});
    list = ::open((folder / "list").c_str(), O_WRONLY);
    feed("a.pgm\n");
    wait_for("r");
    return running;
  }
  void feed(const std::string& text) const {
    ASSERT_EQ(::write(list, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  int list = -1;  // the end of the pipe that feed() writes to
};

TEST_F(Waiting, AnOutputThatIsDeletedEndsTheRun) {
  const Running running = start_waiting();
  remove({"r"});
  feed("a.pgm\n");
  ::close(list);
  EXPECT_TRUE(ended(running.wait(), 3, "r was deleted"));
}

TEST_F(Waiting, AnOutputThatIsDeletedAtTheEndIsNoticed) {
  const Running running = start_waiting();
  remove({"r"});
  ::close(list);
  EXPECT_EQ(running.wait().status, 3);
}

TEST_F(Waiting, AnOutputThatOthersChangeEndsTheRun) {
  const Running running = start_waiting();
  fs::resize_file(folder / "r", 0);
  feed("a.pgm\n");
  ::close(list);
  EXPECT_TRUE(ended(running.wait(), 3, "r was changed by another program"));
}

TEST_F(Waiting, TwoRunsDoNotShareAnOutput) {
  const Running running = start_waiting();
  EXPECT_TRUE(
      ended(detect({"-o", "r", "a.pgm"}), 2, "another run of facesat writes into this file"));
  EXPECT_EQ(detect({"--resume", "-o", "r", "a.pgm"}).status, 2);
  feed("a.pgm\n");
  ::close(list);
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_EQ(read_records("r").size(), 2u);
}

using Descriptors = ProgramTest;

TEST_F(Descriptors, MessagesDoNotLandInResultsWhenStandardErrorIsClosed) {
  add_face("in/a.pgm");
  for (int i = 0; i < 20; ++i) write_text("in/" + std::to_string(i) + ".jpg", "broken");
  const Finished expected = run({"detect", "-o", "expected", "in"});
  const Finished done = run({"detect", "-o", "r", "in"}, "", [] { ::close(2); });
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(read_text("r"), read_text("expected"));
  EXPECT_EQ(read_records("r").size(), 21u);
  const Finished all =
      run({"detect", "-o", "r", "in"}, "", [] { ::close(0), ::close(1), ::close(2); });
  EXPECT_EQ(all.status, 1);
  EXPECT_EQ(read_text("r"), read_text("expected"));
}

TEST_F(Descriptors, ClosedStandardStreamsAreReported) {
  add_face("a.pgm");
  EXPECT_TRUE(ended(run({"detect", "-q", "a.pgm"}, "", [] { ::close(1); }), 2,
                    "standard output is closed"));
  EXPECT_TRUE(ended(run({"detect", "-q", "-"}, "", [] { ::close(0); }), 2,
                    "standard input: the list cannot be read"));
  EXPECT_EQ(run({"info"}, "", [] { ::close(1); }).status, 3);
}

}  // namespace
}  // namespace facesat::test
