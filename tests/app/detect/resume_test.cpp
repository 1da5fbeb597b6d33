// Runs that continue where an earlier run ended: --resume completes the results to those that an
// undisturbed run writes.
#include <chrono>
#include <csignal>
#include <random>
#include <sstream>
#include <thread>

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

using Resume = SixtyPictures;
using ResumeEachFormat = EachFormat<SixtyPictures>;
INSTANTIATE_TEST_SUITE_P(, ResumeEachFormat, ::testing::Values("jsonl", "csv"));

TEST_P(ResumeEachFormat, KilledRunsAreCompletedByResume) {
  const std::string expected = undisturbed(format);
  std::mt19937 random(7);
  int killed = 0;
  remove({"r"});
  for (int attempt = 0; attempt < 40 && read_text("r") != expected; ++attempt) {
    const Running running =
        start({"detect", "-q", "--resume", "--format", format, "-o", "r", "in"});
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + random() % 40));
    running.signal(SIGKILL);
    killed += running.wait().status == 128 + SIGKILL;
    const std::string text = read_text("r");
    EXPECT_EQ(text, expected.substr(0, text.size()));
  }
  EXPECT_GT(killed, 0);
  EXPECT_EQ(resume(format).status, 1);  // the broken inputs are still failures
  EXPECT_EQ(read_text("r"), expected);
}

TEST_P(ResumeEachFormat, TornFilesAreCompleted) {
  EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 1);
  const std::string expected = read_text("r"), journal = read_text("r.resume");
  EXPECT_EQ(expected, undisturbed(format));
  ASSERT_NO_FATAL_FAILURE(expect_completed_wherever_torn({"--format", format, "in"}));
  // The journal is written first: if its last line is torn, the output lacks the record.
  ASSERT_TRUE(journal.ends_with("\ncomplete\n"));
  const std::string entries = journal.substr(0, journal.rfind("complete"));
  const std::size_t last = entries.rfind('\n', entries.size() - 2) + 1;
  const std::size_t end = std::stoul(journal.substr(journal.rfind('\n', last - 2) + 1));
  for (std::size_t keep = last; keep < entries.size(); keep += 7) {
    write_text("r", expected.substr(0, end));
    write_text("r.resume", entries.substr(0, keep));
    resume(format);
    ASSERT_EQ(read_text("r"), expected) << "journal torn after " << keep;
    ASSERT_EQ(read_text("r.resume"), journal) << keep;
  }
}

TEST_F(Resume, JsonLinesWithoutAJournalAreCompleted) {
  const std::string expected = undisturbed("jsonl");
  for (std::size_t keep = 0; keep < expected.size(); keep += keep < 100 ? 13 : 997) {
    write_text("r", expected.substr(0, keep));
    remove({"r.resume"});
    resume("jsonl");
    ASSERT_EQ(read_text("r"), expected) << "torn after " << keep << " bytes";
  }
}

TEST_F(Resume, CsvWithoutAJournalIsRefused) {
  const std::string expected = undisturbed("csv");
  write_text("r", expected);
  EXPECT_TRUE(ended(resume("csv"), 2, "no journal (r.resume)"));
  EXPECT_EQ(read_text("r"), expected);
  EXPECT_FALSE(exists("r.resume"));
}

TEST_F(Resume, ResumeSkipsExistingRecords) {
  const std::string expected = undisturbed("jsonl");
  write_text("r", expected);
  for (int i = 0; i < pictures; ++i) write_text(name(i), "broken now");
  resume("jsonl");
  EXPECT_EQ(read_text("r"), expected);
}

TEST_F(Resume, NamesThatTwoInputsShareAreReportedWithoutAJournal) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  EXPECT_EQ(detect({"-o", "r", "A"}).status, 0);
  EXPECT_TRUE(ended(detect({"-o", "r", "--resume", "B", "A"}), 1,
                    "1 inputs share their name with another input"));
}

// After the retry, the results have the folder's pictures instead of its failure.
TEST_F(Resume, AFolderThatCanBeReadAgainLosesItsFailure) {
  add_face("A/a.pgm", 1);
  for (const std::string missing : {"B", "B/"}) {
    EXPECT_EQ(detect({"-o", "r", "A", missing}).status, 1);
    add_face("B/b.pgm", 2);
    EXPECT_EQ(detect({"-o", "r", "--resume", "A", missing}).status, 1) << "not asked to";
    EXPECT_EQ(detect({"-o", "r", "--resume", "--retry-failed", "A", missing}).status, 0);
    EXPECT_EQ(read_text("r"), detect({"A", "B"}).out);
    remove({"r", "B"});
  }
}

// A run that was killed may have taken days: the same command without --resume does not discard its
// results.
TEST_P(ResumeEachFormat, AnUnfinishedRunIsNotRestartedByMistake) {
  const auto again = [&] { return detect({"--format", format, "-o", "r", "in"}); };
  EXPECT_EQ(again().status, 1);
  EXPECT_EQ(again().status, 1) << "finished, with failures";
  const std::string expected = read_text("r"), journal = read_text("r.resume");
  for (const std::string& text : {expected, expected.substr(0, expected.size() - 9)}) {
    write_text("r", text);
    write_text("r.resume", journal.substr(0, journal.rfind("complete")));
    EXPECT_TRUE(ended(again(), 2, "--resume goes on from there"));
    EXPECT_EQ(read_text("r"), text);
  }
  remove({"r"});
  EXPECT_EQ(again().status, 1) << "as the message says";
  EXPECT_EQ(read_text("r"), expected);
  write_text("r.resume", "");  // what a power failure may leave
  EXPECT_EQ(again().status, 1);
  EXPECT_EQ(read_text("r"), expected);
}

// Without a journal, the results could not be completed if the run were interrupted.
TEST_F(Resume, ARunWithoutAJournalDoesNotBegin) {
  const std::string output(250, 'r');  // a valid name, but too long with ".resume" appended
  EXPECT_TRUE(
      ended(detect({"-o", output, "in"}), 2, "no journal can be written next to " + output));
  EXPECT_FALSE(exists(output));
}

// A file that ends within its first record may come from a killed run, or from another program.
TEST_P(ResumeEachFormat, ShortFilesOfOthersAreNotTakenForTornOnes) {
  EXPECT_EQ(detect({"--format", format, "-o", "r", "in"}).status, 1);
  const std::string text = read_text("r");
  const std::size_t second = text.find('\n') + 1;
  for (const std::string& other : {std::string("my notes\n"), text.substr(second, 40) + "\n",
                                   text.substr(0, second) + "my notes\n"}) {
    write_text("r", other);
    EXPECT_EQ(resume(format).status, 2) << other;
    EXPECT_EQ(read_text("r"), other);
  }
}

// A picture written by facesat records the input that it belongs to.
TEST_F(Resume, PicturesAreReplacedByThoseOfTheSameInput) {
  for (const char* name : {"p/a.pgm", "q/a.pgm"}) add_face(name, 1);
  write_text("q/bad.pgm", broken_pgm);
  const auto run = [&](const Arguments& more) {
    return detect(joined({"-o", "r", "--annotate", "boxes", "--crops", "crops"}, more));
  };
  EXPECT_EQ(run({"p", "q"}).status, 1);
  ASSERT_EQ(files_below("boxes"), (Names{"a.pgm.png", "a.pgm_2.png"}));
  const std::string of_p = read_text("boxes/a.pgm.png");
  const std::vector<std::string> crops = files_below("crops");
  // In this run, the picture of q/a.pgm gets the name that the picture of p/a.pgm already has.
  add_face("q/a.pgm", 40);
  EXPECT_EQ(run({"--resume", "q"}).status, 1);
  EXPECT_TRUE(has(read_text("r"), "the picture of another input"));
  EXPECT_EQ(files_below("crops"), crops);
  EXPECT_TRUE(read_text("boxes/a.pgm.png") == of_p);
  // With the first run's inputs, the names are as in that run: the picture of q/a.pgm is replaced.
  const std::string of_q = read_text("boxes/a.pgm_2.png");
  add_face("q/bad.pgm", 3);
  EXPECT_EQ(run({"--resume", "--retry-failed", "p", "q"}).status, 0) << read_text("r");
  EXPECT_TRUE(read_text("boxes/a.pgm.png") == of_p);
  EXPECT_FALSE(read_text("boxes/a.pgm_2.png") == of_q);
}

// The names of pictures depend on the order of inputs.
TEST_F(Resume, PicturesOfCompleteInputsAreNotReplaced) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text("A/broken.pgm", broken_pgm);
  EXPECT_EQ(detect({"-o", "r", "--annotate", "out", "A"}).status, 1);
  const std::string picture = read_text("out/a.pgm.png");
  EXPECT_EQ(detect({"-o", "r", "--resume", "--annotate", "out", "B", "A"}).status, 1);
  EXPECT_EQ(read_text("out/a.pgm.png"), picture);
  EXPECT_TRUE(has(read_text("r"), "the picture of another input"));
  // A picture that a killed run has written before its record exists and is correct.
  remove({"r"});
  detect({"-o", "r", "--annotate", "out", "A"});
  const std::string text = read_text("r");
  write_text("r", "");
  EXPECT_EQ(detect({"-o", "r", "--resume", "--annotate", "out", "A"}).status, 1);
  EXPECT_EQ(read_text("r"), text);
}

// The first of these runs finds no journal and writes one; the later ones still report that it was
// missing.
TEST_F(Resume, AMissingJournalIsReported) {
  add_face("A/a.pgm", 1);
  EXPECT_EQ(detect({"-o", "r", "A"}).status, 0);
  write_text("A/broken.pgm", broken_pgm);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(ended(detect({"--resume", "-o", "r", "A"}), 1, "r had no journal"));
}

TEST_P(ResumeEachFormat, NamesThatAreNotUtf8AreNotDuplicated) {
  for (const char* name : {"latin/\xE8.pgm", "latin/\xE9.pgm", "latin/a\nb\tc\\d.pgm"})
    add_face(name);
  write_text("latin/broken\xE9.pgm", broken_pgm);
  const auto run = [&] { return detect({"--resume", "--format", format, "-o", "r", "latin"}); };
  EXPECT_EQ(run().status, 1);
  const std::string once = read_text("r");
  EXPECT_EQ(run().status, 1);
  EXPECT_EQ(read_text("r"), once);
  if (format == "jsonl") {  // where these names look the same
    remove({"r.resume"});
    EXPECT_TRUE(ended(run(), 2, "names that are not UTF-8"));
    EXPECT_EQ(read_text("r"), once);
  }
}

TEST_F(Resume, OtherOptionsAreRefused) {
  detect({"-o", "r", "in"});
  const std::string text = read_text("r");
  add_cascade("other.xml", "eye");
  const std::vector<Arguments> others{{"--scale-factor", "1.2"}, {"--min-neighbors", "4"},
                                      {"--min-size", "30"},      {"--max-size", "90"},
                                      {"--scan", "dense"},       {"--equalize"},
                                      {"--min-score", "2"},      {"--raw"},
                                      {"--cascade", "eye"},      {"--cascade", "other.xml"},
                                      {"--annotate", "boxes"},   {"--crops", "crops"},
                                      {"--format", "csv"}};
  for (const Arguments& options : others) {
    EXPECT_TRUE(
        ended(detect(joined({"--resume", "-o", "r", "in"}, options)), 2, "r was begun with"));
    EXPECT_EQ(read_text("r"), text) << options[0];
  }
  // Options that do not affect results may differ, and so may the spelling of paths.
  EXPECT_EQ(detect({"-o", "b", "--annotate", "boxes", "in"}).status, 1);
  EXPECT_EQ(detect({"-o", "b", "--resume", "--annotate", "./boxes/", "in"}).status, 1);
  EXPECT_EQ(detect({"--resume", "-o", "r", "-j", "1", "--max-seconds", "99", "in"}).status, 1);
  EXPECT_EQ(read_text("r"), text);
}

// A cascade file that has changed since the run began counts as a different option.
TEST_F(Resume, AnotherCascadeOfTheSameNameIsRefused) {
  add_cascade("my.xml", "eye");
  detect({"--cascade", "my.xml", "-o", "r", "in"});
  add_cascade("my.xml", "smile");
  EXPECT_TRUE(ended(detect({"--cascade", "my.xml", "--resume", "-o", "r", "in"}), 2,
                    "r was begun with --cascade my"));
}

TEST_F(Resume, TheJournalStaysAfterAFailureAndWithResume) {
  add_face("good/a.pgm");
  EXPECT_EQ(detect({"-o", "r", "good"}).status, 0);
  EXPECT_FALSE(exists("r.resume"));
  EXPECT_EQ(detect({"-o", "r2", "in"}).status, 1);
  EXPECT_TRUE(exists("r2.resume"));
  EXPECT_EQ(detect({"-o", "r3", "--resume", "good"}).status, 0);
  EXPECT_TRUE(exists("r3.resume"));
}

// A CSV file has no records of failures.
TEST_F(Resume, EarlierFailuresAreReportedInCsv) {
  resume("csv");
  // Every tenth of the 60 inputs is broken.
  EXPECT_TRUE(has(resume("csv").err, "inputs that failed in an earlier run: 6;"));
}

TEST_P(ResumeEachFormat, FailedInputsAreRetriedWhenAskedTo) {
  const Image<std::uint8_t> large = draw_faces({160, 160}, {{80, 80, 30}});
  for (int i = 9; i < pictures; i += 10) write_pgm(name(i), large);
  detect({"--max-pixels", "20000", "--format", format, "-o", "r", "in"});
  const std::string before = read_text("r");
  EXPECT_EQ(resume(format).status, 1);  // without --retry-failed
  EXPECT_EQ(read_text("r"), before);
  constexpr fs::perms of_owner = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(folder / "r", of_owner);
  EXPECT_EQ(detect({"--resume", "--retry-failed", "--format", format, "-o", "r", "in"}).status, 0);
  EXPECT_EQ(fs::status(folder / "r").permissions(), of_owner);
  EXPECT_TRUE(read_text("r.resume").ends_with("\ncomplete\n"));
  EXPECT_FALSE(exists("r.retry1"));
  // The same records, with those of the retried inputs at the end.
  EXPECT_EQ(sorted_lines(read_text("r")), sorted_lines(undisturbed(format)));
}

// If a picture cannot be written, its record has an error, but also the faces: it is a result.
TEST_F(Resume, RecordsOfUnwrittenPicturesAreResults) {
  add_face("in2/a.pgm", 1);
  write_text("boxes/a.pgm.png", "my own");
  EXPECT_EQ(detect({"-o", "r", "--annotate", "boxes", "in2"}).status, 1);
  const std::string text = read_text("r");
  remove({"r.resume"});
  EXPECT_EQ(detect({"-o", "r", "--resume", "--annotate", "boxes", "in2"}).status, 1);
  EXPECT_EQ(read_text("r"), text);
  remove({"boxes/a.pgm.png"});
  EXPECT_EQ(detect({"-o", "r", "--resume", "--retry-failed", "--annotate", "boxes", "in2"}).status,
            0);
  EXPECT_EQ(read_text("r"), detect({"in2"}).out);
}

// A failure is removed only if its input is tried again.
TEST_F(Resume, FailuresThatAreNotRetriedStay) {
  add_face("three/a.pgm", 1);
  write_text("three/b.pgm", broken_pgm);
  write_text("three/c.pgm", broken_pgm);
  detect({"-o", "r", "three"});
  const std::string before = read_text("r");
  EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "three/a.pgm"}).status, 1);
  EXPECT_EQ(read_text("r"), before);
  EXPECT_TRUE(exists("r.resume"));
  add_face("three/c.pgm", 2);
  EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "three"}).status, 1);
  std::size_t failures = 0;
  const auto records = read_records("r");
  for (const auto& record : records) failures += record.contains("error");
  EXPECT_EQ(records.size(), 3u);
  EXPECT_EQ(failures, 1u);
  EXPECT_TRUE(exists("r.resume"));
}

// An output that another program has changed is neither truncated nor written to.
TEST_P(ResumeEachFormat, OutputsThatOthersHaveChangedAreRefused) {
  detect({"--format", format, "-o", "r", "in"});
  const std::string text = read_text("r");
  const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
  std::string spaced = text;
  spaced.insert(second + 3, " ");
  for (const std::string& changed :
       {text + "my note\n", spaced,
        text.substr(0, second) + text.substr(text.find('\n', second) + 1), "x" + text.substr(1)}) {
    write_text("r", changed);
    EXPECT_EQ(resume(format).status, 2);
    EXPECT_EQ(read_text("r"), changed);
  }
}

// The user may have files with the names of the journal's temporary files.
TEST_F(Resume, FilesNextToTheOutputAreNotOverwritten) {
  for (const char* name : {"r.resume.new", "r.retry1"}) {
    detect({"-o", "r", "in"});
    write_text(name, "my diary");
    EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "in"}).status, 2) << name;
    EXPECT_EQ(read_text(name), "my diary");
    remove({name});
    write_text("diary", "my diary");
    fs::create_symlink("diary", folder / name);
    EXPECT_EQ(detect({"--resume", "--retry-failed", "-o", "r", "in"}).status, 2) << name;
    EXPECT_EQ(read_text("diary"), "my diary");
    remove({name});
    fs::create_directory(folder / name);
    detect({"--resume", "--retry-failed", "-o", "r", "in"});
    EXPECT_TRUE(fs::is_directory(folder / name)) << name;
    remove({name, "r"});
  }
}

// A retry that was killed when the journal already described the new output, but the old one was
// still in place.
TEST_F(Resume, AKilledRetryIsCompleted) {
  add_face("three/a.pgm", 1);
  write_text("three/b.pgm", broken_pgm);
  add_face("three/c.pgm", 2);
  detect({"-o", "r", "three"});
  const std::string text = read_text("r"), journal = read_text("r.resume");
  const std::size_t a = text.find('\n') + 1, b = text.find('\n', a) + 1;
  const std::string kept = text.substr(0, a) + text.substr(b);
  write_text("r.retry1", kept);
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
  write_text("r.resume", next);
  add_face("three/b.pgm", 3);
  EXPECT_EQ(detect({"--resume", "-o", "r", "three"}).status, 0);
  const std::string of_b = detect({"three/b.pgm"}).out;
  EXPECT_EQ(read_text("r"), kept + "{\"image\":\"" + of_b.substr(of_b.find("b.pgm")));
  EXPECT_FALSE(exists("r.retry1"));
  // A retry that was killed before it wrote the journal has no effect.
  write_text("r", text);
  write_text("r.resume", journal);
  write_text("r.retry1", text.substr(0, 30));
  remove({"three/b.pgm"});  // its failure stays
  EXPECT_EQ(detect({"--resume", "-o", "r", "three"}).status, 1);
  EXPECT_EQ(read_text("r"), text);
  EXPECT_FALSE(exists("r.retry1"));
}

TEST_F(Resume, ResumeRefusesFilesThatAreNotItsOwn) {
  for (const std::string text : {"my diary\n", "{\"image\":3}\n", "[]\n", "{\"image\":\"a\"}\n"}) {
    write_text("r", text);
    EXPECT_TRUE(ended(resume("jsonl"), 2, "r, line 1")) << text;
    EXPECT_EQ(read_text("r"), text);  // untouched
  }
  for (const std::string text :
       {"my diary\n", "image,x\n", "image,x,y,w,h,neighbors,score\nnothing\n"}) {
    write_text("r", text);
    EXPECT_EQ(resume("csv").status, 2) << text;
    EXPECT_EQ(read_text("r"), text);
  }
  remove({"r"});
  for (const bool resumes : {false, true}) {
    write_text("r.resume", "my diary\n");
    EXPECT_TRUE(ended(resumes ? resume("jsonl") : detect({"-o", "r", "in"}), 2,
                      "r.resume: the journal needs this name"));
    EXPECT_EQ(read_text("r.resume"), "my diary\n");
  }
}

}  // namespace
}  // namespace facesat::test
