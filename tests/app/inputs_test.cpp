// Where pictures come from: files, folders, lists, standard input; and names of every kind.
#include <cstdlib>

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
};
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

TEST_F(Inputs, ListsAndStandardInput) {
  for (const char* name : {"a.pgm", "b.pgm", "in/c.pgm"}) add_face(name);
  write_text(folder / "list.txt", "b.pgm\r\n\nin\na.pgm");
  EXPECT_EQ(names(detect({"@list.txt"})), (Names{"b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(names(detect({"-"}, "a.pgm\nb.pgm\n")), (Names{"a.pgm", "b.pgm"}));
  EXPECT_EQ(names(detect({"a.pgm", "-", "@list.txt"}, "b.pgm\n")),
            (Names{"a.pgm", "b.pgm", "b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(names(detect({"-"}, "")), Names{});
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
  ASSERT_EQ(records.size(), 5u);  // an empty folder is no failure
  EXPECT_EQ(records[0]["error"]["kind"], "read");
  EXPECT_EQ(records[1]["error"]["kind"], "decode");
  EXPECT_EQ(records[2]["error"]["kind"], "decode");
  EXPECT_EQ(records[3]["error"]["kind"], "read");
  for (int i = 0; i < 4; ++i)
    EXPECT_GT(records[i]["error"]["message"].get<std::string>().size(), 10u);
  EXPECT_EQ(records[4]["faces"].size(), 1u);
}

TEST_F(Inputs, FailuresAreToldOnStandardErrorInCsv) {
  const Finished done = detect({"--format", "csv", "missing.jpg"});
  EXPECT_EQ(done.status, 1);
  EXPECT_NE(done.err.find("missing.jpg"), std::string::npos);
}

TEST_F(Inputs, UnreadableFoldersHaveARecord) {
  add_face("in/a.pgm");
  add_face("in/locked/b.pgm");
  fs::permissions(folder.parent_path(), fs::perms::all);
  fs::permissions(folder / "in/locked", fs::perms::none);
  const Finished done = run({"detect", "-q", "-r", "in"}, "", [] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(125);  // root may read everything
  });
  fs::permissions(folder / "in/locked", fs::perms::all);
  if (done.status == 127)
    GTEST_SKIP() << "skipped: another user cannot start the program where it is";
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
  // Not UTF-8: JSON has no way to say it, but the run goes on and the record is there.
  add_face("in/latin\xE9.pgm");
  EXPECT_EQ(detect({"in"}).records().size(), odd.size() + 1);
  EXPECT_EQ(detect({"in/latin\xE9.pgm"}).records().at(0)["image"], "in/latin\xEF\xBF\xBD.pgm");
}

TEST_F(Inputs, FilmsGiveARecordAFrame) {
  const char* album = std::getenv("FACESAT_ALBUM");
  if (!album) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no folder with the demo film";
  const std::string film = (fs::path(album) / "movie.avi").string();
  if (!FACESAT_READS_FILMS) {
    EXPECT_EQ(detect({film}).records().at(0)["error"]["kind"], "decode");
    return;
  }
  const Finished done = detect({film});
  EXPECT_EQ(done.status, 0);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 68u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["frame"], i);
    EXPECT_EQ(records[i]["faces"].size(), 1u) << i;
    if (i > 0) {
      EXPECT_GT(records[i]["time"], records[i - 1]["time"]);
    }
  }
}

TEST_F(Inputs, BrokenFilmsHaveARecord) {
  write_text(folder / "film.avi", "RIFF no film");
  const Finished done = detect({"film.avi"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "decode");
}

}  // namespace
}  // namespace facesat::test
