// Runs that continue where an earlier run ended: --resume completes the results to those that an
// undisturbed run writes.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <random>
#include <sstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/sixty_pictures.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Resume = SixtyPictures;

TEST_F(Resume, KilledRunsAreCompletedByResume) {
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
    EXPECT_EQ(resume(format).status, 1) << format;  // the broken inputs are still failures
    EXPECT_EQ(read_text(folder / "r"), expected) << format;
  }
}

// The output or its journal is torn at many places, more densely in the first record.
TEST_F(Resume, TornFilesAreCompleted) {
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 1);
    const std::string expected = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    EXPECT_EQ(expected, undisturbed(format));
    for (std::size_t keep = 0; keep < expected.size(); keep += keep < 100 ? 13 : 997) {
      write_text(folder / "r", expected.substr(0, keep));
      write_text(folder / "r.resume", journal);
      resume(format);
      ASSERT_EQ(read_text(folder / "r"), expected) << format << " torn after " << keep << " bytes";
      ASSERT_EQ(read_text(folder / "r.resume"), journal) << format << ", " << keep;
    }
    // The journal is written first: if its last line is torn, the output lacks the record.
    ASSERT_TRUE(journal.ends_with("\ncomplete\n"));
    const std::string entries = journal.substr(0, journal.rfind("complete"));
    const std::size_t last = entries.rfind('\n', entries.size() - 2) + 1;
    const std::size_t end = std::stoul(journal.substr(journal.rfind('\n', last - 2) + 1));
    for (std::size_t keep = last; keep < entries.size(); keep += 7) {
      write_text(folder / "r", expected.substr(0, end));
      write_text(folder / "r.resume", entries.substr(0, keep));
      resume(format);
      ASSERT_EQ(read_text(folder / "r"), expected) << format << ", journal torn after " << keep;
      ASSERT_EQ(read_text(folder / "r.resume"), journal) << format << ", " << keep;
    }
    fs::remove(folder / "r");  // without it a run starts afresh, whatever the journal says
  }
}

TEST_F(Resume, JsonLinesWithoutAJournalAreCompleted) {
  const std::string expected = undisturbed("jsonl");
  for (std::size_t keep = 0; keep < expected.size(); keep += keep < 100 ? 13 : 997) {
    write_text(folder / "r", expected.substr(0, keep));
    fs::remove(folder / "r.resume");
    resume("jsonl");
    ASSERT_EQ(read_text(folder / "r"), expected) << "torn after " << keep << " bytes";
  }
}

TEST_F(Resume, CsvWithoutAJournalIsRefused) {
  const std::string expected = undisturbed("csv");
  write_text(folder / "r", expected);
  const Finished done = resume("csv");
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("no journal (r.resume)"), std::string::npos) << done.err;
  EXPECT_EQ(read_text(folder / "r"), expected);
  EXPECT_FALSE(fs::exists(folder / "r.resume"));
}

TEST_F(Resume, ResumeSkipsExistingRecords) {
  const std::string expected = undisturbed("jsonl");
  write_text(folder / "r", expected);
  for (int i = 0; i < pictures; ++i) write_text(folder / name(i), "broken now");
  resume("jsonl");
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(Resume, NamesThatTwoInputsShareAreReportedWithoutAJournal) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  EXPECT_EQ(detect({"-o", "r", "A"}).status, 0);
  const Finished done = detect({"-o", "r", "--resume", "B", "A"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("1 inputs share their name with another input"), std::string::npos)
      << done.err;
}

// After the retry, the results have the folder's pictures instead of its failure.
TEST_F(Resume, AFolderThatCanBeReadAgainLosesItsFailure) {
  add_face("A/a.pgm", 1);
  for (const std::string missing : {"B", "B/"}) {
    EXPECT_EQ(detect({"-o", "r", "A", missing}).status, 1);
    add_face("B/b.pgm", 2);
    EXPECT_EQ(detect({"-o", "r", "--resume", "A", missing}).status, 1) << "not asked to";
    EXPECT_EQ(detect({"-o", "r", "--resume", "--retry-failed", "A", missing}).status, 0);
    EXPECT_EQ(read_text(folder / "r"), detect({"A", "B"}).out);
    for (const char* name : {"r", "B"}) fs::remove_all(folder / name);
  }
}

// A run that was killed may have taken days: the same command without --resume does not discard its
// results.
TEST_F(Resume, AnUnfinishedRunIsNotRestartedByMistake) {
  for (const std::string format : {"jsonl", "csv"}) {
    const auto again = [&] { return detect({"--format", format, "-o", "r", "in"}); };
    EXPECT_EQ(again().status, 1);
    EXPECT_EQ(again().status, 1) << "finished, with failures";
    const std::string expected = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    for (const std::string& text : {expected, expected.substr(0, expected.size() - 9)}) {
      write_text(folder / "r", text);
      write_text(folder / "r.resume", journal.substr(0, journal.rfind("complete")));
      const Finished done = again();
      EXPECT_EQ(done.status, 2);
      EXPECT_NE(done.err.find("--resume goes on from there"), std::string::npos) << done.err;
      EXPECT_EQ(read_text(folder / "r"), text) << format;
    }
    fs::remove(folder / "r");
    EXPECT_EQ(again().status, 1) << "as the message says";
    EXPECT_EQ(read_text(folder / "r"), expected) << format;
    write_text(folder / "r.resume", "");  // what a power failure may leave
    EXPECT_EQ(again().status, 1);
    EXPECT_EQ(read_text(folder / "r"), expected) << format;
    fs::remove(folder / "r");
  }
}

// Without a journal, the results could not be completed if the run were interrupted.
TEST_F(Resume, ARunWithoutAJournalDoesNotBegin) {
  const std::string output(250, 'r');  // a valid name, but too long with ".resume" appended
  const Finished done = detect({"-o", output, "in"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("no journal can be written next to " + output), std::string::npos)
      << done.err;
  EXPECT_FALSE(fs::exists(folder / output));
}

// A file that ends within its first record may come from a killed run, or from another program.
TEST_F(Resume, ShortFilesOfOthersAreNotTakenForTornOnes) {
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 1);
    const std::string text = read_text(folder / "r");
    const std::size_t second = text.find('\n') + 1;
    for (const std::string& other : {std::string("my notes\n"), text.substr(second, 40) + "\n",
                                     text.substr(0, second) + "my notes\n"}) {
      write_text(folder / "r", other);
      EXPECT_EQ(resume(format).status, 2) << other;
      EXPECT_EQ(read_text(folder / "r"), other);
    }
    fs::remove(folder / "r");
  }
}

// A picture written by facesat records the input that it belongs to.
TEST_F(Resume, PicturesAreReplacedByThoseOfTheSameInput) {
  for (const char* name : {"p/a.pgm", "q/a.pgm"}) add_face(name, 1);
  write_text(folder / "q/bad.pgm", "broken");
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"-o", "r", "--annotate", "boxes", "--crops", "crops"};
    all.insert(all.end(), more.begin(), more.end());
    return detect(all);
  };
  EXPECT_EQ(run({"p", "q"}).status, 1);
  ASSERT_EQ(files_below("boxes"), (std::vector<std::string>{"a.pgm.png", "a.pgm_2.png"}));
  const std::string of_p = read_text(folder / "boxes/a.pgm.png");
  const std::vector<std::string> crops = files_below("crops");
  // In this run, the picture of q/a.pgm gets the name that the picture of p/a.pgm already has.
  add_face("q/a.pgm", 40);
  EXPECT_EQ(run({"--resume", "q"}).status, 1);
  EXPECT_NE(read_text(folder / "r").find("the picture of another input"), std::string::npos);
  EXPECT_EQ(files_below("crops"), crops);
  EXPECT_TRUE(read_text(folder / "boxes/a.pgm.png") == of_p);
  // With the first run's inputs, the names are as in that run: the picture of q/a.pgm is replaced.
  const std::string of_q = read_text(folder / "boxes/a.pgm_2.png");
  add_face("q/bad.pgm", 3);
  EXPECT_EQ(run({"--resume", "--retry-failed", "p", "q"}).status, 0) << read_text(folder / "r");
  EXPECT_TRUE(read_text(folder / "boxes/a.pgm.png") == of_p);
  EXPECT_FALSE(read_text(folder / "boxes/a.pgm_2.png") == of_q);
}

// The names of pictures depend on the order of inputs.
TEST_F(Resume, PicturesOfCompleteInputsAreNotReplaced) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text(folder / "A/broken.pgm", "broken");
  EXPECT_EQ(detect({"-o", "r", "--annotate", "out", "A"}).status, 1);
  const std::string picture = read_text(folder / "out/a.pgm.png");
  const Finished done = detect({"-o", "r", "--resume", "--annotate", "out", "B", "A"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(read_text(folder / "out/a.pgm.png"), picture);
  EXPECT_NE(read_text(folder / "r").find("the picture of another input"), std::string::npos);
  // A picture that a killed run has written before its record exists and is correct.
  fs::remove(folder / "r");
  detect({"-o", "r", "--annotate", "out", "A"});
  const std::string text = read_text(folder / "r");
  write_text(folder / "r", "");
  EXPECT_EQ(detect({"-o", "r", "--resume", "--annotate", "out", "A"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), text);
}

// The first of these runs finds no journal and writes one; the later ones still report that it was
// missing.
TEST_F(Resume, AMissingJournalIsReported) {
  add_face("A/a.pgm", 1);
  EXPECT_EQ(detect({"-o", "r", "A"}).status, 0);
  write_text(folder / "A/broken.pgm", "broken");
  for (int i = 0; i < 3; ++i) {
    const Finished done = run({"detect", "-q", "--resume", "-o", "r", "A"});
    EXPECT_EQ(done.status, 1);
    EXPECT_NE(done.err.find("r had no journal"), std::string::npos) << done.err;
  }
}

TEST_F(Resume, NamesThatAreNotUtf8AreNotDuplicated) {
  for (const char* name : {"latin/\xE8.pgm", "latin/\xE9.pgm", "latin/a\nb\tc\\d.pgm"})
    add_face(name);
  write_text(folder / "latin/broken\xE9.pgm", "broken");
  for (const std::string format : {"jsonl", "csv"}) {
    const auto run = [&] { return detect({"--resume", "--format", format, "-o", "r", "latin"}); };
    EXPECT_EQ(run().status, 1);
    const std::string once = read_text(folder / "r");
    EXPECT_EQ(run().status, 1);
    EXPECT_EQ(read_text(folder / "r"), once) << format;
    if (format == "jsonl") {  // where these names look the same
      fs::remove(folder / "r.resume");
      const Finished done = run();
      EXPECT_EQ(done.status, 2);
      EXPECT_NE(done.err.find("names that are not UTF-8"), std::string::npos) << done.err;
      EXPECT_EQ(read_text(folder / "r"), once);
    }
    fs::remove(folder / "r");
  }
}

TEST_F(Resume, OtherOptionsAreRefused) {
  detect({"-o", "r", "in"});
  const std::string text = read_text(folder / "r");
  write_text(folder / "other.xml",
             read_text(fs::path(FACESAT_CASCADE_DIR) / "haarcascades" / "haarcascade_eye.xml"));
  const std::vector<std::vector<std::string>> others{{"--scale-factor", "1.2"},
                                                     {"--min-neighbors", "4"},
                                                     {"--min-size", "30"},
                                                     {"--max-size", "90"},
                                                     {"--scan", "dense"},
                                                     {"--equalize"},
                                                     {"--raw"},
                                                     {"--cascade", "eye"},
                                                     {"--cascade", "other.xml"},
                                                     {"--annotate", "boxes"},
                                                     {"--crops", "crops"},
                                                     {"--format", "csv"}};
  for (const std::vector<std::string>& options : others) {
    std::vector<std::string> arguments{"--resume", "-o", "r", "in"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished done = detect(arguments);
    EXPECT_EQ(done.status, 2) << options[0];
    EXPECT_NE(done.err.find("r was begun with"), std::string::npos) << done.err;
    EXPECT_EQ(read_text(folder / "r"), text) << options[0];
  }
  // Options that do not affect results may differ, and so may the spelling of paths.
  EXPECT_EQ(detect({"-o", "b", "--annotate", "boxes", "in"}).status, 1);
  EXPECT_EQ(detect({"-o", "b", "--resume", "--annotate", "./boxes/", "in"}).status, 1);
  EXPECT_EQ(detect({"--resume", "-o", "r", "-j", "1", "--max-seconds", "99", "in"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), text);
}

// A cascade file that has changed since the run began counts as a different option.
TEST_F(Resume, AnotherCascadeOfTheSameNameIsRefused) {
  const fs::path cascades = fs::path(FACESAT_CASCADE_DIR) / "haarcascades";
  write_text(folder / "my.xml", read_text(cascades / "haarcascade_eye.xml"));
  detect({"--cascade", "my.xml", "-o", "r", "in"});
  write_text(folder / "my.xml", read_text(cascades / "haarcascade_smile.xml"));
  const Finished done = detect({"--cascade", "my.xml", "--resume", "-o", "r", "in"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("r was begun with --cascade my"), std::string::npos) << done.err;
}

TEST_F(Resume, TheJournalStaysAfterAFailureAndWithResume) {
  add_face("good/a.pgm");
  EXPECT_EQ(detect({"-o", "r", "good"}).status, 0);
  EXPECT_FALSE(fs::exists(folder / "r.resume"));
  EXPECT_EQ(detect({"-o", "r2", "in"}).status, 1);
  EXPECT_TRUE(fs::exists(folder / "r2.resume"));
  EXPECT_EQ(detect({"-o", "r3", "--resume", "good"}).status, 0);
  EXPECT_TRUE(fs::exists(folder / "r3.resume"));
}

// A CSV file has no records of failures.
TEST_F(Resume, EarlierFailuresAreReportedInCsv) {
  resume("csv");
  // Every tenth of the 60 inputs is broken.
  EXPECT_NE(resume("csv").err.find("inputs that failed in an earlier run: 6;"), std::string::npos);
}

TEST_F(Resume, FailedInputsAreRetriedWhenAskedTo) {
  const Image<std::uint8_t> large = draw_faces({160, 160}, {{80, 80, 30}});
  for (int i = 9; i < pictures; i += 10) write_pgm(folder / name(i), large);
  for (const std::string format : {"jsonl", "csv"}) {
    detect({"--max-pixels", "20000", "--format", format, "-o", "r", "in"});
    const std::string before = read_text(folder / "r");
    EXPECT_EQ(resume(format).status, 1);  // without --retry-failed
    EXPECT_EQ(read_text(folder / "r"), before);
    constexpr fs::perms of_owner = fs::perms::owner_read | fs::perms::owner_write;
    fs::permissions(folder / "r", of_owner);
    const Finished done =
        detect({"--resume", "--retry-failed", "--format", format, "-o", "r", "in"});
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(fs::status(folder / "r").permissions(), of_owner);
    EXPECT_TRUE(read_text(folder / "r.resume").ends_with("\ncomplete\n"));
    EXPECT_FALSE(fs::exists(folder / "r.retry1"));
    // The same records, with those of the retried inputs at the end.
    const auto sorted_lines = [](const std::string& text) {
      std::istringstream in(text);
      std::vector<std::string> lines;
      for (std::string line; std::getline(in, line);) lines.push_back(line);
      std::sort(lines.begin(), lines.end());
      return lines;
    };
    EXPECT_EQ(sorted_lines(read_text(folder / "r")), sorted_lines(undisturbed(format))) << format;
    fs::remove(folder / "r");
  }
}

// If a picture cannot be written, its record has an error, but also the faces: it is a result.
TEST_F(Resume, RecordsOfUnwrittenPicturesAreResults) {
  add_face("in2/a.pgm", 1);
  write_text(folder / "boxes/a.pgm.png", "my own");
  EXPECT_EQ(detect({"-o", "r", "--annotate", "boxes", "in2"}).status, 1);
  const std::string text = read_text(folder / "r");
  fs::remove(folder / "r.resume");
  EXPECT_EQ(detect({"-o", "r", "--resume", "--annotate", "boxes", "in2"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), text);
  fs::remove(folder / "boxes/a.pgm.png");
  EXPECT_EQ(detect({"-o", "r", "--resume", "--retry-failed", "--annotate", "boxes", "in2"}).status,
            0);
  EXPECT_EQ(read_text(folder / "r"), detect({"in2"}).out);
}

// A failure is removed only if its input is tried again.
TEST_F(Resume, FailuresThatAreNotRetriedStay) {
  add_face("three/a.pgm", 1);
  write_text(folder / "three/b.pgm", "broken");
  write_text(folder / "three/c.pgm", "broken");
  detect({"-o", "r", "three"});
  const std::string before = read_text(folder / "r");
  EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "three/a.pgm"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), before);
  EXPECT_TRUE(fs::exists(folder / "r.resume"));
  add_face("three/c.pgm", 2);
  EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "three"}).status, 1);
  std::size_t failures = 0;
  const auto records = parse_records(read_text(folder / "r"));
  for (const auto& record : records) failures += record.contains("error");
  EXPECT_EQ(records.size(), 3u);
  EXPECT_EQ(failures, 1u);
  EXPECT_TRUE(fs::exists(folder / "r.resume"));
}

// An output that another program has changed is neither truncated nor written to.
TEST_F(Resume, OutputsThatOthersHaveChangedAreRefused) {
  for (const std::string format : {"jsonl", "csv"}) {
    detect({"--format", format, "-o", "r", "in"});
    const std::string text = read_text(folder / "r");
    const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
    std::string spaced = text;
    spaced.insert(second + 3, " ");
    for (const std::string& changed :
         {text + "my note\n", spaced,
          text.substr(0, second) + text.substr(text.find('\n', second) + 1),
          "x" + text.substr(1)}) {
      write_text(folder / "r", changed);
      const Finished done = resume(format);
      EXPECT_EQ(done.status, 2) << format;
      EXPECT_EQ(read_text(folder / "r"), changed) << format;
    }
    fs::remove(folder / "r");
  }
}

// The user may have files with the names of the journal's temporary files.
TEST_F(Resume, FilesNextToTheOutputAreNotOverwritten) {
  for (const char* name : {"r.resume.new", "r.retry1"}) {
    detect({"-o", "r", "in"});
    write_text(folder / name, "my diary");
    EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "in"}).status, 2) << name;
    EXPECT_EQ(read_text(folder / name), "my diary");
    fs::remove(folder / name);
    write_text(folder / "diary", "my diary");
    fs::create_symlink("diary", folder / name);
    EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "in"}).status, 2) << name;
    EXPECT_EQ(read_text(folder / "diary"), "my diary");
    fs::remove(folder / name);
    fs::create_directory(folder / name);
    detect({"--resume", "--retry-failed", "-o", "r", "in"});
    EXPECT_TRUE(fs::is_directory(folder / name)) << name;
    fs::remove(folder / name);
    fs::remove(folder / "r");
  }
}

// A retry that was killed when the journal already described the new output, but the old one was
// still in place.
TEST_F(Resume, AKilledRetryIsCompleted) {
  add_face("three/a.pgm", 1);
  write_text(folder / "three/b.pgm", "broken");
  add_face("three/c.pgm", 2);
  detect({"-o", "r", "three"});
  const std::string text = read_text(folder / "r"), journal = read_text(folder / "r.resume");
  const std::size_t a = text.find('\n') + 1, b = text.find('\n', a) + 1;
  const std::string kept = text.substr(0, a) + text.substr(b);
  write_text(folder / "r.retry1", kept);
  // The journal's lines: END, CHECKSUM and more.
  std::istringstream lines(journal);
  // The journal as the retry wrote it: without b.pgm, generation 1, new end of c.pgm.
  std::string next;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with("b.pgm")) continue;
    if (line == "generation\t0") line = "generation\t1";
    if (line.ends_with("c.pgm")) line = std::to_string(kept.size()) + line.substr(line.find('\t'));
    next += line + "\n";
  }
  write_text(folder / "r.resume", next);
  add_face("three/b.pgm", 3);
  EXPECT_EQ(detect({"--resume", "-o", "r", "three"}).status, 0);
  const std::string of_b = detect({"three/b.pgm"}).out;
  EXPECT_EQ(read_text(folder / "r"), kept + "{\"image\":\"" + of_b.substr(of_b.find("b.pgm")));
  EXPECT_FALSE(fs::exists(folder / "r.retry1"));
  // A retry that was killed before it wrote the journal has no effect.
  write_text(folder / "r", text);
  write_text(folder / "r.resume", journal);
  write_text(folder / "r.retry1", text.substr(0, 30));
  fs::remove(folder / "three/b.pgm");  // its failure stays
  EXPECT_EQ(detect({"--resume", "-o", "r", "three"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), text);
  EXPECT_FALSE(fs::exists(folder / "r.retry1"));
}

// A run that has finished, and whose command is given again.
class FinishedRuns : public ProgramTest {
 protected:
  FinishedRuns() {
    for (int i = 0; i < 6; ++i) add_face("in/" + std::to_string(i) + ".pgm", i);
    write_pgm(folder / "in/none.pgm", draw_faces({80, 80}, {}));
  }

  Finished again(const std::string& format, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"detect", "--resume", "--format", format, "-o", "r"});
    more.insert(more.end(), {"-r", "in"});
    return run(more);
  }

  std::string undisturbed(const std::string& format) const {
    return detect({"--format", format, "-r", "in"}).out;
  }

  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }

  void remove_results() const {
    for (const char* name : {"r", "r.resume", "boxes", "crops"}) fs::remove_all(folder / name);
  }

  std::pair<timespec, timespec> times() const {
    struct stat results {
    }, journal{};
    ::stat((folder / "r").c_str(), &results);
    ::stat((folder / "r.resume").c_str(), &journal);
    return {results.st_ctim, journal.st_ctim};
  }
};

TEST_F(FinishedRuns, AreDoneAgainWithoutWork) {
  for (const std::string format : {"jsonl", "csv"})
    for (const bool fails : {false, true}) {
      if (fails) write_text(folder / "in/broken.pgm", "broken");
      const int status = fails ? 1 : 0;
      EXPECT_EQ(again(format).status, status);
      const std::string expected = read_text(folder / "r"),
                        journal = read_text(folder / "r.resume");
      EXPECT_EQ(expected, undisturbed(format));
      const auto written = times();
      for (int i = 0; i < 2; ++i) {
        const Finished done = again(format);
        EXPECT_EQ(done.status, status) << done.err;
        EXPECT_NE(done.err.find(fails ? "8 of the inputs were in r already"
                                      : "7 of the inputs were in r already"),
                  std::string::npos)
            << done.err;
        EXPECT_EQ(done.err.find("had no journal"), std::string::npos) << done.err;
      }
      EXPECT_EQ(read_text(folder / "r"), expected);
      EXPECT_EQ(read_text(folder / "r.resume"), journal);
      const auto now = times();
      for (const auto& [before, after] :
           {std::pair(written.first, now.first), {written.second, now.second}})
        EXPECT_TRUE(before.tv_sec == after.tv_sec && before.tv_nsec == after.tv_nsec)
            << "files that need no change are not written";
      remove_results();
      fs::remove(folder / "in/broken.pgm");
    }
}

// The records of inputs that are new or have changed come after the others.
TEST_F(FinishedRuns, TakeUpWhatIsNewOrHasChanged) {
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(again(format).status, 0);
    add_face("in/0a.pgm", 11);
    add_face("in/sub/b.pgm", 12);
    add_face("in/3.pgm", 40);
    const Finished done = again(format);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_NE(done.err.find("6 of the inputs were in r already"), std::string::npos) << done.err;
    const std::string text = read_text(folder / "r"), expected = undisturbed(format);
    EXPECT_EQ(sorted_lines(text), sorted_lines(expected));
    std::string in_order = expected, later;
    for (const char* name : {"0a.pgm", "3.pgm", "sub/b.pgm"}) {
      const std::size_t begin = in_order.rfind('\n', in_order.find(name)) + 1,
                        end = in_order.find('\n', begin) + 1;
      later += in_order.substr(begin, end - begin);
      in_order.erase(begin, end - begin);
    }
    EXPECT_EQ(text, in_order + later);
    EXPECT_EQ(again(format).status, 0);
    EXPECT_EQ(read_text(folder / "r"), text);
    remove_results();
    for (const char* name : {"in/0a.pgm", "in/sub"}) fs::remove_all(folder / name);
    add_face("in/3.pgm", 3);
  }
}

TEST_F(FinishedRuns, AreCompletedByResumeHoweverOftenTheSecondRunIsKilled) {
  for (int i = 0; i < 60; ++i) add_face("in/" + std::to_string(1000 + i) + ".pgm", i);
  std::mt19937 random(11);
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(again(format).status, 0);
    int killed = 0;
    for (int round = 1; round <= 3; ++round) {
      for (int i = round; i < 60; i += 3)
        add_face("in/" + std::to_string(1000 + i) + ".pgm", i + 50 * round);
      for (int i = 0; i < 20; ++i) add_face("in/new" + std::to_string(100 * round + i) + ".pgm", i);
      for (int attempt = 0; attempt < 25; ++attempt) {
        const Running running = start(
            {"detect", "-q", "-j", "2", "--resume", "--format", format, "-o", "r", "-r", "in"});
        std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 40'000));
        running.signal(SIGKILL);
        const int status = running.wait().status;
        killed += status == 128 + SIGKILL;
        ASSERT_TRUE(status == 0 || status == 128 + SIGKILL) << status;
      }
      const Finished done = again(format);
      ASSERT_EQ(done.status, 0) << done.err;
      ASSERT_EQ(sorted_lines(read_text(folder / "r")), sorted_lines(undisturbed(format)));
    }
    EXPECT_GT(killed, 0) << format;
    // A run that begins anew, and is killed, can be completed, too.
    for (int attempt = 0; attempt < 25; ++attempt) {
      const Running running =
          start({"detect", "-q", "-j", "2", "--format", format, "-o", "r", "-r", "in"});
      std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 40'000));
      running.signal(SIGKILL);
      running.wait();
      ASSERT_EQ(again(format).status, 0);
      ASSERT_EQ(sorted_lines(read_text(folder / "r")), sorted_lines(undisturbed(format)));
    }
    remove_results();
    for (int round = 1; round <= 3; ++round)
      for (int i = 0; i < 20; ++i)
        fs::remove(folder / ("in/new" + std::to_string(100 * round + i) + ".pgm"));
  }
}

// Without --resume, complete results are replaced, and nothing of the earlier run stays.
TEST_F(FinishedRuns, AreReplacedByARunThatBeginsAnew) {
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(again(format).status, 0);
    ASSERT_TRUE(fs::exists(folder / "r.resume"));
    add_face("in/3.pgm", 40);
    EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 0);
    EXPECT_EQ(read_text(folder / "r"), undisturbed(format));
    EXPECT_FALSE(fs::exists(folder / "r.resume"));
    // With other options, too.
    EXPECT_EQ(detect({"--resume", "--format", format, "-o", "s", "in"}).status, 0);
    EXPECT_EQ(detect({"--resume", "--format", format, "--raw", "-o", "s", "in"}).status, 2);
    EXPECT_EQ(detect({"--format", format, "--raw", "-o", "s", "in"}).status, 0);
    EXPECT_EQ(read_text(folder / "s"), detect({"--format", format, "--raw", "in"}).out);
    remove_results();
    fs::remove(folder / "s");
  }
}

// The journal is prepared in a file of its own before the output is touched.
TEST_F(FinishedRuns, StayIfNoJournalCanBeWritten) {
  EXPECT_EQ(again("csv").status, 0);
  const std::string expected = read_text(folder / "r");
  fs::create_directory(folder / "r.resume.new");
  EXPECT_EQ(detect({"--format", "csv", "-o", "r", "in"}).status, 2);
  EXPECT_EQ(read_text(folder / "r"), expected);
  EXPECT_EQ(again("csv").status, 0) << "nothing is to be written";
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(FinishedRuns, InShardsAreDoneAgain) {
  const auto shards = [&] {
    std::string all;
    for (const std::string number : {"0", "1", "2"}) {
      EXPECT_EQ(detect({"--resume", "--format", "csv", "--shard", number + "/3", "-o", "s{shard}",
                        "-r", "in"})
                    .status,
                0);
      all += read_text(folder / ("s" + number + "-of-3"));
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
  const std::vector<std::string> folders{"--annotate", "boxes", "--crops", "crops"};
  EXPECT_EQ(again("jsonl", folders).status, 0);
  const auto modified = [&](const char* name) { return fs::last_write_time(folder / name); };
  const auto of_2 = modified("boxes/2.pgm.png");
  const std::string of_3 = read_text(folder / "boxes/3.pgm.png");
  add_face("in/3.pgm", 40);
  add_face("in/7.pgm", 7);
  write_pgm(folder / "in/4.pgm", draw_faces({80, 80}, {}));  // no face: no crop
  EXPECT_EQ(again("jsonl", folders).status, 0);
  EXPECT_EQ(modified("boxes/2.pgm.png"), of_2);
  EXPECT_TRUE(read_text(folder / "boxes/3.pgm.png") != of_3);
  const auto boxes = files_below("boxes"), crops = files_below("crops");
  EXPECT_EQ(detect({"--annotate", "b", "--crops", "c", "in"}).status, 0);
  EXPECT_EQ(boxes, files_below("b"));
  EXPECT_EQ(crops, files_below("c"));
}

TEST_F(FinishedRuns, RetryWhatFailed) {
  write_text(folder / "in/broken.pgm", "broken");
  EXPECT_EQ(again("jsonl").status, 1);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 1) << "fails again";
  EXPECT_EQ(sorted_lines(read_text(folder / "r")), sorted_lines(undisturbed("jsonl")));
  add_face("in/broken.pgm", 3);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 0);
  EXPECT_EQ(again("jsonl", {"--retry-failed"}).status, 0);
  EXPECT_EQ(sorted_lines(read_text(folder / "r")), sorted_lines(undisturbed("jsonl")));
}

TEST_F(Resume, ResumeRefusesFilesThatAreNotItsOwn) {
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
  fs::remove(folder / "r");
  for (const bool resumes : {false, true}) {
    write_text(folder / "r.resume", "my diary\n");
    const Finished done = resumes ? resume("jsonl") : detect({"-o", "r", "in"});
    EXPECT_EQ(done.status, 2);
    EXPECT_NE(done.err.find("r.resume: the journal needs this name"), std::string::npos)
        << done.err;
    EXPECT_EQ(read_text(folder / "r.resume"), "my diary\n");
  }
}

}  // namespace
}  // namespace facesat::test
