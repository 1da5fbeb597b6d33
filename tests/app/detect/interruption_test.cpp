// Runs that end early: whatever happens, the results are complete records from the first on.
#include <chrono>
#include <csignal>
#include <regex>
#include <sstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "tests/kit/sixty_pictures.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Interruption = SixtyPictures;

// SIGINT is Ctrl+C; a terminal sends SIGHUP when it is closed.
TEST_F(Interruption, SignalsEndTheRunWithWholeRecords) {
  const std::string expected = undisturbed("jsonl");
  for (const int signal : {SIGINT, SIGHUP}) {
    const Running running = start({"detect", "-q", "-o", "r", "in"});
    while (read_text(folder / "r").empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    running.signal(signal);
    const Finished done = running.wait();
    const std::string text = read_text(folder / "r");
    EXPECT_EQ(text, expected.substr(0, text.size()));
    EXPECT_TRUE(text.ends_with('\n'));
    if (text != expected) {
      EXPECT_EQ(done.status, 128 + signal);
    }
    fs::remove(folder / "r");
    fs::remove(folder / "r.resume");
  }
}

TEST_F(Interruption, NohupIsObeyed) {
  const std::string expected = undisturbed("jsonl");
  const Running running =
      start({"detect", "-q", "-o", "r", "in"}, "", [] { std::signal(SIGHUP, SIG_IGN); });
  while (read_text(folder / "r").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  running.signal(SIGHUP);
  EXPECT_EQ(running.wait().status, 1);
  EXPECT_EQ(read_text(folder / "r"), expected);
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
  Image<std::uint8_t> large({3600, 3000});
  for (int y = 0; y < large.size().height; ++y)
    for (int x = 0; x < large.size().width; ++x) large.row(y)[x] = tile.row(y % 150)[x % 150];
  write_pgm(folder / "large.pgm", large);
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
  const Finished done = run({"detect", "-o", "r", "in"}, "", [] {
    const rlimit limit{3000, 3000};  // bytes per file
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(done.status, 3);
  // Either the results or their journal, whichever is larger.
  EXPECT_TRUE(std::regex_search(done.err, std::regex("r(\\.resume)?: File too large"))) << done.err;
  EXPECT_NE(done.err.find("--resume goes on from there"), std::string::npos) << done.err;
  const std::string text = read_text(folder / "r");
  EXPECT_GT(text.size(), 2000u);
  EXPECT_EQ(text, expected.substr(0, text.size()));
  EXPECT_TRUE(text.ends_with('\n'));
  resume("jsonl");
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(Interruption, PicturesTooLargeForTheMemoryAreRefusedAndTheRestIsProcessed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP()
      << "skipped: the address sanitizer needs the address space that this test takes away";
#endif
  write_pgm(folder / "large/a.pgm", draw_faces({10500, 10500}, {}));
  add_face("large/b.pgm");
  // Runs with that many MiB of address space.
  const auto detect_within = [&](std::uint64_t mebibytes, const char* files) {
    return run({"detect", "-q", "-j", "1", files}, "", [mebibytes] {
      const rlimit limit{mebibytes << 20, mebibytes << 20};
      ::setrlimit(RLIMIT_AS, &limit);
    });
  };
  std::uint64_t enough = 200;  // for the program and the small picture
  while (enough < 4000 && detect_within(enough, "large/b.pgm").status != 0) enough += 50;
  const Finished done = detect_within(enough + 50, "large");  // the large picture needs 105 MiB
  EXPECT_EQ(done.status, 1) << done.err;
  const auto records = done.records();
  ASSERT_EQ(records.size(), 2u) << done.err;
  EXPECT_EQ(records[0]["error"]["kind"], "memory");
  EXPECT_NE(records[0]["error"]["message"].get<std::string>().find("memory"), std::string::npos);
  EXPECT_EQ(records[1]["faces"].size(), 1u);
}

}  // namespace
}  // namespace facesat::test
