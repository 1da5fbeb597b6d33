// Cascades as they are given on the command line: by a file of any name, or by the name of an
// installed one.
#include "tests/kit/cascades.hpp"

#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

class Cascades : public ProgramTest {
 protected:
  // The first line of what `facesat cascades show` prints; the message if it fails.
  std::string shown(const std::string& name) const {
    const Finished done = run({"cascades", "show", name});
    return done.status == 0 ? done.out.substr(0, done.out.find('\n')) : done.err;
  }
  bool is_stump_cascade(const std::string& name) const {
    return run({"cascades", "show", name}).out.find("window    12x10") != std::string::npos;
  }
};

TEST_F(Cascades, AreReadFromFilesOfAnyName) {
  for (const char* name : {"CASCADE.XML", "cascade.txt", "mine", "eyes.yml", "eyes.json",
                           "e.xml.gz", "eye", "frontalface_default"}) {
    write_text(folder / name, stump_cascade());
    EXPECT_TRUE(is_stump_cascade(name)) << name;
    EXPECT_TRUE(is_stump_cascade("./" + std::string(name))) << name;
  }
  EXPECT_EQ(shown("e.xml.gz"), "e");
  EXPECT_EQ(shown("CASCADE.XML"), "CASCADE");
}

// Only files hide the cascades of the same names.
TEST_F(Cascades, AreFoundBesideFoldersOfTheirNames) {
  std::filesystem::create_directory(folder / "eye");
  EXPECT_EQ(shown("eye"), "eye");
  EXPECT_FALSE(is_stump_cascade("eye"));
}

TEST_F(Cascades, ThatDoNotExistGetTheNearestName) {
  write_text(folder / "mine.yaml", stump_cascade());
  write_text(folder / "notes.txt", "");
  for (const auto& [name, nearest] :
       {std::pair{"haarcascade_frontalface_default.xml", "frontalface_default"},
        {"/nowhere/haarcascade_eye.xml", "eye"},
        {"lbpcascade_frontalface.xml", "lbp:frontalface"},
        {"lbpcascade_frontalface", "lbp:frontalface"},
        {"frontalface_defualt", "frontalface_default"},
        {"Frontalface_Alt2", "frontalface_alt2"},
        {"smlie", "smile"},
        {"frontalface", "frontalface_alt"},
        {"lbp:frontalfase", "lbp:frontalface"},
        {"mine.yml", "mine.yaml"},
        {"./mnie.yaml", "./mine.yaml"}})
    EXPECT_NE(shown(name).find("did you mean \"" + std::string(nearest) + "\"?"), std::string::npos)
        << shown(name);
  for (const char* name : {"no_such_thing_at_all_here_0123456789", "nowhere/9999999999.xml"})
    EXPECT_EQ(shown(name).find("did you mean"), std::string::npos) << shown(name);
}

TEST_F(Cascades, AreWarnedOfOnce) {
  add_face("a.pgm");
  add_face("b.pgm", 1);
  write_text(folder / "c.xml", replaced(stump_cascade(), "<stageNum>2", "<stageNum>3"));
  const std::string warning =
      "facesat: c.xml, line 11: <stageNum>: the file says \"3\", but there are 2\n";
  const Finished show = run({"cascades", "show", "c.xml"});
  EXPECT_EQ(show.err, warning);
  EXPECT_EQ(show.status, 0);
  const Finished found = run({"detect", "--cascade", "c.xml", "a.pgm", "b.pgm"});
  const std::size_t at = found.err.find(warning);
  EXPECT_NE(at, std::string::npos) << found.err;
  EXPECT_EQ(found.err.find(warning, at + 1), std::string::npos) << found.err;
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.records().size(), 2u);
  EXPECT_EQ(detect({"--cascade", "c.xml", "a.pgm"}).err, "");  // --quiet
}

// The journal knows the file by its contents, whatever its name.
TEST_F(Cascades, InFilesNamedLikeTheDefaultOneCountInTheJournal) {
  add_face("a.pgm");
  write_text(folder / "frontalface_default", stump_cascade());
  // An input that fails keeps the journal.
  EXPECT_EQ(detect({"-o", "r", "a.pgm", "missing.pgm"}).status, 1);
  EXPECT_EQ(detect({"-o", "r", "--resume", "a.pgm", "missing.pgm"}).status, 1);
  write_text(folder / "frontalface_default", tree_cascade());
  EXPECT_EQ(detect({"-o", "r", "--resume", "a.pgm", "missing.pgm"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
