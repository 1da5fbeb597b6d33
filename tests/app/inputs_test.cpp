// Where pictures come from: files, folders, lists, standard input; and names of every kind.
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/app/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

class Inputs : public ProgramTest {
 protected:
  static std::vector<std::string> names(const Finished& done) {
    std::vector<std::string> result;
    for (const auto& record : done.records()) result.push_back(record["image"]);
    return result;
  }

  // Runs `detect -r in` while the folder in/locked has the permissions `locked`. Root may read
  // everything, so instead of root the user 65534 (nobody) runs it.
  Finished detect_with(fs::perms locked) const {
    fs::permissions(folder.parent_path(), fs::perms::all);
    fs::permissions(folder / "in/locked", locked);
    const Finished done = run({"detect", "-q", "-r", "in"}, "", [] {
      if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(125);
    });
    fs::permissions(folder / "in/locked", fs::perms::all);
    return done;
  }
};
// The reason to skip a test if a run of detect_with() ended with 127.
constexpr const char* no_other_user = "skipped: another user cannot start the program where it is";
using Names = std::vector<std::string>;

TEST_F(Inputs, FolderGivesItsPicturesInNameOrderAndNothingElse) {
  for (const char* name : {"in/b.pgm", "in/a.PGM", "in/B.pgm", "in/.hidden.pgm", "in/sub/c.pgm"})
    add_face(name);
  write_text(folder / "in/notes.txt", "no picture");
  EXPECT_EQ(names(detect({"in"})), (Names{"B.pgm", "a.PGM", "b.pgm"}));
  EXPECT_EQ(names(detect({"-r", "in"})), (Names{"B.pgm", "a.PGM", "b.pgm", "sub/c.pgm"}));
  EXPECT_EQ(names(detect({"-r", "in/"})), (Names{"B.pgm", "a.PGM", "b.pgm", "sub/c.pgm"}));
}

TEST_F(Inputs, SymbolicLinksThatLoopAreEnteredOnce) {
  add_face("in/a.pgm");
  add_face("in/sub/b.pgm");
  fs::create_directory_symlink("..", folder / "in/sub/up");
  fs::create_directory_symlink(".", folder / "in/self");
  fs::create_symlink("nowhere.pgm", folder / "in/dangling.pgm");
  const Finished done = detect({"-r", "in"});
  EXPECT_EQ(names(done), (Names{"a.pgm", "dangling.pgm", "sub/b.pgm"}));
  EXPECT_EQ(done.records()[1]["error"]["kind"], "read");
  EXPECT_EQ(done.status, 1);
}

// A folder among the inputs keeps its own name even if links lead to it; one elsewhere has the name
// of the first link to it.
TEST_F(Inputs, FoldersThatLinksLeadToAreReadOnce) {
  add_face("in/2024/a.pgm");
  add_face("in/.hidden/b.pgm");
  add_face("elsewhere/c.pgm");
  fs::create_directory_symlink("2024", folder / "in/1best");
  fs::create_directory_symlink(".hidden", folder / "in/3found");
  fs::create_directory_symlink("../elsewhere", folder / "in/4first");
  fs::create_directory_symlink("../elsewhere", folder / "in/5second");
  fs::create_directory_symlink("in", folder / "link");
  for (const char* root : {"in", "./in/", "link", "in/../link"}) {
    const Finished done = run({"detect", "-r", root});
    EXPECT_EQ(names(done), (Names{"2024/a.pgm", "3found/b.pgm", "4first/c.pgm"})) << root;
    EXPECT_NE(done.err.find("2 folder links (already read under another name)"), std::string::npos)
        << done.err;
  }
}

TEST_F(Inputs, ListsAndStandardInput) {
  for (const char* name : {"a.pgm", "b.pgm", "in/c.pgm"}) add_face(name);
  write_text(folder / "list.txt", "b.pgm\r\n\nin\na.pgm");
  EXPECT_EQ(names(detect({"@list.txt"})), (Names{"b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(names(detect({"-"}, "a.pgm\nb.pgm\n")), (Names{"a.pgm", "b.pgm"}));
  EXPECT_EQ(names(detect({"a.pgm", "-", "@list.txt"}, "b.pgm\n")),
            (Names{"a.pgm", "b.pgm", "b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(names(detect({"-"}, "")), Names{});
  EXPECT_EQ(names(detect({"-"},
                         "\xEF\xBB\xBF"
                         "a.pgm\r\nb.pgm\r\n")),
            (Names{"a.pgm", "b.pgm"}));
}

TEST_F(Inputs, SkippedFilesInFoldersAreReported) {
  for (const char* name : {"in/a.pgm", "in/sub/b.pgm"}) add_face(name);
  const auto said = [&](const std::vector<std::string>& arguments) {
    const std::string text = run(arguments).err;
    const std::size_t at = text.find("skipped: ");
    return at == text.npos ? "" : text.substr(at + 9, text.find('\n', at) - at - 9);
  };
  EXPECT_EQ(said({"detect", "-r", "in"}), "");
  EXPECT_EQ(said({"detect", "in"}), "1 folder (-r descends into them)");
  for (const char* name : {"in/c.psd", "in/d.txt", "in/sub/notes", "in/sub/e.psd", "in/.a.pgm"})
    write_text(folder / name, "");
  EXPECT_EQ(said({"detect", "-r", "in"}),
            "4 files (2 .psd, 1 without an extension, 1 .txt: not read in folders), "
            "1 hidden name (give hidden files and folders by name)");
  EXPECT_EQ(detect({"-r", "in"}).err, "");
}

TEST_F(Inputs, NamesThatSeveralInputsHaveInTheResultsAreReported) {
  for (const char* name : {"p/a.pgm", "q/a.pgm", "q/b.pgm"}) add_face(name);
  const auto said = [&](const std::vector<std::string>& arguments) {
    const std::string text = run(arguments).err,
                      words = "the same name in the results as an earlier input: ";
    const std::size_t at = text.find(words);
    return at == text.npos ? "" : text.substr(at + words.size(), 1);
  };
  EXPECT_EQ(said({"detect", "p", "q"}), "1");
  EXPECT_EQ(said({"detect", "p/a.pgm", "q/a.pgm"}), "");
  EXPECT_EQ(said({"detect", "-r", "."}), "");
}

// The lines of a pipe can be read only once.
TEST_F(Inputs, ListsOnPipesAreReadWhole) {
  ::mkfifo((folder / "list").c_str(), 0600);
  for (const char* progress : {"on", "off"}) {
    const Running running = start({"detect", "-j", "2", "--progress", progress, "@list"});
    constexpr int lines = 3000;
    const int pipe = ::open((folder / "list").c_str(), O_WRONLY);
    for (int i = 0; i < lines; ++i) ASSERT_EQ(::write(pipe, "none.\n", 6), 6);
    ::close(pipe);
    EXPECT_EQ(running.wait().records().size(), static_cast<std::size_t>(lines)) << progress;
  }
}

TEST_F(Inputs, ListsMayBeSeparatedByNulBytes) {
  for (const char* name : {"a.pgm", "b\nc.pgm", "in/c.pgm"}) add_face(name);
  using namespace std::string_literals;
  EXPECT_EQ(names(detect({"-"}, "a.pgm\0b\nc.pgm\0in\0"s)), (Names{"a.pgm", "b\nc.pgm", "c.pgm"}));
  EXPECT_EQ(names(detect({"-0", "-"}, "b\nc.pgm\0a.pgm\0"s)), (Names{"b\nc.pgm", "a.pgm"}));
  write_text(folder / "list", "b\nc.pgm\0a.pgm"s);
  EXPECT_EQ(names(detect({"--null", "@list"})), (Names{"b\nc.pgm", "a.pgm"}));
  // If the separator is ambiguous, no name is lost silently.
  const Finished mixed = detect({"-"}, "b\nc.pgm\0a.pgm\0"s);
  EXPECT_EQ(mixed.status, 1);
  EXPECT_EQ(mixed.records().size(), 2u);
  EXPECT_NE(mixed.out.find("--null"), std::string::npos) << mixed.out;
}

// Notepad calls UTF-16 "Unicode". Read as names, such a list would consist of single characters.
TEST_F(Inputs, ListsInUtf16AreRefused) {
  using namespace std::string_literals;
  for (const std::string& list :
       {"\xFF\xFE"
        "a\0.\0p\0g\0m\0\n\0"s,
        "\xFE\xFF\0a\0.\0p\0g\0m"s, "/\0a\0.\0p\0g\0m\0\n\0"s, "\0/\0a\0b\0\n"s}) {
    write_text(folder / "list", list);
    for (const Finished& done : {detect({"@list"}), detect({"-"}, list)}) {
      ASSERT_EQ(done.records().size(), 1u);
      EXPECT_NE(done.out.find("this list seems to be UTF-16, and UTF-8 is expected"),
                std::string::npos)
          << done.out;
      EXPECT_EQ(done.status, 1);
    }
  }
  EXPECT_EQ(detect({"-0", "-"}, "a\0b\0"s).records().size(), 2u);  // names of one letter
}

TEST_F(Inputs, NamesThatAreNotUtf8AreReported) {
  add_face("in/B\xE4r.pgm");
  add_face("in/B\xF6r.pgm");
  add_face("in/B\xC3\xA4r.pgm");
  EXPECT_NE(run({"detect", "in"}).err.find("inputs whose names are not valid UTF-8: 2;"),
            std::string::npos);
  EXPECT_EQ(run({"detect", "--format", "csv", "in"}).err.find("UTF-8"), std::string::npos);
}

TEST_F(Inputs, FoldersAreNotLists) {
  fs::create_directory(folder / "in");
  const Finished done =
      run({"detect", "-q", "-"}, "", [] { ::dup2(::open("in", O_RDONLY | O_DIRECTORY), 0); });
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("standard input: a list of paths was expected, this is a folder"),
            std::string::npos)
      << done.err;
}

// The entries of a folder can be listed but not examined, so their types are unknown.
TEST_F(Inputs, FoldersBelowAnUnreadableOneHaveRecords) {
  add_face("in/a.pgm");
  add_face("in/locked/sub/b.pgm");
  add_face("in/locked/c.pgm");
  write_text(folder / "in/locked/notes", "");
  const Finished done = detect_with(fs::perms::others_read | fs::perms::group_read);
  if (done.status == 127) GTEST_SKIP() << no_other_user;
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(names(done), (Names{"a.pgm", "locked/c.pgm", "locked/notes", "locked/sub"}))
      << done.out;
}

TEST_F(Inputs, NamesReachTheTerminalWithoutEscapeSequences) {
  const std::string name = "\x1b]0;title\x07\x1b[31mred\n.pgm";
  write_text(folder / name, "broken");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"detect", name},
                                                    {"detect", "--format", "csv", name},
                                                    {"detect", "--cascade", name, name},
                                                    {"detect", "--" + name, name},
                                                    {name},
                                                    {"detect", "@no/" + name},
                                                    {"detect", "-o", "no/" + name, name},
                                                    {"cascades", "show", name},
                                                    {"bench", "detect", name}}) {
    const Finished done = run(arguments);
    EXPECT_NE(done.status, 0) << arguments[0];
    EXPECT_NE(done.err.find("\\x1b]0;title\\x07\\x1b[31mred"), std::string::npos) << done.err;
    EXPECT_EQ(done.err.find('\x1b'), std::string::npos) << done.err;
    EXPECT_EQ(done.err.find("red\n"), std::string::npos) << done.err;
  }
}

TEST_F(Inputs, WhatCannotBeReadHasARecordAndTheRestIsProcessed) {
  add_face("good.pgm");
  write_text(folder / "empty.png", "");
  write_text(folder / "text.jpg", "text");
  fs::create_directory(folder / "folder.jpg");
  ::mkfifo((folder / "pipe.jpg").c_str(), 0600);
  const Finished done =
      detect({"missing.jpg", "empty.png", "text.jpg", "pipe.jpg", "folder.jpg", "good.pgm"});
  EXPECT_EQ(done.status, 1);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 5u);  // folder.jpg is an empty folder, which has no record
  EXPECT_EQ(records[0]["error"]["kind"], "read");
  EXPECT_EQ(records[1]["error"]["kind"], "decode");
  EXPECT_EQ(records[2]["error"]["kind"], "decode");
  EXPECT_EQ(records[3]["error"]["kind"], "read");
  for (int i = 0; i < 4; ++i)
    EXPECT_GT(records[i]["error"]["message"].get<std::string>().size(), 10u);
  EXPECT_EQ(records[4]["faces"].size(), 1u);
}

TEST_F(Inputs, FailuresAreReportedOnStandardErrorInCsv) {
  const Finished done = detect({"--format", "csv", "missing.jpg"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("missing.jpg"), std::string::npos);
}

TEST_F(Inputs, UnreadableFoldersHaveARecord) {
  add_face("in/a.pgm");
  add_face("in/locked/b.pgm");
  const Finished done = detect_with(fs::perms::none);
  if (done.status == 127) GTEST_SKIP() << no_other_user;
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(names(done), (Names{"a.pgm", "locked"})) << done.err;
  EXPECT_EQ(done.records()[1]["error"]["kind"], "read");
}

TEST_F(Inputs, OddNamesComeThroughWhole) {
  const Names odd{"a b.pgm", "comma, quote\".pgm", "line\nend.pgm", "ünï-中文-😀.pgm",
                  "#1.pgm",  "-dash.pgm"};
  for (const std::string& name : odd) add_face("in/" + name);
  Names expected = odd;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names(detect({"in"})), expected);
  const Finished csv = detect({"--format", "csv", "in"});
  EXPECT_NE(csv.out.find("\n\"comma, quote\"\".pgm\","), std::string::npos) << csv.out;
  EXPECT_NE(csv.out.find("\n\"line\nend.pgm\","), std::string::npos) << csv.out;
  // JSON cannot represent names that are not UTF-8, but the run continues and has a record.
  add_face("in/latin\xE9.pgm");
  EXPECT_EQ(detect({"in"}).records().size(), odd.size() + 1);
  EXPECT_EQ(detect({"in/latin\xE9.pgm"}).records().at(0)["image"], "in/latin\xEF\xBF\xBD.pgm");
}

TEST_F(Inputs, VideosGiveARecordPerFrame) {
  const char* album = std::getenv("FACESAT_ALBUM");
  if (!album) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no folder with the demo video";
  const std::string video = (fs::path(album) / "movie.avi").string();
  if (!FACESAT_READS_VIDEOS) {
    EXPECT_EQ(detect({video}).records().at(0)["error"]["kind"], "decode");
    return;
  }
  const Finished done = detect({video});
  EXPECT_EQ(done.status, 0);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 68u);  // the frames of the demo video
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["frame"], i);
    EXPECT_EQ(records[i]["faces"].size(), 1u) << i;
    if (i > 0) {
      EXPECT_GT(records[i]["time"], records[i - 1]["time"]);
    }
  }
}

TEST_F(Inputs, BrokenVideosHaveARecord) {
  write_text(folder / "video.avi", "RIFF no video");
  const Finished done = detect({"video.avi"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "decode");
}

}  // namespace
}  // namespace facesat::test
