// Where pictures come from: files, folders, lists, standard input; and names of every kind.
#include "results/inputs.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/codec.hpp"
#include "tests/kit/decoded.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

class InputsTest : public ProgramTest {
 protected:
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

TEST_F(InputsTest, FolderGivesItsPicturesInNameOrderAndNothingElse) {
  for (const char* name : {"in/b.pgm", "in/a.PGM", "in/B.pgm", "in/.hidden.pgm", "in/sub/c.pgm"})
    add_face(name);
  write_text("in/notes.txt", "no picture");
  EXPECT_EQ(detect({"in"}).images(), (Names{"B.pgm", "a.PGM", "b.pgm"}));
  EXPECT_EQ(detect({"-r", "in"}).images(), (Names{"B.pgm", "a.PGM", "b.pgm", "sub/c.pgm"}));
  EXPECT_EQ(detect({"-r", "in/"}).images(), (Names{"B.pgm", "a.PGM", "b.pgm", "sub/c.pgm"}));
}

TEST_F(InputsTest, SymbolicLinksThatLoopAreEnteredOnce) {
  add_face("in/a.pgm");
  add_face("in/sub/b.pgm");
  fs::create_directory_symlink("..", folder / "in/sub/up");
  fs::create_directory_symlink(".", folder / "in/self");
  fs::create_symlink("nowhere.pgm", folder / "in/dangling.pgm");
  const Finished done = detect({"-r", "in"});
  EXPECT_EQ(done.images(), (Names{"a.pgm", "dangling.pgm", "sub/b.pgm"}));
  EXPECT_EQ(done.records()[1]["error"]["kind"], "read");
  EXPECT_EQ(done.status, 1);
}

// A folder among the inputs keeps its own name even if links lead to it; one elsewhere has the name
// of the first link to it.
TEST_F(InputsTest, FoldersThatLinksLeadToAreReadOnce) {
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
    EXPECT_EQ(done.images(), (Names{"2024/a.pgm", "3found/b.pgm", "4first/c.pgm"})) << root;
    EXPECT_TRUE(has(done.err, "2 folder links (already read under another name)"));
  }
}

TEST_F(InputsTest, ListsAndStandardInput) {
  for (const char* name : {"a.pgm", "b.pgm", "in/c.pgm"}) add_face(name);
  write_text("list.txt", "b.pgm\r\n\nin\na.pgm");
  EXPECT_EQ(detect({"@list.txt"}).images(), (Names{"b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(detect({"-"}, "a.pgm\nb.pgm\n").images(), (Names{"a.pgm", "b.pgm"}));
  EXPECT_EQ(detect({"a.pgm", "-", "@list.txt"}, "b.pgm\n").images(),
            (Names{"a.pgm", "b.pgm", "b.pgm", "c.pgm", "a.pgm"}));
  EXPECT_EQ(detect({"-"}, "").images(), Names{});
  EXPECT_EQ(detect({"-"},
                   "\xEF\xBB\xBF"
                   "a.pgm\r\nb.pgm\r\n")
                .images(),
            (Names{"a.pgm", "b.pgm"}));
}

TEST_F(InputsTest, SkippedFilesInFoldersAreReported) {
  for (const char* name : {"in/a.pgm", "in/sub/b.pgm"}) add_face(name);
  const auto said = [&](const Arguments& arguments) {
    const std::string text = run(arguments).err;
    const std::size_t at = text.find("skipped: ");
    return at == text.npos ? "" : text.substr(at + 9, text.find('\n', at) - at - 9);
  };
  EXPECT_EQ(said({"detect", "-r", "in"}), "");
  EXPECT_EQ(said({"detect", "in"}), "1 folder (-r descends into them)");
  for (const char* name : {"in/c.psd", "in/d.txt", "in/sub/notes", "in/sub/e.psd", "in/.a.pgm"})
    write_text(name, "");
  EXPECT_EQ(said({"detect", "-r", "in"}),
            "4 files (2 .psd, 1 without an extension, 1 .txt: not read in folders), "
            "1 hidden name (give hidden files and folders by name)");
  EXPECT_EQ(detect({"-r", "in"}).err, "");
}

TEST_F(InputsTest, NamesThatSeveralInputsHaveInTheResultsAreReported) {
  for (const char* name : {"p/a.pgm", "q/a.pgm", "q/b.pgm"}) add_face(name);
  const auto said = [&](const Arguments& arguments) {
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
TEST_F(InputsTest, ListsOnPipesAreReadWhole) {
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

TEST_F(InputsTest, ListsMayBeSeparatedByNulBytes) {
  for (const char* name : {"a.pgm", "b\nc.pgm", "in/c.pgm"}) add_face(name);
  using namespace std::string_literals;
  EXPECT_EQ(detect({"-"}, "a.pgm\0b\nc.pgm\0in\0"s).images(),
            (Names{"a.pgm", "b\nc.pgm", "c.pgm"}));
  EXPECT_EQ(detect({"-0", "-"}, "b\nc.pgm\0a.pgm\0"s).images(), (Names{"b\nc.pgm", "a.pgm"}));
  write_text("list", "b\nc.pgm\0a.pgm"s);
  EXPECT_EQ(detect({"--null", "@list"}).images(), (Names{"b\nc.pgm", "a.pgm"}));
  // If the separator is ambiguous, no name is lost silently.
  const Finished mixed = detect({"-"}, "b\nc.pgm\0a.pgm\0"s);
  EXPECT_EQ(mixed.status, 1);
  EXPECT_EQ(mixed.records().size(), 2u);
  EXPECT_TRUE(has(mixed.out, "--null"));
}

// Notepad calls UTF-16 "Unicode". Read as names, such a list would consist of single characters.
TEST_F(InputsTest, ListsInUtf16AreRefused) {
  using namespace std::string_literals;
  for (const std::string& list :
       {"\xFF\xFE"
        "a\0.\0p\0g\0m\0\n\0"s,
        "\xFE\xFF\0a\0.\0p\0g\0m"s, "/\0a\0.\0p\0g\0m\0\n\0"s, "\0/\0a\0b\0\n"s}) {
    write_text("list", list);
    for (const Finished& done : {detect({"@list"}), detect({"-"}, list)}) {
      ASSERT_EQ(done.records().size(), 1u);
      EXPECT_TRUE(has(done.out, "this list seems to be UTF-16, and UTF-8 is expected"));
      EXPECT_EQ(done.status, 1);
    }
  }
  EXPECT_EQ(detect({"-0", "-"}, "a\0b\0"s).records().size(), 2u);  // names of one letter
}

TEST_F(InputsTest, NamesThatAreNotUtf8AreReported) {
  add_face("in/B\xE4r.pgm");
  add_face("in/B\xF6r.pgm");
  add_face("in/B\xC3\xA4r.pgm");
  EXPECT_TRUE(has(run({"detect", "in"}).err, "inputs whose names are not valid UTF-8: 2;"));
  EXPECT_FALSE(has(run({"detect", "--format", "csv", "in"}).err, "UTF-8"));
}

TEST_F(InputsTest, FoldersAreNotLists) {
  fs::create_directory(folder / "in");
  const Finished done =
      run({"detect", "-q", "-"}, "", [] { ::dup2(::open("in", O_RDONLY | O_DIRECTORY), 0); });
  EXPECT_TRUE(ended(done, 2, "standard input: a list of paths was expected, this is a folder"));
}

// The entries of a folder can be listed but not examined, so their types are unknown.
TEST_F(InputsTest, FoldersBelowAnUnreadableOneHaveRecords) {
  add_face("in/a.pgm");
  add_face("in/locked/sub/b.pgm");
  add_face("in/locked/c.pgm");
  write_text("in/locked/notes", "");
  const Finished done = detect_with(fs::perms::others_read | fs::perms::group_read);
  if (done.status == 127) GTEST_SKIP() << no_other_user;
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.images(), (Names{"a.pgm", "locked/c.pgm", "locked/notes", "locked/sub"}))
      << done.out;
}

TEST_F(InputsTest, NamesReachTheTerminalWithoutEscapeSequences) {
  const std::string name = "\x1b]0;title\x07\x1b[31mred\n.pgm";
  write_text(name, "broken");
  for (const Arguments& arguments : {Names{"detect", name},
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
    EXPECT_TRUE(has(done.err, "\\x1b]0;title\\x07\\x1b[31mred"));
    EXPECT_EQ(done.err.find('\x1b'), std::string::npos) << done.err;
    EXPECT_FALSE(has(done.err, "red\n"));
  }
}

TEST_F(InputsTest, WhatCannotBeReadHasARecordAndTheRestIsProcessed) {
  add_face("good.pgm");
  write_text("empty.png", "");
  write_text("text.jpg", "text");
  fs::create_directory(folder / "folder.jpg");
  ::mkfifo((folder / "pipe.jpg").c_str(), 0600);
  const auto records =
      records_of({"missing.jpg", "empty.png", "text.jpg", "pipe.jpg", "folder.jpg", "good.pgm"}, 1);
  ASSERT_EQ(records.size(), 5u);  // folder.jpg is an empty folder, which has no record
  EXPECT_EQ(records[0]["error"]["kind"], "read");
  EXPECT_EQ(records[1]["error"]["kind"], "decode");
  EXPECT_EQ(records[2]["error"]["kind"], "decode");
  EXPECT_EQ(records[3]["error"]["kind"], "read");
  for (int i = 0; i < 4; ++i)
    EXPECT_GT(records[i]["error"]["message"].get<std::string>().size(), 10u);
  EXPECT_EQ(records[4]["faces"].size(), 1u);
}

TEST_F(InputsTest, FailuresAreReportedOnStandardErrorInCsv) {
  EXPECT_TRUE(ended(detect({"--format", "csv", "missing.jpg"}), 1, "missing.jpg"));
}

TEST_F(InputsTest, UnreadableFoldersHaveARecord) {
  add_face("in/a.pgm");
  add_face("in/locked/b.pgm");
  const Finished done = detect_with(fs::perms::none);
  if (done.status == 127) GTEST_SKIP() << no_other_user;
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(done.images(), (Names{"a.pgm", "locked"})) << done.err;
  EXPECT_EQ(done.records()[1]["error"]["kind"], "read");
}

TEST_F(InputsTest, OddNamesComeThroughWhole) {
  const Names odd{"a b.pgm", "comma, quote\".pgm", "line\nend.pgm", "ünï-中文-😀.pgm",
                  "#1.pgm",  "-dash.pgm"};
  for (const std::string& name : odd) add_face("in/" + name);
  Names expected = odd;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(detect({"in"}).images(), expected);
  const Finished csv = detect({"--format", "csv", "in"});
  EXPECT_TRUE(has(csv.out, "\n\"comma, quote\"\".pgm\","));
  EXPECT_TRUE(has(csv.out, "\n\"line\nend.pgm\","));
  // JSON cannot represent names that are not UTF-8, but the run continues and has a record.
  add_face("in/latin\xE9.pgm");
  EXPECT_EQ(detect({"in"}).records().size(), odd.size() + 1);
  EXPECT_EQ(detect({"in/latin\xE9.pgm"}).records().at(0)["image"], "in/latin\xEF\xBF\xBD.pgm");
}

// What `cat FILE | facesat detect -` gives.
class PicturesOnStandardInput : public InputsTest {
 protected:
  static std::string encoded(const std::string& extension, int radius = 30) {
    const Image<std::uint8_t> face = draw_faces({140, 120}, {{70, 60, radius}});
    const Image<Bgr> picture = coloured(face.view());
    Bytes bytes;
    if (extension == ".pgm") {
      bytes = bytes_of("P5\n# a comment\n140 120 255\n");
      for (int y = 0; y < 120; ++y) bytes.insert(bytes.end(), face.row(y), face.row(y) + 140);
    } else if (extension == ".bmp") {
      for (int y = 119; y >= 0; --y)
        for (int x = 0; x < 140; ++x) bytes.insert(bytes.end(), 3, face.row(y)[x]);
      bytes = encode_bmp({140, 120}, {.bits = 24}, {}, bytes);
    } else {
      bytes = encode_picture(picture.view(), extension);
    }
    return {bytes.begin(), bytes.end()};
  }

  // Starts `detect -q ARGUMENTS -`; `write` gets the other end of its standard input.
  template <class Write>
  Finished detect_pipe(Arguments arguments, Write write) const {
    int ends[2];
    if (::pipe(ends) != 0) return {};
    arguments.insert(arguments.begin(), {"detect", "-q"});
    arguments.emplace_back("-");
    const Running running = start(arguments, "", [&] {
      ::dup2(ends[0], 0);
      ::close(ends[0]);
      ::close(ends[1]);
    });
    ::close(ends[0]);
    write(ends[1]);
    ::close(ends[1]);
    return running.wait();
  }
};

TEST_F(PicturesOnStandardInput, HaveTheRecordOfTheirFile) {
  for (const std::string extension : {".jpg", ".png", ".pgm", ".bmp"}) {
    const std::string bytes = encoded(extension), name = "a" + extension;
    write_text(name, bytes);
    std::string expected = detect({name}).out;
    ASSERT_TRUE(has(expected, "neighbors"));
    expected.replace(expected.find(name), name.size(), "-");
    const Finished done = detect({"-"}, bytes);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_EQ(done.out, expected) << extension;
    const Finished slow = detect_pipe({}, [&](int pipe) {
      for (std::size_t i = 0; i < bytes.size(); i += i < 600 ? 1 : 5000)
        ASSERT_GT(::write(pipe, bytes.data() + i,
                          std::min<std::size_t>(i < 600 ? 1 : 5000, bytes.size() - i)),
                  0);
    });
    EXPECT_EQ(slow.out, expected) << extension;
    EXPECT_EQ(detect({"-0", "-"}, bytes).out, expected);
    EXPECT_EQ(detect({name, "-", name}, bytes).records().size(), 3u);
  }
}

TEST_F(PicturesOnStandardInput, AreAnnotatedAndCropped) {
  const Finished done = detect({"--annotate", "boxes", "--crops", "crops", "-"}, encoded(".jpg"));
  EXPECT_EQ(done.status, 0) << done.out;
  EXPECT_EQ(files_below("boxes"), Names{"stdin.png"});
  EXPECT_EQ(files_below("crops"), Names{"stdin.png_1.png"});
}

TEST_F(PicturesOnStandardInput, ThatAreBrokenHaveOneRecord) {
  const std::string whole = encoded(".png");
  const std::string tiff("II*\0\x08\0\0\0\xFF\xFF", 10);
  for (const std::string& broken : {whole.substr(0, 100), whole.substr(0, 4), tiff, tiff + whole}) {
    const Finished done = detect({"-"}, broken);
    EXPECT_EQ(done.status, 1);
    ASSERT_EQ(done.images(), Names{"-"}) << done.out;
    EXPECT_EQ(done.records()[0]["error"]["kind"], "decode");
  }
}

TEST_F(PicturesOnStandardInput, AreResumedByTheirContents) {
  for (const std::string format : {"jsonl", "csv"}) {
    const auto run = [&](const std::string& bytes) {
      return detect({"--format", format, "--resume", "-o", "r", "-"}, bytes).status;
    };
    const std::string one = encoded(".png"), other = encoded(".png", 24);
    const auto expected = [&](const std::string& bytes) {
      return detect({"--format", format, "-"}, bytes).out;
    };
    ASSERT_NE(expected(one), expected(other));
    for (const std::string& bytes : {one, one, other, other, one}) {
      EXPECT_EQ(run(bytes), 0);
      EXPECT_EQ(read_text("r"), expected(bytes));
    }
    remove({"r", "r.resume"});
  }
}

// Neither a list nor a picture: one sentence, and none of its lines is taken for a path.
TEST_F(PicturesOnStandardInput, OtherBinaryDataIsRefusedInOneSentence) {
  using namespace std::string_literals;
  const Bytes random = noise(100'000, 1);
  const std::string program = read_text(FACESAT_PROGRAM);
  add_face("a.pgm");  // an archive may begin with the name of a file that exists
  write_tar(folder / "x.tar", {{"a.pgm", "no picture"}});
  const std::vector<std::string> others{
      {random.begin(), random.end()},
      program.substr(0, 1 << 20),
      std::string(1000, '\0'),
      "\x1F\x8B\x08\0\0\0\0\0\0\x03"s + program.substr(50'000, 9000),
      "\0\0\0\x18"
      "ftypmp42\0\0\0\0mp42isom"s,
      "\x1F\x8B\x08"s,
      read_text("x.tar")};
  for (const std::string& bytes : others) {
    const Finished done = detect({"-"}, bytes);
    EXPECT_EQ(done.status, 1);
    ASSERT_EQ(done.images(), Names{"standard input"}) << done.out.substr(0, 1000);
    const std::string message = done.records()[0]["error"]["message"];
    const bool is_tar = bytes == others.back();
    EXPECT_TRUE(has(message, is_tar ? "tar archive" : "neither a list of paths nor a picture"));
    write_text("list", bytes);
    EXPECT_EQ(detect({"@list"}).images(), Names{"list"});
  }
  write_text("list", encoded(".jpg"));
  const Finished done = detect({"@list"});
  ASSERT_EQ(done.images(), Names{"list"});
  EXPECT_TRUE(has(done.out, "without @"));
}

// Names may begin as pictures do, and hold control characters.
TEST_F(PicturesOnStandardInput, ListsAreStillLists) {
  const Names odd{"BM.pgm",     "BM0000\1.pgm",   "P5",           "P5 1 1 1.pgm",
                  "GIF8.pgm",   "II.pgm",         "RIFF.pgm",     "\x1B[1m.pgm",
                  "\1\2\3.pgm", "#?RADIANCE.pgm", "\xFF\xD8.pgm", "\xFF\x4F.pgm"};
  for (const std::string& name : odd) add_face(name);
  std::string all, all_with_nul;
  for (const std::string& name : odd) {
    EXPECT_EQ(detect({"-"}, name + "\n").records().size(), 1u) << name;
    EXPECT_EQ(detect({"-"}, name + "\n").status, 0) << name;
    EXPECT_EQ(detect({"-"}, name).status, 0) << name;
    all += name + "\n";
    all_with_nul += name + '\0';
  }
  for (const std::string& list : {all, all_with_nul}) {
    const Finished done = detect({"-"}, list);
    EXPECT_EQ(done.status, 0);
    EXPECT_EQ(done.records().size(), odd.size());
  }
  // The first does not exist.
  EXPECT_EQ(detect({"-"}, "\1none.pgm\n" + all).records().size(), odd.size() + 1);
}

// A list is read as it arrives.
TEST_F(PicturesOnStandardInput, ListsThatArriveSlowlyAreNotWaitedFor) {
  add_face("a.pgm");
  const Finished done = detect_pipe({"-o", "r"}, [&](int pipe) {
    ASSERT_EQ(::write(pipe, "a.pgm\n", 6), 6);
    wait_for("r");
    ASSERT_EQ(::write(pipe, "a.pgm\n", 6), 6);
  });
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(read_records("r").size(), 2u);
}

TEST_F(InputsTest, PipesNamedLikePicturesAreSkippedInFolders) {
  add_face("in/a.pgm");
  for (const char* name : {"in/pipe.pgm", "in/pipe.tar", "in/pipe.avi", "in/pipe"})
    ASSERT_EQ(::mkfifo((folder / name).c_str(), 0600), 0);
  const Finished done = run({"detect", "in"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.images(), Names{"a.pgm"});
  const std::string expected = std::string(FACESAT_READS_VIDEOS ? "3" : "2") +
                               " special files (pipes, devices, and folders in archives, that are "
                               "named like pictures)";
  EXPECT_TRUE(has(done.err, expected));
}

TEST_F(InputsTest, FoldersThatDisappearMeanwhileHaveARecord) {
  for (const char* name : {"in/a.pgm", "in/sub/b.pgm", "in/sub.pgm/c.pgm", "elsewhere/d.pgm"})
    add_face(name);
  fs::create_directory_symlink("../elsewhere", folder / "in/link");
  InputArguments arguments;
  arguments.inputs = {path("in")};
  arguments.recursive = true;
  Inputs inputs(arguments);
  const std::optional<Input> first = inputs.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "a.pgm");
  remove({"in/sub", "in/sub.pgm", "elsewhere"});
  write_text("in/sub.pgm", "no folder");
  for (const char* name : {"link", "sub", "sub.pgm"}) {
    const std::optional<Input> input = inputs.next();
    ASSERT_TRUE(input) << name;
    EXPECT_EQ(input->kind, Input::Kind::failure);
    EXPECT_EQ(input->name, name);
  }
  EXPECT_FALSE(inputs.next());
}

TEST_F(InputsTest, VideosGiveARecordPerFrame) {
  const char* album = std::getenv("FACESAT_ALBUM");
  if (!album) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no folder with the demo video";
  const std::string video = (fs::path(album) / "movie.avi").string();
  if (!FACESAT_READS_VIDEOS) {
    EXPECT_EQ(detect({video}).records().at(0)["error"]["kind"], "decode");
    return;
  }
  const auto records = records_of({video});
  ASSERT_EQ(records.size(), 68u);  // the frames of the demo video
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i]["frame"], i);
    EXPECT_EQ(records[i]["faces"].size(), 1u) << i;
    if (i > 0) {
      EXPECT_GT(records[i]["time"], records[i - 1]["time"]);
    }
  }
}

TEST_F(InputsTest, BrokenVideosHaveARecord) {
  write_text("video.avi", "RIFF no video");
  EXPECT_EQ(records_of({"video.avi"}, 1).at(0)["error"]["kind"], "decode");
}

}  // namespace
}  // namespace facesat::test
