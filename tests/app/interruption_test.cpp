// Runs that end early, and runs that go on where another one ended: whatever happens, the results
// are whole records from the first on, and --resume completes them to what an undisturbed run
// writes.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "tests/app/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

class Interruption : public ProgramTest {
 protected:
  Interruption() {
    for (int i = 0; i < pictures; ++i)
      if (i % 10 == 9)
        write_text(folder / name(i), "broken");
      else if (i % 10 == 4)
        write_pgm(folder / name(i), draw_faces({80, 80}, {}));  // no face: no line in CSV
      else
        add_face(name(i), i);
  }

  static constexpr int pictures = 60;
  static std::string name(int i) { return "in/" + std::to_string(1000 + i) + ".pgm"; }

  std::string undisturbed(const std::string& format) const {
    return detect({"--format", format, "in"}).out;
  }

  Finished resume(const std::string& format) const {
    return run({"detect", "-q", "--resume", "--format", format, "-o", "r", "in"});
  }
};

TEST_F(Interruption, KilledRunsAreCompletedByResume) {
  for (const std::string format : {"jsonl", "csv"}) {
    const std::string expected = undisturbed(format);
    std::mt19937 random(7);
    int killed = 0;
    fs::remove(folder / "r");
    for (int attempt = 0; attempt < 40 && read_text(folder / "r") != expected; ++attempt) {
      const Running running =
          start({"detect", "-q", "--resume", "--format", format, "-o", "r", "in"});
      std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 40));
      running.signal(SIGKILL);
      killed += running.wait().status == 128 + SIGKILL;
      const std::string text = read_text(folder / "r");
      EXPECT_EQ(text, expected.substr(0, text.size())) << format;
    }
    EXPECT_GT(killed, 0) << format;
    EXPECT_EQ(resume(format).status, 1) << format;  // the broken ones are still failures
    EXPECT_EQ(read_text(folder / "r"), expected) << format;
  }
}

// Every place at which a file can be torn.
TEST_F(Interruption, TornFilesAreCompleted) {
  for (const std::string format : {"jsonl", "csv"}) {
    const std::string expected = undisturbed(format);
    for (std::size_t keep = 0; keep < expected.size(); keep += keep < 200 ? 13 : 997) {
      write_text(folder / "r", expected.substr(0, keep));
      resume(format);
      ASSERT_EQ(read_text(folder / "r"), expected) << format << " torn after " << keep << " bytes";
    }
  }
}

TEST_F(Interruption, ResumeSkipsWhatIsThere) {
  const std::string expected = undisturbed("jsonl");
  write_text(folder / "r", expected);
  for (int i = 0; i < pictures; ++i) write_text(folder / name(i), "broken now");
  resume("jsonl");
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(Interruption, TwoPicturesOfOneNameAreTwoRecords) {
  add_face("a/1.pgm", 1);
  add_face("b/1.pgm", 2);
  const std::string expected = detect({"a", "b"}).out;
  write_text(folder / "r", expected.substr(0, expected.find('\n') + 1));
  EXPECT_EQ(run({"detect", "-q", "--resume", "-o", "r", "a", "b"}).status, 0);
  EXPECT_EQ(read_text(folder / "r"), expected);
  add_face("b/2.pgm", 3);
  write_text(folder / "r", detect({"--format", "csv", "a", "b"}).out);
  const Finished csv = run({"detect", "-q", "--resume", "--format", "csv", "-o", "r", "a", "b"});
  EXPECT_EQ(csv.status, 1);
  EXPECT_NE(csv.err.find("use --format jsonl"), std::string::npos) << csv.err;
}

TEST_F(Interruption, ResumeRefusesFilesThatAreNotItsOwn) {
  for (const std::string text : {"my diary\n", "{\"image\":3}\n", "[]\n", "{\"image\":\"a\"}\n"}) {
    write_text(folder / "r", text);
    const Finished done = resume("jsonl");
    EXPECT_EQ(done.status, 2) << text;
    EXPECT_NE(done.err.find("r, line 1"), std::string::npos) << done.err;
    EXPECT_EQ(read_text(folder / "r"), text);  // untouched
  }
  for (const std::string text :
       {"my diary\n", "image,x\n", "image,x,y,w,h,neighbors,score\nnothing\n"}) {
    write_text(folder / "r", text);
    EXPECT_EQ(resume("csv").status, 2) << text;
    EXPECT_EQ(read_text(folder / "r"), text);
  }
}

TEST_F(Interruption, CtrlCEndsWithWholeRecords) {
  const std::string expected = undisturbed("jsonl");
  const Running running = start({"detect", "-q", "-o", "r", "in"});
  while (read_text(folder / "r").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  running.signal(SIGINT);
  const Finished done = running.wait();
  const std::string text = read_text(folder / "r");
  EXPECT_EQ(text, expected.substr(0, text.size()));
  EXPECT_TRUE(text.ends_with('\n'));
  if (text != expected) {
    EXPECT_EQ(done.status, 128 + SIGINT);
  }
}

TEST_F(Interruption, AClosedPipeEndsTheRunWithoutAWord) {
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
  const Finished done = run({"detect", "-q", "-o", "r", "in"}, "", [] {
    const rlimit limit{3000, 3000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("facesat: r: "), std::string::npos) << done.err;
  const std::string text = read_text(folder / "r");
  EXPECT_GT(text.size(), 2000u);
  EXPECT_EQ(text, expected.substr(0, text.size()));
  EXPECT_TRUE(text.ends_with('\n'));
  resume("jsonl");
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(Interruption, PicturesThatCannotBeWrittenEndTheRun) {
  write_text(folder / "file", "");
  EXPECT_EQ(detect({"--annotate", "file/boxes", "in"}).status, 1);
}

TEST_F(Interruption, PicturesTooLargeForTheMemoryAreRefusedAndTheRestIsProcessed) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP()
      << "skipped: the address sanitizer needs the address space that this test takes away";
#endif
  write_pgm(folder / "large/a.pgm", draw_faces({10500, 10500}, {}));
  add_face("large/b.pgm");
  // With address space for that many MiB.
  const auto detect_within = [&](std::uint64_t mebibytes, const char* files) {
    return run({"detect", "-q", "-j", "1", files}, "", [mebibytes] {
      const rlimit limit{mebibytes << 20, mebibytes << 20};
      ::setrlimit(RLIMIT_AS, &limit);
    });
  };
  std::uint64_t enough = 200;  // for the program and the small picture
  while (enough < 4000 && detect_within(enough, "large/b.pgm").status != 0) enough += 50;
  const Finished done = detect_within(enough + 50, "large");  // the large one has 105 MiB
  EXPECT_EQ(done.status, 1) << done.err;
  const auto records = done.records();
  ASSERT_EQ(records.size(), 2u) << done.err;
  EXPECT_EQ(records[0]["error"]["kind"], "memory");
  EXPECT_NE(records[0]["error"]["message"].get<std::string>().find("memory"), std::string::npos);
  EXPECT_EQ(records[1]["faces"].size(), 1u);
}

}  // namespace
}  // namespace facesat::test
