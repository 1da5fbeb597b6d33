// Two kinds of existing files are not overwritten: inputs, and files that facesat did not write.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

class Overwriting : public ProgramTest {
 protected:
  // A PNG with a face, as the program writes it, but without the program's mark.
  void add_png(const std::string& name) const {
    add_face("scratch/face.pgm");
    ASSERT_EQ(detect({"--annotate", "scratch", path("scratch/face.pgm")}).status, 0);
    std::string png = read_text("scratch/face.pgm.png");
    const std::size_t mark = png.find("tEXtSoftware");
    ASSERT_NE(mark, png.npos);
    png.erase(mark - 4, 4 + 4 + 50 + 4);  // the mark's chunk: length, type, 50 bytes, checksum
    write_text(name, png);
    remove({"scratch"});
  }

  // Expects that a benchmark refuses to overwrite a.png.
  void expect_bench_refused(const Arguments& arguments) const {
    const std::string before = read_text("a.png");
    EXPECT_TRUE(ended(run(arguments), 2, "a.png exists and was not written by facesat"))
        << ::testing::PrintToString(arguments);
    EXPECT_EQ(read_text("a.png"), before);
  }

  // Expects that the run is refused with a message containing `said`, and that nothing below the
  // folder changes.
  void expect_refused(const Arguments& arguments, const std::string& said) const {
    const std::string before = contents();
    const Finished done = detect(arguments);
    const std::string what = ::testing::PrintToString(arguments);
    EXPECT_TRUE(ended(done, 2, said)) << what;
    EXPECT_EQ(done.out, "") << what;
    EXPECT_TRUE(contents() == before) << what << " changed a file";
  }
};

TEST_F(Overwriting, ResultsReplaceOnlyResults) {
  add_png("a.png");
  write_text("list.txt", "a.png\n");
  add_cascade("my.xml", "eye");
  fs::create_symlink("a.png", folder / "link");
  fs::create_hard_link(folder / "a.png", folder / "other.png");
  expect_refused({"-o", "a.png", "a.png"}, "a.png: results cannot be written into an input");
  expect_refused({"-o", "list.txt", "@list.txt"}, "the list of inputs");
  expect_refused({"-o", "my.xml", "--cascade", "my.xml", "a.png"}, "my.xml exists");
  expect_refused({"-o", "link", "a.png"}, "into an input");
  expect_refused({"-o", "other.png", "a.png"}, "into an input");
  expect_refused({"--format", "csv", "-o", "a.png", "."}, "a.png exists");
  write_text("results.jsonl",
             "{\"image\":\"once\",\"error\":{\"kind\":\"read\",\"message\":\"\"}}\n");
  expect_refused({"-o", "results.jsonl", "@results.jsonl"}, "the list of inputs");
  expect_refused({"-o", "results.jsonl", "results.jsonl"}, "into an input");
  EXPECT_EQ(run({"bench", "sat", "--json", "j", "--report", "./j", "--size", "64x64"}).status, 2);

  expect_bench_refused({"bench", "detect", "--json", "a.png", "a.png"});
  expect_bench_refused({"bench", "sat", "--json", "a.png", "--size", "64x64"});
  expect_bench_refused({"bench", "sat", "--report", "a.png", "--size", "64x64"});

  for (const std::string format : {"jsonl", "csv"}) {
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(detect({"--format", format, "-o", "r", "a.png"}).status, 0);
    EXPECT_EQ(read_text("r"), detect({"--format", format, "a.png"}).out);
    expect_refused({"--format", format == "csv" ? "jsonl" : "csv", "-o", "r", "a.png"},
                   "r holds results in another format, " + format);
    remove({"r"});
  }
  write_text("empty", "");
  EXPECT_EQ(detect({"-o", "empty", "a.png"}).status, 0);
}

TEST_F(Overwriting, PicturesAreNotWrittenOverTheirInputs) {
  add_png("a.png");
  add_png("p/b.png");
  expect_refused({"--annotate", ".", "a.png"}, "would overwrite the input a.png");
  expect_refused({"--annotate", path("."), "a.png"}, "would overwrite");
  expect_refused({"--annotate", ".", "p/b.png"}, "would overwrite");
  expect_refused({"--annotate", "p", "p"}, "name another");
  expect_refused({"--crops", "p/", "-r", "p"}, "name another");
  fs::create_directory_symlink("p", folder / "q");
  expect_refused({"--annotate", "q", "p"}, "name another");

  // For inputs from a list, this is found only when the picture is written.
  const std::string before = read_text("a.png");
  const Finished done = detect({"--annotate", ".", "-"}, "a.png\np\n./p\n");
  EXPECT_EQ(done.status, 1);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0]["error"]["kind"], "write");
  EXPECT_EQ(records[1]["faces"].size(), 1u);  // of folder p: written next to a.png
  EXPECT_EQ(read_text("a.png"), before);
  EXPECT_TRUE(exists("b.png"));
  const Finished folders = detect({"--annotate", "p", "-"}, "p\na.png\n");
  EXPECT_EQ(folders.records().at(0)["error"]["kind"], "read");
  EXPECT_EQ(folders.records().at(1)["faces"].size(), 1u);
}

TEST_F(Overwriting, InputsThatFacesatWroteAreNotOverwritten) {
  add_png("b/a.png");
  ASSERT_EQ(detect({"--annotate", "own", "b"}).status, 0);
  const std::string before = read_text("own/a.png");
  const Finished done =
      run({"detect", "-q", "--annotate", ".", "-"}, "a.png\n", in_folder(folder / "own"));
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "write");
  EXPECT_EQ(read_text("own/a.png"), before);
  add_png("a.png");
  write_text("list", "a.png\nown/a.png\n");
  for (const Arguments& inputs : {Arguments{"a.png", "own/a.png"}, {"@list"}}) {
    const auto records = records_of(joined({"--annotate", "own"}, inputs), 1);
    EXPECT_EQ(records.at(0)["error"]["kind"], "write");
    EXPECT_EQ(records.at(1)["faces"].size(), 1u);
    EXPECT_EQ(read_text("own/a.png"), before);
  }
}

TEST_F(Overwriting, PicturesReplaceOnlyPicturesOfFacesat) {
  add_png("in/a.png");
  add_png("in/b.png");
  add_png("in/sub/c.png");
  add_png("precious/c.png");
  const std::string precious = read_text("precious/c.png");
  write_text("out/a.png", "my own");
  fs::create_symlink("../precious/c.png", folder / "out/b.png");
  fs::create_directory_symlink("../precious", folder / "out/sub");
  for (const auto& record : records_of({"-r", "--annotate", "out", "in"}, 1)) {
    EXPECT_EQ(record["error"]["kind"], "write") << record;
    EXPECT_EQ(record["faces"].size(), 1u) << "found all the same";
    EXPECT_TRUE(has(record["error"]["message"], "out/")) << record;
  }
  EXPECT_EQ(read_text("out/a.png"), "my own");
  EXPECT_EQ(read_text("precious/c.png"), precious);
  EXPECT_EQ(files_below("precious"), Names{"c.png"});

  // Pictures of an earlier run are replaced, even where it was killed before it wrote them.
  EXPECT_EQ(detect({"-r", "--annotate", "out2", "--crops", "out2", "in"}).status, 0);
  const std::string picture = read_text("out2/a.png");
  write_text("out2/a.png", "");
  EXPECT_EQ(detect({"-r", "--annotate", "out2", "--crops", "out2", "in"}).status, 0);
  EXPECT_EQ(read_text("out2/a.png"), picture);
  // Pictures that were edited since then are not replaced, even if they still bear the mark.
  const std::string edited = picture.substr(0, picture.size() - 1) + "x";
  write_text("out2/a.png", edited);
  EXPECT_EQ(detect({"-r", "--annotate", "out2", "--crops", "out2", "in"}).status, 1);
  EXPECT_EQ(read_text("out2/a.png"), edited);
}

// The crops under a name are those of the last run that used the name, for whatever input.
TEST_F(Overwriting, CropsOfAnEarlierRunDoNotStayAmongNewOnes) {
  add_png("in/a.png");
  const auto crops = [this](const Arguments& options) {
    EXPECT_EQ(detect(joined({"--crops", "out", "in"}, options)).status, 0);
    return files_below("out").size();
  };
  const std::size_t many = crops({"--raw"});
  ASSERT_GT(many, 3u);
  write_text("out/a.png_3.png", "my own");
  EXPECT_EQ(crops({}), 2u) << "the first, and what is the user's";
  EXPECT_EQ(read_text("out/a.png_3.png"), "my own");
  remove({"out"});
  EXPECT_EQ(crops({"--raw"}), many);
  remove({"out/a.png_2.png"});
  EXPECT_EQ(crops({}), 1u);
  EXPECT_EQ(crops({"--raw"}), many);
  add_png("other/a.png");
  EXPECT_EQ(detect({"--crops", "out", "other"}).status, 0);
  EXPECT_EQ(files_below("out").size(), 1u);
}

TEST_F(Overwriting, ARunWithoutInputsDoesNotReplaceResults) {
  add_png("in/a.png");
  fs::create_directories(folder / "unmounted/sub");
  EXPECT_EQ(detect({"-o", "r", "in"}).status, 0);
  const std::string text = read_text("r");
  expect_refused({"-o", "r", "unmounted"}, "no picture or video among the inputs, so r stays");
  expect_refused({"-o", "r", "unmounted"}, "1 folder (-r descends into them)");
  expect_refused({"-o", "r", "-"}, "no picture or video");
  expect_refused({"-o", "r", "nowhere", "nor/here"}, "nowhere: no such file or folder, so r stays");
  EXPECT_EQ(detect({"-o", "r", "--resume", "unmounted"}).status, 0);
  EXPECT_EQ(detect({"-o", "new", "unmounted"}).status, 0);
  EXPECT_EQ(read_text("r"), text);
}

TEST_F(Overwriting, StandardOutputByNameIsNotTruncated) {
  add_png("a.png");
  write_text("log", "before\n");
  for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
    EXPECT_EQ(run({"detect", "-q", "-o", name, "a.png"}, "", appending(1, "log")).status, 0);
  const std::string once = detect({"a.png"}).out;
  EXPECT_EQ(read_text("log"), "before\n" + once + once + once);
}

TEST_F(Overwriting, APictureThatCannotBeWrittenIsAnErrorOfItsRecord) {
  const std::string long_name = std::string(250, 'n') + ".pgm";  // too long with .png appended
  add_face("in/" + long_name);
  add_face("in/a.pgm");
  add_face("in/taken.pgm");
  fs::create_directories(folder / "out/taken.pgm.png");
  Image<std::uint8_t> wide({70000, 30});  // more than a JPEG can have
  write_pgm("in/wide.jpg", wide);
  const auto records = records_of({"--annotate", "out", "in"}, 1);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0]["faces"].size(), 1u);
  for (std::size_t i = 1; i < records.size(); ++i)
    EXPECT_EQ(records[i].value("error", Json())["kind"], "write") << records[i];
  EXPECT_EQ(files_below("out"), Names{"a.pgm.png"});
}

// A partially written file is deleted, but not a device. Device (1, 7) is /dev/full.
TEST_F(Overwriting, DevicesStayWhereTheyAre) {
  const fs::path full = folder / "full";
  if (::mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0 ||
      ::access(full.c_str(), W_OK) != 0 || ::open(full.c_str(), O_WRONLY) < 0)
    GTEST_SKIP() << "skipped: only root may make a device, and not everywhere";
  EXPECT_EQ(run({"info"}, "", appending(1, "full")).status, 3);
  EXPECT_EQ(detect({"-o", "full", "missing.jpg"}).status, 3);
  EXPECT_THROW(facesat::write_text(full, "text"), OutputError);
  EXPECT_TRUE(fs::is_character_file(full));
}

TEST_F(Overwriting, WhatCannotBeWrittenFromTheStartIsWrongUsage) {
  add_face("a.pgm");
  write_text("file", "");
  for (const std::string where : {"file", "file/boxes", "/proc/facesat"})
    for (const char* option : {"--annotate", "--crops"})
      EXPECT_EQ(detect({option, where, "a.pgm"}).status, 2) << option << " " << where;
}

// A file that begins like results need not be results.
TEST_F(Overwriting, ResultsThatOthersAnnotatedAreNotReplaced) {
  add_png("in/a.png");
  add_png("in/b.png");
  const std::string jsonl = detect({"in"}).out, csv = detect({"--format", "csv", "in"}).out;
  const std::string many = detect({"--cascade", "eye", "--cascade", "frontalface_alt", "in"}).out;
  const auto inserted = [](std::string text, const std::string& before, const std::string& what) {
    return text.insert(text.find(before), what);
  };
  const std::string foreign[] = {
      "{\"image\":\"a.jpg\",\"label\":\"cat\"}\n",
      inserted(jsonl, ",\"width\"", ",\"who\":\"Anna\""),
      inserted(jsonl, "\"x\":", "\"who\":\"Anna\","),
      inserted(jsonl, ",\"width\"", " "),
      jsonl + "my note\n",
      "{\"image\":\"a.jpg\",\"error\":\"bad light\"}\n",
      "{\"image\":\"a.jpg\",\"error\":{\"kind\":\"read\",\"message\":\"m\",\"note\":\"mine\"}}\n",
      "{\"image\":\"a.jpg\",\"width\":\"wide\",\"height\":3,\"faces\":[]}\n",
      "{\"image\":\"a.jpg\",\"width\":3,\"height\":3,\"faces\":[],\"warning\":[]}\n",
      "{\"image\":\"a.jpg\",\"width\":3,\"height\":3,\"faces\":[1]}\n",
      "{\"image\":\"a.jpg\",\"width\":3,\"height\":3,\"faces\":[],\"error\":\"my own\"}\n",
      jsonl + "{\"image\":\"my own\"}",
      "{",
      "i",
      "image,x,y,w,h,neighbors,score,who\na,1,2,3,4,5,6,Anna\n",
      csv + "my note\n",
      csv + "a,1,2,3,4,5,Anna\n",
      inserted(csv, "\n", ";"),
      csv + "a,1,2,3",
  };
  for (const std::string& text : foreign) {
    write_text("r", text);
    expect_refused({"-o", "r", "in"}, "r exists and was not written by facesat");
    if (text != "{") expect_refused({"--resume", "-o", "r", "in"}, "r");  // it may be a torn record
  }
  for (const std::string& text : {jsonl, csv, many, csv + "\"a\n\"\"b\",1,2,3,4,5,0.25\n"}) {
    write_text("r", text);
    const bool is_csv = text.starts_with('i');
    EXPECT_EQ(detect({"--format", is_csv ? "csv" : "jsonl", "-o", "r", "in"}).status, 0) << text;
    EXPECT_EQ(read_text("r"), is_csv ? csv : jsonl);
  }
}

TEST_F(Overwriting, TablesThatOthersEditedAreNotReplaced) {
  const auto bench = [&](const std::vector<std::string>& outputs) {
    return run(joined({"bench", "sat", "--algorithm", "cpu_2r2w", "--size", "64x64", "--runs", "1"},
                      outputs))
        .status;
  };
  EXPECT_EQ(bench({"--json", "t.json", "--report", "t.html"}), 0);
  EXPECT_EQ(bench({"--json", "t.json", "--report", "t.html"}), 0);
  const std::string json = read_text("t.json"), html = read_text("t.html");
  for (const std::string& text :
       {std::string("{\n  \"machine\": {\"name\":\"mine\"}}"), std::string("{"), json + "note"}) {
    write_text("my.json", text);
    EXPECT_EQ(bench({"--json", "my.json"}), 2) << text;
    EXPECT_EQ(read_text("my.json"), text);
  }
  for (const std::string& text : {html.substr(0, 300), html + "note", "x" + html}) {
    write_text("my.html", text);
    EXPECT_EQ(bench({"--report", "my.html"}), 2);
    EXPECT_EQ(read_text("my.html"), text);
  }
}

TEST_F(Overwriting, PicturesDoNotReplaceTheOutput) {
  add_png("in/a.png");
  const Finished done = detect({"--annotate", "out", "-o", "out/a.png", "in"});
  EXPECT_EQ(done.status, 1) << done.err;
  const auto records = read_records("out/a.png");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["error"]["kind"], "write");
}

// The shell can append standard output to a file that the run reads.
TEST_F(Overwriting, ResultsDoNotGoIntoWhatIsRead) {
  add_png("a.png");
  write_text("list", "a.png\n");
  add_cascade("c.xml", "eye");
  // Expects that a run is refused whose standard output is appended to the file `to`. reads:
  // standard input is the list.
  const auto expect_refused = [&](const std::string& input, const char* to, bool reads = false) {
    const Finished done = run({"detect", "-q", "--cascade", "c.xml", input}, "", [&] {
      if (reads) ::dup2(::open("list", O_RDONLY), 0);
      appending(1, to)();
    });
    EXPECT_TRUE(ended(done, 2, "results cannot be written into")) << input;
  };
  expect_refused("a.png", "c.xml");
  EXPECT_EQ(run({"detect", "-o", "r", "@list"}, "", appending(2, "list")).status, 2);
  EXPECT_TRUE(has(read_text("list"), "messages cannot be written into the list"));
  write_text("list", "a.png\n");
  const std::string picture = read_text("a.png");
  expect_refused("@list", "list");
  expect_refused("-", "list", true);
  expect_refused("a.png", "a.png");
  EXPECT_EQ(read_text("list"), "a.png\n");
  EXPECT_EQ(read_text("a.png"), picture);
  EXPECT_TRUE(ended(run({"detect", "-q", "."}, "", appending(1, "a.png")), 2,
                    "not written into a picture"));
  EXPECT_EQ(read_text("a.png"), picture);
}

TEST_F(Overwriting, AnOutputThatIsRefusedIsNotCreated) {
  add_png("in/a.png");
  write_text("o.resume", "in\n");
  expect_refused({"-o", "o", "@o.resume"}, "o.resume: the journal needs this name");
  ::mkfifo((folder / "w.resume").c_str(), 0600);
  EXPECT_TRUE(ended(detect({"-o", "w", "in"}), 2, "not a regular file"));
  EXPECT_FALSE(exists("w"));
}

TEST_F(Overwriting, ResultsDoNotGoWhereMessagesGo) {
  add_face("a.pgm");
  const std::string results = detect({"a.pgm"}).out + detect({"a.pgm"}).out;
  write_text("r", results);
  for (const char* output : {"/dev/stderr", "r"}) {
    EXPECT_EQ(run({"detect", "-q", "-o", output, "a.pgm"}, "", appending(2, "r")).status, 2);
    const std::string text = read_text("r");
    EXPECT_EQ(text.substr(0, results.size()), results);
    EXPECT_TRUE(has(text, "results and messages cannot be written into one file"));
    write_text("r", results);
  }
}

// If a disk is not mounted, the results of the last run are worth more than a list of errors.
TEST_F(Overwriting, ResultsAreNotReplacedIfNothingInAListExists) {
  add_face("in/a.pgm");
  write_text("list", "in/a.pgm\nin/b.pgm\n");
  EXPECT_EQ(detect({"-o", "r", "@list"}).status, 1);
  fs::rename(folder / "in", folder / "elsewhere");
  expect_refused({"-o", "r", "@list"}, "@list: none of the paths in this list exists, so r stays");
  expect_refused({"-o", "r", "@list", "in"}, "so r stays");
  EXPECT_EQ(detect({"@list"}).records().size(), 2u);  // nothing to be replaced
}

}  // namespace
}  // namespace facesat::test
