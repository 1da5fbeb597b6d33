// Which inputs --resume takes for those of the earlier run: the same files, under any spelling of
// their paths and wherever they were moved, unless they have changed.
#include <chrono>

#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/sixty_pictures.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Resume = SixtyPictures;

TEST_F(Resume, TwoPicturesOfOneNameHaveTwoRecords) {
  add_face("a/1.pgm", 1);
  write_pgm(folder / "a/2.pgm", draw_faces({80, 80}, {}));  // no line in CSV
  add_face("b/1.pgm", 2);
  add_face("b/2.pgm", 3);
  for (const std::string format : {"jsonl", "csv"}) {
    const std::string expected = detect({"--format", format, "a", "b"}).out;
    write_text(folder / "broken.pgm", "broken");  // so that the journal stays
    detect({"--format", format, "-o", "r", "a", "b", "broken.pgm"});
    const std::string complete = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    for (std::size_t keep = 1; keep < complete.size(); keep += 29) {
      write_text(folder / "r", complete.substr(0, keep));
      write_text(folder / "r.resume", journal);
      add_face("broken.pgm", 4);  // must not be processed again if it is complete
      const Finished done = detect({"--resume", "--format", format, "-o", "r", "a", "b"});
      ASSERT_LE(done.status, 1) << done.err;
      const std::string text = read_text(folder / "r");
      ASSERT_EQ(text.substr(0, expected.size()), expected) << format << ", " << keep;
    }
    fs::remove(folder / "r");
  }
}

TEST_F(Resume, InputsThatHaveChangedAreProcessedAgain) {
  for (const std::string format : {"jsonl", "csv"}) {
    add_face("four/a.pgm", 1);
    add_face("four/b.pgm", 2);
    add_face("four/c.pgm", 3);
    write_text(folder / "four/d.pgm", "broken");
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all{"--format", format, "-o", "r", "--annotate", "boxes", "four"};
      all.insert(all.end(), more.begin(), more.end());
      return detect(all);
    };
    EXPECT_EQ(run({}).status, 1);
    const std::string before = read_text(folder / "r");
    const auto record_of = [&](const std::string& text, const std::string& name) {
      const std::size_t begin = text.rfind('\n', text.find(name)) + 1;
      return text.substr(begin, text.find('\n', begin) + 1 - begin);
    };
    const std::string of_b = record_of(before, "b.pgm");
    add_face("four/b.pgm", 40);
    fs::remove(folder / "four/c.pgm");  // its record stays, because there is no newer one
    EXPECT_EQ(run({"--resume"}).status, 1);
    std::string expected = before;
    expected.erase(expected.find(of_b), of_b.size());
    expected += record_of(detect({"--format", format, "four"}).out, "b.pgm");
    EXPECT_EQ(read_text(folder / "r"), expected);
    EXPECT_NE(expected, before);
    EXPECT_EQ(run({"--resume"}).status, 1);
    EXPECT_EQ(read_text(folder / "r"), expected) << "once is enough";
    add_face("four/d.pgm", 4);  // has changed like the others, although it had failed
    EXPECT_EQ(run({"--resume"}).status, 0);
    const std::string of_d = record_of(expected, "d.pgm");
    if (format == "jsonl") expected.erase(expected.find(of_d), of_d.size());
    expected += record_of(detect({"--format", format, "four"}).out, "d.pgm");
    EXPECT_EQ(read_text(folder / "r"), expected);
    for (const char* file : {"r", "r.resume"}) fs::remove(folder / file);
    for (const char* name : {"boxes", "four"}) fs::remove_all(folder / name);
  }
}

// An input is identified by its path, however the path is spelled.
TEST_F(Resume, PicturesOfTheSameNameInOtherFoldersAreDifferentInputs) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text(folder / "A/broken.pgm", "broken");  // so that the journal stays
  for (const std::string format : {"jsonl", "csv"}) {
    const auto run = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all{"--format", format, "-o", "r"};
      all.insert(all.end(), more.begin(), more.end());
      return detect(all).status;
    };
    EXPECT_EQ(run({"A"}), 1);
    const std::string before = read_text(folder / "r");
    EXPECT_EQ(run({"--resume", "B", "A"}), 1);
    std::string of_b = detect({"--format", format, "B"}).out;
    if (format == "csv") of_b.erase(0, of_b.find('\n') + 1);
    EXPECT_EQ(read_text(folder / "r"), before + of_b);
    EXPECT_EQ(run({"--resume", "./B", (folder / "B/../A").string()}), 1);
    EXPECT_EQ(read_text(folder / "r"), before + of_b);
    fs::remove(folder / "r");
  }
}

TEST_F(Resume, NamesWithoutAFolderBelongToTheCurrentFolder) {
  add_face("A/a.pgm", 1);
  add_face("B/a.pgm", 2);
  write_text(folder / "broken.pgm", "broken");  // so that the journal stays
  const auto run_in = [&](const char* where, const std::string& input) {
    return run({"detect", "-q", "-o", (folder / "r").string(), "--resume", input}, "",
               [&] {
                 if (::chdir((folder / where).c_str()) != 0) ::_exit(99);
               })
        .status;
  };
  EXPECT_EQ(run_in(".", "broken.pgm"), 1);
  const std::string before = read_text(folder / "r");
  EXPECT_EQ(run_in("A", "a.pgm"), 1);
  EXPECT_EQ(run_in("B", "a.pgm"), 1);
  EXPECT_EQ(run_in("B", "../A/a.pgm"), 1);
  EXPECT_EQ(run_in("A", "./a.pgm"), 1);
  EXPECT_EQ(run_in(".", "B/a.pgm"), 1);
  const auto of = [&](const char* input) {
    const std::string record = detect({input}).out;
    return "{\"image\":\"" + record.substr(record.find("a.pgm"));
  };
  EXPECT_EQ(read_text(folder / "r"), before + of("A/a.pgm") + of("B/a.pgm"));
}

// Results may have been moved, and an input may be reached through another link.
TEST_F(Resume, MovedResultsCanBeCompleted) {
  add_face("p/in/a.pgm", 1);
  add_face("moved/in/a.pgm", 2);  // another picture
  write_text(folder / "p/in/broken.pgm", "broken");
  fs::create_directory_symlink("p", folder / "q");
  EXPECT_EQ(detect({"-o", "r", "p/in"}).status, 1);
  const std::string text = read_text(folder / "r");
  for (const char* file : {"r", "r.resume"}) fs::rename(folder / file, folder / "moved" / file);
  for (const std::string input : {"p/in", "q/in", "./q/../p//in"}) {
    EXPECT_EQ(detect({"-o", "moved/r", "--resume", input}).status, 1);
    EXPECT_EQ(read_text(folder / "moved/r"), text) << input;
  }
  EXPECT_EQ(detect({"-o", "moved/r", "--resume", "moved/in"}).status, 1);
  EXPECT_EQ(read_text(folder / "moved/r"), text + detect({"moved/in"}).out);
}

// The inputs are moved with their parent folders, so that their names in the results do not change.
TEST_F(Resume, InputsThatWereMovedAreRecognised) {
  for (const std::string format : {"jsonl", "csv"}) {
    for (const char* name : {"A/a.pgm", "A/sub/a.pgm", "A/sub/b.pgm"}) add_face(name, 1);
    EXPECT_EQ(detect({"--format", format, "-o", "r", "-r", "A", "missing"}).status, 1);
    const std::string text = read_text(folder / "r");
    fs::create_directory(folder / "usb");
    fs::rename(folder / "A", folder / "usb/B");
    for (const char* attempt : {"first", "second"}) {
      EXPECT_EQ(
          detect({"--format", format, "-o", "r", "--resume", "-r", "usb/B", "missing"}).status, 1);
      EXPECT_EQ(read_text(folder / "r"), text) << attempt;
    }
    // From now on they are identified by their new path; a file at the old path is a new input.
    add_face("A/a.pgm", 2);
    const std::string of_new = detect({"--format", format, "A"}).out;
    EXPECT_EQ(detect({"--format", format, "-o", "r", "--resume", "-r", "A", "missing"}).status, 1);
    EXPECT_EQ(read_text(folder / "r"),
              text + of_new.substr(format == "csv" ? of_new.find('\n') + 1 : 0));
    for (const char* name : {"A", "usb", "r", "r.resume"}) fs::remove_all(folder / name);
  }
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
  fs::remove_all(folder / "s1");
  const std::string before = read_text(folder / "r"), of_second = detect({"s2"}).out;
  EXPECT_EQ(detect({"-o", "r", "--resume", "s2", "missing"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), before + of_second);
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
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), 2u);
  EXPECT_NE(read_text(folder / "r").find(detect({"in2"}).out), std::string::npos);
}

}  // namespace
}  // namespace facesat::test
