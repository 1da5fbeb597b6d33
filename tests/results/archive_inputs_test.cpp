// Archives as inputs: as folders of pictures, which are read without unpacking them.
#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <sys/resource.h>

#include "media/codec.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

class Archives : public SixtyPictures {
 protected:
  // The text without "x.tar/" before the names.
  static std::string without(const std::string& prefix, std::string text) {
    const std::string before = "\"image\":\"";
    for (std::size_t at = 0; (at = text.find(before + prefix, at)) != text.npos;)
      text.erase(at + before.size(), prefix.size());
    return text;
  }

  std::string picture(int variant = 0) const {
    add_face("made.pgm", variant);
    return read_text("made.pgm");
  }
};

TEST_F(Archives, GiveTheRecordsOfTheFolderTheyWereMadeFrom) {
  const std::string expected = undisturbed("jsonl");
  for (const TarFormat format : {TarFormat::ustar, TarFormat::pax, TarFormat::gnu}) {
    write_tar(folder / "x.tar", members_of_folder(folder / "in"), format);
    const Finished done = detect({"x.tar"});
    EXPECT_EQ(done.status, 1);  // some are broken
    EXPECT_EQ(without("x.tar/", done.out), expected);
    EXPECT_NE(done.out, expected);
  }
}

TEST_F(Archives, AreInputsWhereverTheyAreFound) {
  write_tar(folder / "p/x.tar", {{"a.pgm", picture()}, {"sub/b.pgm", picture()}});
  write_tar(folder / "p/q/Y.TAR", {{"c.pgm", picture()}});
  add_face("p/a.pgm");
  add_face("p/z.pgm");
  const Names in_p{"a.pgm", "x.tar/a.pgm", "x.tar/sub/b.pgm", "z.pgm"};
  EXPECT_EQ(detect({"p"}).images(), in_p);
  EXPECT_EQ(detect({"-r", "p"}).images(),
            (Names{"a.pgm", "q/Y.TAR/c.pgm", "x.tar/a.pgm", "x.tar/sub/b.pgm", "z.pgm"}));
  EXPECT_EQ(detect({"p/q/../x.tar", "p/z.pgm"}).images(),
            (Names{"p/q/../x.tar/a.pgm", "p/q/../x.tar/sub/b.pgm", "p/z.pgm"}));
  EXPECT_EQ(detect({"-"}, "p/q/Y.TAR\np/a.pgm\n").images(), (Names{"p/q/Y.TAR/c.pgm", "p/a.pgm"}));
  fs::create_directory(folder / "p/folder.tar");
  add_face("p/folder.tar/d.pgm");
  EXPECT_EQ(detect({"p/folder.tar"}).images(), Names{"d.pgm"});
  EXPECT_EQ(detect({"p"}).images(), in_p);
}

TEST_F(Archives, NamesOfEveryKind) {
  const std::string longer = std::string(150, 'l') + "/" + std::string(120, 'm') + ".pgm";
  for (const TarFormat format : {TarFormat::pax, TarFormat::gnu}) {
    write_tar(folder / "x.tar",
              {{"./a.pgm", picture()}, {"ü/ö.pgm", picture()}, {longer, picture()}}, format);
    EXPECT_EQ(detect({"x.tar"}).images(),
              (Names{"x.tar/a.pgm", "x.tar/ü/ö.pgm", "x.tar/" + longer}));
  }
}

TEST_F(Archives, OtherMembersAreSkippedAndCounted) {
  using Kind = TarMember::Kind;
  write_tar(folder / "x.tar", {{"a.pgm", picture()},
                               {"a.json", "{}"},
                               {"b.mp4", "a video"},
                               {"inner.tar", "an archive"},
                               {".hidden.pgm", picture()},
                               {".git/c.pgm", picture()},
                               {"folder.pgm", "", Kind::folder},
                               {"folder", "", Kind::folder},
                               {"pipe.pgm", "", Kind::pipe},
                               {"pipe", "", Kind::pipe},
                               {"device.pgm", "", Kind::device},
                               {"link.pgm", "a.pgm", Kind::symbolic_link},
                               {"hard.pgm", "a.pgm", Kind::hard_link}});
  const Finished done = run({"detect", "x.tar"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(done.images(), Names{"x.tar/a.pgm"});
  EXPECT_TRUE(has(done.err,
                  "skipped: 3 files (1 .json, 1 .mp4, 1 .tar: not read in folders), "
                  "2 links (in archives), "
                  "3 special files (pipes, devices, and folders in archives, that are "
                  "named like pictures), "
                  "2 hidden names (give hidden files and folders by name)"));
}

// Names of members can lead anywhere; pictures stay in the folder for them.
TEST_F(Archives, NoPictureLeavesItsFolder) {
  write_tar(folder / "sub/x.tar", {{"../e.pgm", picture(1)},
                                   {"../../../e.pgm", picture(2)},
                                   {path("abs/f.pgm"), picture(3)},
                                   {"g/./h/../../../i.pgm", picture(4)},
                                   {"j.pgm", picture(5)}});
  remove({"made.pgm"});
  remove({"in"});
  const Finished done = detect({"--annotate", "out/boxes", "--crops", "out/crops", "sub"});
  EXPECT_EQ(done.status, 0) << done.out;
  EXPECT_EQ(done.images().at(0), "x.tar/../e.pgm");
  EXPECT_EQ(files_below("out/boxes").size(), 5u);
  EXPECT_EQ(files_below("out/crops").size(), 5u);
  EXPECT_EQ(files_below(".").size(), 11u) << "with the archive";
  const fs::path base = folder.parent_path();
  for (const auto& entry : fs::directory_iterator(base))
    EXPECT_NE(entry.path().extension(), ".png") << entry.path();
  const Names boxes = files_below("out/boxes");
  EXPECT_NE(std::find(boxes.begin(), boxes.end(), "x.tar/j.pgm.png"), boxes.end());
}

TEST_F(Archives, BrokenOnesHaveARecordAndTheRestIsProcessed) {
  write_text("p/empty.tar", "");
  write_text("p/noise.tar", std::string(5000, 'x'));
  add_face("p/z.pgm");
  const Finished done = detect({"p", "missing.tar"});
  EXPECT_EQ(done.status, 1);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 4u) << done.out;
  EXPECT_EQ(done.images(), (Names{"empty.tar", "noise.tar", "z.pgm", "missing.tar"}));
  for (const std::size_t i : {0, 1, 3}) EXPECT_EQ(records[i]["error"]["kind"], "read");
  EXPECT_EQ(records[0]["error"]["message"], "the file is empty");
  EXPECT_TRUE(has(records[1]["error"]["message"], "not a tar archive"));
  EXPECT_EQ(records[3]["error"]["message"], "no such file or folder");
}

// The second archive lacks the end of its second picture, and all after it.
TEST_F(Archives, TruncatedOnesHaveTheRecordsBeforeTheirEnd) {
  write_tar(folder / "p/x.tar",
            {{"a.pgm", picture(1)}, {"b.pgm", picture(2)}, {"c.pgm", picture(3)}});
  fs::resize_file(folder / "p/x.tar", fs::file_size(folder / "p/x.tar") / 2);
  add_face("p/z.pgm");
  const Finished done = detect({"p"});
  EXPECT_EQ(done.status, 1);
  ASSERT_EQ(done.images(), (Names{"x.tar/a.pgm", "x.tar/b.pgm", "x.tar", "z.pgm"}));
  const auto records = done.records();
  EXPECT_EQ(records[0]["faces"].size(), 1u);
  EXPECT_EQ(records[1]["error"]["message"], "the archive ends before this file does");
  EXPECT_EQ(records[2]["error"]["message"], "the archive ends early, within the last of its files");
  EXPECT_EQ(records[3]["faces"].size(), 1u);
}

// The first picture claims 300 MiB and the second one a thousand times the size of the archive.
TEST_F(Archives, NoSizeExhaustsTheMemory) {
  const std::string small = picture();
  write_tar(folder / "x.tar", {{"a.pgm", small}, {"b.pgm", small}, {"c.pgm", small}},
            TarFormat::ustar);
  std::string bytes = read_text("x.tar");
  const std::size_t member = 512 + (small.size() + 511) / 512 * 512;
  constexpr std::uint64_t large = std::uint64_t{300} << 20;
  bytes.replace(0, 512, tar_header("a.pgm", large));
  bytes.replace(member, 512, tar_header("b.pgm", std::uint64_t{1} << 32));
  std::ofstream out(folder / "x.tar", std::ios::binary);
  out << bytes.substr(0, 512);
  out.seekp(512 + static_cast<std::streamoff>(large));  // a hole
  out << bytes.substr(member);
  out.close();
  const Finished done = detect({"x.tar"});
  EXPECT_EQ(done.images(), (Names{"x.tar/a.pgm", "x.tar/b.pgm", "x.tar"}));
  const auto records = done.records();
  EXPECT_EQ(records[0]["error"]["kind"], "limit");
  EXPECT_EQ(records[1]["error"]["kind"], "limit");
  EXPECT_EQ(records[2]["error"]["kind"], "read");
}

TEST_F(Archives, ThatAreCompressedAreRefusedByThatName) {
  write_tar(folder / "x.tar", {{"BZh.pgm", picture()}});  // begins as bzip2 does
  EXPECT_EQ(detect({"x.tar"}).images(), Names{"x.tar/BZh.pgm"});
  const std::map<std::string, std::string> beginnings{{"gzip", "\x1F\x8B\x08"},
                                                      {"bzip2", "BZh91AY"},
                                                      {"xz", std::string("\xFD"
                                                                         "7zXZ\0",
                                                                         6)},
                                                      {"zstd", "\x28\xB5\x2F\xFD"}};
  for (const auto& [method, beginning] : beginnings)
    for (const std::string name :
         {"p/x.tar", "p/x.tar.gz", "p/x.TGZ", "p/x.tar.xz", "p/x.tar.zst", "p/x.tar.bz2"}) {
      write_text(name, beginning + std::string(3000, 'x'));
      const Finished done = detect({name});
      EXPECT_EQ(done.status, 1);
      ASSERT_EQ(done.images(), Names{name});
      EXPECT_TRUE(has(done.records()[0]["error"]["message"], "compressed with " + method));
      remove({name});
    }
}

TEST_F(Archives, ReportWhatInterruptsThem) {
  write_tar(folder / "p/x.tar",
            {{"a.pgm", picture(1)}, {"b.pgm", picture(2)}, {"c.pgm", picture(3)}},
            TarFormat::ustar);
  const std::string whole = read_text("p/x.tar");
  std::string damaged = whole;
  const std::size_t second = whole.find("b.pgm");
  damaged.replace(second, 512, std::string(512, '\0'));
  write_text("p/x.tar", damaged);
  write_text("list", "p/x.tar\n");
  for (const Finished& done : {detect({"p"}), detect({"p/x.tar"}), detect({"@list"})}) {
    EXPECT_EQ(done.status, 1);
    const std::string in_front = done.images().at(0).starts_with("p/") ? "p/" : "";
    ASSERT_EQ(done.images(),
              (Names{in_front + "x.tar/a.pgm", in_front + "x.tar/c.pgm", in_front + "x.tar"}));
    EXPECT_EQ(done.records()[2]["error"]["kind"], "read");
  }
  // When the archive is whole again, the error is gone.
  EXPECT_EQ(detect({"-o", "r", "--resume", "p"}).status, 1);
  write_text("p/x.tar", whole);
  EXPECT_EQ(detect({"-o", "r", "--resume", "p"}).status, 0);
  EXPECT_EQ(read_records("r").size(), 3u);
}

// The archive is replaced while a run reads its members: the records are of the old one.
TEST_F(Archives, ThatAreReplacedMeanwhileAreProcessedAgain) {
  std::vector<TarMember> members;
  for (int i = 0; i < 200; ++i) members.push_back({std::to_string(1000 + i) + ".pgm", picture(1)});
  write_tar(folder / "x.tar", members);
  for (TarMember& member : members) member.bytes = picture(40);
  write_tar(folder / "new.tar", members);
  const Running running = start({"detect", "-q", "-j", "1", "--resume", "-o", "r", "x.tar"});
  wait_for("r");
  fs::rename(folder / "new.tar", folder / "x.tar");
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_EQ(detect({"--resume", "-o", "r", "x.tar"}).status, 0);
  EXPECT_EQ(read_text("r"), detect({"x.tar"}).out);
}

// The limit on the size of files is for those that the program writes.
TEST_F(Archives, AreReadWhateverTheLimitOnFiles) {
  Image<Bgr> large({400, 300});
  std::mt19937 random(5);
  for (int y = 0; y < 300; ++y)
    for (int x = 0; x < 400; ++x) large.row(y)[x].g = static_cast<std::uint8_t>(random());
  const std::vector<unsigned char> bytes = encode_picture(large.view(), ".png");
  write_tar(folder / "x.tar", {{"a.png", {bytes.begin(), bytes.end()}}});
  constexpr std::size_t limit = 20'000;  // bytes per file
  ASSERT_GT(bytes.size(), limit);
  const Finished done =
      run({"detect", "-q", "-o", "r", "x.tar"}, "", with_limit(RLIMIT_FSIZE, limit));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(read_text("r"), detect({"x.tar"}).out);
}

// OpenCV reads files by name, and one that is in memory counts as written by the program.
TEST_F(Archives, AMemberThatOpenCvCannotReadForTheLimitOnFilesEndsTheRun) {
  if (!FACESAT_READS_VIDEOS) GTEST_SKIP() << "skipped: a build without OpenCV";
  // A PAM, which nothing but OpenCV reads.
  const std::string pgm = picture(1);
  std::istringstream header(pgm);
  std::string magic, width, height, most;
  header >> magic >> width >> height >> most;
  const std::string pam = "P7\nWIDTH " + width + "\nHEIGHT " + height +
                          "\nDEPTH 1\nMAXVAL 255\nTUPLTYPE GRAYSCALE\nENDHDR\n" +
                          pgm.substr(static_cast<std::size_t>(header.tellg()) + 1);
  write_tar(folder / "x.tar", {{"a.pxm", pam}});
  EXPECT_TRUE(ended(run({"detect", "-q", "-o", "r", "x.tar"}, "",
                        [] {
                          const rlimit limit{5000, 5000};  // bytes per file; the picture has 12,000
                          ::setrlimit(RLIMIT_FSIZE, &limit);
                        }),
                    3, "ulimit -f"));
  EXPECT_EQ(detect({"-o", "r", "--resume", "x.tar"}).status, 0);
  EXPECT_EQ(read_text("r"), detect({"x.tar"}).out);
}

// The journal of a run without failures is deleted, and names alone say what is done.
TEST_F(Archives, MembersThatAreDoneAreNotRead) {
  std::vector<TarMember> members = members_of_folder(folder / "in");
  std::erase_if(members, [](const TarMember& member) { return member.bytes == broken_pgm; });
  write_tar(folder / "x.tar", members);
  EXPECT_EQ(detect({"-o", "r", "x.tar"}).status, 0);
  const std::string expected = read_text("r");
  const std::size_t half = expected.find('\n', expected.size() / 2) + 1;
  write_text("r", expected.substr(0, half));
  const auto done = static_cast<std::size_t>(
      std::count(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(half), '\n'));
  for (std::size_t i = 0; i < done; ++i) members[i].bytes.assign(members[i].bytes.size(), 'x');
  write_tar(folder / "x.tar", members);
  EXPECT_EQ(detect({"-o", "r", "--resume", "x.tar"}).status, 0);
  EXPECT_EQ(read_text("r"), expected);
}

TEST_F(Archives, AreResumedWhereTheyWereInterrupted) {
  write_tar(folder / "x.tar", members_of_folder(folder / "in"));
  for (const std::string format : {"jsonl", "csv"}) {
    EXPECT_EQ(detect({"--format", format, "-o", "r", "--resume", "x.tar"}).status, 1);
    ASSERT_NO_FATAL_FAILURE(expect_completed_wherever_torn({"--format", format, "x.tar"}));
    remove({"r", "r.resume"});
  }
}

TEST_F(Archives, ThatHaveChangedAreProcessedAgain) {
  const auto run_again = [&] { return detect({"-o", "r", "--resume", "p"}).status; };
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(1)}, {"b.pgm", "broken"}});
  EXPECT_EQ(run_again(), 1);
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(7)}, {"b.pgm", picture(2)}});
  EXPECT_EQ(run_again(), 0);
  EXPECT_EQ(read_text("r"), detect({"p"}).out);
}

TEST_F(Archives, ThatAreWholeAgainLoseTheirFailure) {
  const auto run_again = [&] { return detect({"-o", "r", "--resume", "p"}).status; };
  write_tar(folder / "whole.tar", {{"a.pgm", picture(1)}, {"b.pgm", picture(2)}});
  const std::string bytes = read_text("whole.tar");
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, bytes.size() / 2}) {
    write_text("p/x.tar", bytes.substr(0, size));
    EXPECT_EQ(run_again(), 1) << size;
    EXPECT_EQ(read_text("r"), detect({"p"}).out);
    EXPECT_EQ(run_again(), 1) << size;
    EXPECT_EQ(read_text("r"), detect({"p"}).out);
    write_text("p/x.tar", bytes);
    EXPECT_EQ(run_again(), 0) << size;
    EXPECT_EQ(read_text("r"), detect({"p"}).out);
    remove({"r", "r.resume"});
  }
}

TEST_F(Archives, ThatWereMovedAreRecognised) {
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(1)}, {"b.pgm", "broken"}});
  EXPECT_EQ(detect({"-o", "r", "p"}).status, 1);
  const std::string before = read_text("r");
  fs::rename(folder / "p", folder / "q");
  EXPECT_EQ(detect({"-o", "r", "--resume", "q"}).status, 1);
  EXPECT_EQ(read_text("r"), before);
  // A copy beside the original is another input, although it has everything in common with it.
  fs::create_directory(folder / "p");
  fs::create_hard_link(folder / "q/x.tar", folder / "p/x.tar");
  EXPECT_EQ(detect({"-o", "s", "q"}).status, 1);
  EXPECT_EQ(detect({"-o", "s", "--resume", "p"}).status, 1);
  EXPECT_EQ(read_text("s"), before + before);
}

TEST_F(Archives, ShardsTogetherHaveTheRecordsOfASingleRun) {
  std::vector<TarMember> halves[2];
  for (TarMember& member : members_of_folder(folder / "in")) {
    auto& half = halves[0].size() > halves[1].size() ? halves[1] : halves[0];
    half.push_back(std::move(member));
  }
  write_tar(folder / "p/first.tar", halves[0], TarFormat::gnu);
  write_tar(folder / "p/second.tar", halves[1], TarFormat::pax);
  write_text("p/noise.tar", std::string(5000, 'x'));
  const Finished single = detect({"p"});
  for (const int count : {2, 5}) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      const std::string part =
          detect({"--shard", std::to_string(i) + "/" + std::to_string(count), "p"}).out;
      EXPECT_NE(part, "");
      all += part;
    }
    EXPECT_EQ(sorted_lines(all), sorted_lines(single.out));
  }
}

}  // namespace
}  // namespace facesat::test
