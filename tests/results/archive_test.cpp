// Archives as inputs: as folders of pictures, which are read without unpacking them; and damaged
// ones.
#include "results/archive.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include <sys/resource.h>

#include "media/codec.hpp"
#include "support/errors.hpp"
#include "tests/kit/sixty_pictures.hpp"
#include "tests/kit/tar.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Archives : public SixtyPictures {
 protected:
  static std::vector<std::string> names(const Finished& done) {
    std::vector<std::string> result;
    for (const Json& record : done.records()) result.push_back(record["image"]);
    return result;
  }

  // The text without "x.tar/" before the names.
  static std::string without(const std::string& prefix, std::string text) {
    const std::string before = "\"image\":\"";
    for (std::size_t at = 0; (at = text.find(before + prefix, at)) != text.npos;)
      text.erase(at + before.size(), prefix.size());
    return text;
  }

  std::string picture(int variant = 0) const {
    add_face("made.pgm", variant);
    return read_text(folder / "made.pgm");
  }
};
using Names = std::vector<std::string>;

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
  EXPECT_EQ(names(detect({"p"})), in_p);
  EXPECT_EQ(names(detect({"-r", "p"})),
            (Names{"a.pgm", "q/Y.TAR/c.pgm", "x.tar/a.pgm", "x.tar/sub/b.pgm", "z.pgm"}));
  EXPECT_EQ(names(detect({"p/q/../x.tar", "p/z.pgm"})),
            (Names{"p/q/../x.tar/a.pgm", "p/q/../x.tar/sub/b.pgm", "p/z.pgm"}));
  EXPECT_EQ(names(detect({"-"}, "p/q/Y.TAR\np/a.pgm\n")), (Names{"p/q/Y.TAR/c.pgm", "p/a.pgm"}));
  fs::create_directory(folder / "p/folder.tar");
  add_face("p/folder.tar/d.pgm");
  EXPECT_EQ(names(detect({"p/folder.tar"})), Names{"d.pgm"});
  EXPECT_EQ(names(detect({"p"})), in_p);
}

TEST_F(Archives, NamesOfEveryKind) {
  const std::string longer = std::string(150, 'l') + "/" + std::string(120, 'm') + ".pgm";
  for (const TarFormat format : {TarFormat::pax, TarFormat::gnu}) {
    write_tar(folder / "x.tar",
              {{"./a.pgm", picture()}, {"ü/ö.pgm", picture()}, {longer, picture()}}, format);
    EXPECT_EQ(names(detect({"x.tar"})), (Names{"x.tar/a.pgm", "x.tar/ü/ö.pgm", "x.tar/" + longer}));
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
  EXPECT_EQ(names(done), Names{"x.tar/a.pgm"});
  EXPECT_NE(done.err.find("skipped: 3 files (1 .json, 1 .mp4, 1 .tar: not read in folders), "
                          "2 links (in archives), "
                          "3 special files (pipes, devices, and folders in archives, that are "
                          "named like pictures), "
                          "2 hidden names (give hidden files and folders by name)"),
            std::string::npos)
      << done.err;
}

// Names of members can lead anywhere; pictures stay in the folder for them.
TEST_F(Archives, NoPictureLeavesItsFolder) {
  write_tar(folder / "sub/x.tar", {{"../e.pgm", picture(1)},
                                   {"../../../e.pgm", picture(2)},
                                   {(folder / "abs/f.pgm").string(), picture(3)},
                                   {"g/./h/../../../i.pgm", picture(4)},
                                   {"j.pgm", picture(5)}});
  fs::remove(folder / "made.pgm");
  fs::remove_all(folder / "in");
  const Finished done = detect({"--annotate", "out/boxes", "--crops", "out/crops", "sub"});
  EXPECT_EQ(done.status, 0) << done.out;
  EXPECT_EQ(names(done).at(0), "x.tar/../e.pgm");
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
  write_text(folder / "p/empty.tar", "");
  write_text(folder / "p/noise.tar", std::string(5000, 'x'));
  add_face("p/z.pgm");
  const Finished done = detect({"p", "missing.tar"});
  EXPECT_EQ(done.status, 1);
  const auto records = done.records();
  ASSERT_EQ(records.size(), 4u) << done.out;
  EXPECT_EQ(names(done), (Names{"empty.tar", "noise.tar", "z.pgm", "missing.tar"}));
  for (const std::size_t i : {0, 1, 3}) EXPECT_EQ(records[i]["error"]["kind"], "read");
  EXPECT_EQ(records[0]["error"]["message"], "the file is empty");
  EXPECT_NE(records[1]["error"]["message"].get<std::string>().find("not a tar archive"),
            std::string::npos);
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
  ASSERT_EQ(names(done), (Names{"x.tar/a.pgm", "x.tar/b.pgm", "x.tar", "z.pgm"}));
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
  std::string bytes = read_text(folder / "x.tar");
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
  EXPECT_EQ(names(done), (Names{"x.tar/a.pgm", "x.tar/b.pgm", "x.tar"}));
  const auto records = done.records();
  EXPECT_EQ(records[0]["error"]["kind"], "limit");
  EXPECT_EQ(records[1]["error"]["kind"], "limit");
  EXPECT_EQ(records[2]["error"]["kind"], "read");
}

// Members as text; the reason why there are no more comes last.
std::vector<std::string> read_members(const fs::path& file) {
  std::vector<std::string> members;
  try {
    Archive archive(file);
    while (const auto member = archive.next()) {
      std::string text = member->name + ": ";
      try {
        if (!member->is_link)
          for (const unsigned char byte : member->read()) text += static_cast<char>(byte);
      } catch (const InputError& error) {
        text += "error " + error.kind;
      }
      members.push_back(text);
    }
  } catch (const InputError& error) {
    members.emplace_back("damaged");
  }
  return members;
}

class DamagedArchives : public Archives {
 protected:
  DamagedArchives() {
    std::vector<TarMember> members;
    for (int i = 0; i < 6; ++i)
      members.push_back(
          {std::string(i == 3 ? 200 : 5, 'n') + std::to_string(i) + ".pgm",
           std::string(static_cast<std::size_t>(700 * i), static_cast<char>('a' + i))});
    for (const TarFormat format : {TarFormat::ustar, TarFormat::pax, TarFormat::gnu}) {
      if (format == TarFormat::ustar) members[3].name = "short.pgm";
      write_tar(folder / "whole.tar", members, format);
      if (format == TarFormat::ustar) members[3].name = std::string(200, 'n') + "3.pgm";
      whole.push_back(read_text(folder / "whole.tar"));
    }
  }
  std::vector<std::string> whole;  // archives
};

// Where the zeros begin that end an archive.
std::size_t end_of_members(const std::string& archive) {
  return (archive.find_last_not_of('\0') / 512 + 1) * 512;
}

TEST_F(DamagedArchives, CutAnywhereTheyGiveTheMembersBeforeThat) {
  for (const std::string& bytes : whole) {
    write_text(folder / "x.tar", bytes);
    const auto all = read_members(folder / "x.tar");
    ASSERT_EQ(all.size(), 6u);
    const std::size_t end_marker = 2 * 512, end = end_of_members(bytes) + end_marker;
    std::size_t most = 0;
    for (std::size_t keep = 0; keep <= bytes.size(); keep += 256) {
      write_text(folder / "x.tar", bytes.substr(0, keep));
      auto members = read_members(folder / "x.tar");
      const bool is_damaged = !members.empty() && members.back() == "damaged";
      EXPECT_EQ(is_damaged, keep < end) << keep;
      if (is_damaged) members.pop_back();
      const bool is_torn = !members.empty() && members.back().ends_with(": error read");
      EXPECT_LE(is_torn, is_damaged) << keep;
      if (is_torn) members.pop_back();
      ASSERT_LE(members.size(), all.size());
      EXPECT_TRUE(std::equal(members.begin(), members.end(), all.begin())) << keep;
      EXPECT_GE(members.size(), most) << keep;
      most = members.size();
    }
    EXPECT_EQ(most, 6u);
  }
}

// Whatever a damaged archive seems to hold, reading it ends.
TEST_F(DamagedArchives, FlippedBytesDoNoHarm) {
  std::mt19937 random(3);
  int noticed = 0;
  for (const std::string& bytes : whole)
    for (std::size_t at = 0; at < bytes.size(); at += 1 + random() % 200) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 + random() % 255));
      write_text(folder / "x.tar", damaged);
      const auto members = read_members(folder / "x.tar");
      EXPECT_LE(members.size(), bytes.size() / 512) << at;
      noticed += !members.empty() && members.back() == "damaged";
    }
  EXPECT_GT(noticed, 0);
}

using Members = std::vector<std::string>;

// Members of one block each, with a header in front.
class EndsOfArchives : public Archives {
 protected:
  static std::string file(char name) {
    return tar_header(std::string(1, name), 3) + "abc" + std::string(509, '\0');
  }
  static std::string files(const std::string& names) {
    std::string bytes;
    for (const char name : names) bytes += file(name);
    return bytes;
  }
  static std::string zeros(std::size_t blocks) { return std::string(512 * blocks, '\0'); }
  // Of an archive with these bytes: the names of members, and "!" if it is damaged.
  std::string names_in(const std::string& bytes) const {
    write_text(folder / "x.tar", bytes);
    std::string names;
    for (const std::string& member : read_members(folder / "x.tar"))
      names += member == "damaged" ? "!" : member.substr(0, member.find(": abc"));
    return names;
  }
  std::string message_about(const std::string& bytes) const {
    write_text(folder / "x.tar", bytes);
    try {
      Archive archive(folder / "x.tar");
      while (archive.next()) {
      }
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(EndsOfArchives, AreTwoBlocksOfZerosAndZerosAfterThem) {
  for (const std::size_t blocks : {2, 3, 20, 3000}) {
    EXPECT_EQ(names_in(files("ab") + zeros(blocks)), "ab") << blocks;
    EXPECT_EQ(names_in(files("ab") + zeros(blocks) + std::string(7, '\0')), "ab") << blocks;
    EXPECT_EQ(names_in(files("ab") + zeros(blocks) + "x"), "ab!") << blocks;
    EXPECT_EQ(names_in(files("ab") + zeros(blocks) + std::string(5000, 'x')), "ab!") << blocks;
    EXPECT_EQ(names_in(zeros(blocks)), "") << blocks;
  }
  EXPECT_EQ(names_in(files("ab") + zeros(1)), "ab!");
  EXPECT_EQ(names_in(files("ab") + zeros(1) + std::string(511, '\0')), "ab!");
  EXPECT_EQ(names_in(files("ab")), "ab!");
  EXPECT_EQ(names_in(zeros(1)), "!");
  EXPECT_NE(message_about(files("ab")).find("without an end marker"), std::string::npos)
      << message_about(files("ab"));
}

TEST_F(EndsOfArchives, AreNotWhereOtherArchivesFollow) {
  for (const std::size_t blocks : {2, 3, 20})
    for (const std::size_t more : {2, 18}) {
      EXPECT_EQ(names_in(files("ab") + zeros(blocks) + files("cd") + zeros(more) + files("e") +
                         zeros(more)),
                "abcde");
      EXPECT_EQ(names_in(zeros(blocks) + files("c") + zeros(more)), "c");
      EXPECT_EQ(names_in(files("ab") + zeros(blocks) + files("cd")), "abcd!");
    }
  std::string all, expected;
  for (const TarFormat format : {TarFormat::pax, TarFormat::gnu, TarFormat::ustar}) {
    const std::string one(format == TarFormat::ustar ? 5 : 300,
                          static_cast<char>('a' + expected.size()));
    write_tar(folder / "y.tar", {{one, "abc"}}, format);
    all += read_text(folder / "y.tar");
    expected += one;
  }
  EXPECT_EQ(names_in(all), expected);
}

// What is lost is reported, and what can be recognised after it is read.
TEST_F(EndsOfArchives, WhatInterruptsAnArchiveLosesNoOtherMember) {
  const std::string end = zeros(2), data = "abc" + std::string(509, '\0');
  std::string broken = file('b');
  broken[0] = 'x';  // the header's checksum is wrong
  for (const std::string& interruption :
       {zeros(1), zeros(1) + data, zeros(3) + data, broken, std::string(512, 'x'),
        std::string(100'000, 'x'), std::string(37, 'x'), zeros(1) + std::string(37, 'x'),
        std::string("a message\n"), std::string(70'000, 'u')}) {
    EXPECT_EQ(names_in(files("a") + interruption + files("cd") + end), "acd!")
        << interruption.size();
    EXPECT_EQ(names_in(interruption + files("cd") + end), "cd!") << interruption.size();
    EXPECT_EQ(names_in(files("a") + end + interruption.substr(0, 512) + "x" + interruption +
                       files("cd") + end),
              "acd!")
        << interruption.size();
    EXPECT_EQ(names_in(files("a") + interruption + files("c") + interruption + files("d") + end),
              "acd!")
        << interruption.size();
  }
  const std::string message = message_about(files("ab") + zeros(1) + files("cd") + end);
  EXPECT_NE(message.find("damaged after byte 2048"), std::string::npos) << message;
}

// Headers that stand for no member: of a volume's label, and for all members.
TEST_F(EndsOfArchives, MayFollowHeadersWithoutAMember) {
  const std::string comment = "11 comment=a\n";
  const std::string global = tar_header("pax_global_header", comment.size(), 'g') + comment +
                             std::string(512 - comment.size(), '\0');
  const std::string label = tar_header("label", 0, 'V');
  for (const std::string& header : {global, label}) {
    EXPECT_EQ(names_in(header + files("ab") + zeros(2)), "ab");
    EXPECT_EQ(names_in(header + zeros(2)), "");
    EXPECT_EQ(names_in(files("ab") + header + zeros(2)), "ab");
    EXPECT_EQ(names_in(files("ab") + header + zeros(1)), "ab!");
    EXPECT_EQ(names_in(files("ab") + header), "ab!");
    EXPECT_EQ(names_in(files("ab") + header + header + zeros(2) + files("cd") + zeros(2)), "abcd");
  }
  const std::string of_member =
      tar_header("x", comment.size(), 'x') + comment + std::string(512 - comment.size(), '\0');
  EXPECT_EQ(names_in(files("a") + of_member + file('b') + zeros(2)), "ab");
  EXPECT_EQ(names_in(files("a") + of_member + zeros(2)), "a!") << "its member is missing";
  EXPECT_EQ(names_in(files("a") + of_member + zeros(2) + files("c") + zeros(2)), "ac!");
}

TEST_F(EndsOfArchives, AreWhereASizeSaysEvenAfterSparseMembersAndLinks) {
  // A symbolic link with a size, which some programs write, has no data.
  EXPECT_EQ(names_in(tar_header("l", 3, '2') + files("ab") + zeros(2)), "l: ab");
  const std::string full = tar_header("f", 512) + std::string(512, '\0');
  EXPECT_EQ(names_in(full + files("a") + zeros(2)).substr(0, 2), "f:");
  EXPECT_EQ(names_in(full + files("a")).back(), '!');
}

TEST_F(EndsOfArchives, AreNotWhereAnArchiveIsCutWhileItIsRead) {
  write_text(folder / "x.tar", files("abc") + zeros(20));
  Archive archive(folder / "x.tar");
  ASSERT_TRUE(archive.next());
  fs::resize_file(folder / "x.tar", 512);
  EXPECT_THROW(while (archive.next()){}, InputError);
}

TEST_F(Archives, ThatAreCompressedAreRefusedByThatName) {
  write_tar(folder / "x.tar", {{"BZh.pgm", picture()}});  // begins as bzip2 does
  EXPECT_EQ(names(detect({"x.tar"})), Names{"x.tar/BZh.pgm"});
  const std::map<std::string, std::string> beginnings{{"gzip", "\x1F\x8B\x08"},
                                                      {"bzip2", "BZh91AY"},
                                                      {"xz", std::string("\xFD"
                                                                         "7zXZ\0",
                                                                         6)},
                                                      {"zstd", "\x28\xB5\x2F\xFD"}};
  for (const auto& [method, beginning] : beginnings)
    for (const std::string name :
         {"p/x.tar", "p/x.tar.gz", "p/x.TGZ", "p/x.tar.xz", "p/x.tar.zst", "p/x.tar.bz2"}) {
      write_text(folder / name, beginning + std::string(3000, 'x'));
      const Finished done = detect({name});
      EXPECT_EQ(done.status, 1);
      ASSERT_EQ(names(done), Names{name});
      const std::string message = done.records()[0]["error"]["message"];
      EXPECT_NE(message.find("compressed with " + method), std::string::npos) << message;
      fs::remove(folder / name);
    }
}

TEST_F(Archives, ReportWhatInterruptsThem) {
  write_tar(folder / "p/x.tar",
            {{"a.pgm", picture(1)}, {"b.pgm", picture(2)}, {"c.pgm", picture(3)}},
            TarFormat::ustar);
  const std::string whole = read_text(folder / "p/x.tar");
  std::string damaged = whole;
  const std::size_t second = whole.find("b.pgm");
  damaged.replace(second, 512, std::string(512, '\0'));
  write_text(folder / "p/x.tar", damaged);
  write_text(folder / "list", "p/x.tar\n");
  for (const Finished& done : {detect({"p"}), detect({"p/x.tar"}), detect({"@list"})}) {
    EXPECT_EQ(done.status, 1);
    const std::string in_front = names(done).at(0).starts_with("p/") ? "p/" : "";
    ASSERT_EQ(names(done),
              (Names{in_front + "x.tar/a.pgm", in_front + "x.tar/c.pgm", in_front + "x.tar"}));
    EXPECT_EQ(done.records()[2]["error"]["kind"], "read");
  }
  // When the archive is whole again, the error is gone.
  EXPECT_EQ(detect({"-o", "r", "--resume", "p"}).status, 1);
  write_text(folder / "p/x.tar", whole);
  EXPECT_EQ(detect({"-o", "r", "--resume", "p"}).status, 0);
  EXPECT_EQ(parse_records(read_text(folder / "r")).size(), 3u);
}

// The archive is replaced while a run reads its members: the records are of the old one.
TEST_F(Archives, ThatAreReplacedMeanwhileAreProcessedAgain) {
  std::vector<TarMember> members;
  for (int i = 0; i < 200; ++i) members.push_back({std::to_string(1000 + i) + ".pgm", picture(1)});
  write_tar(folder / "x.tar", members);
  for (TarMember& member : members) member.bytes = picture(40);
  write_tar(folder / "new.tar", members);
  const Running running = start({"detect", "-q", "-j", "1", "--resume", "-o", "r", "x.tar"});
  while (read_text(folder / "r").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  fs::rename(folder / "new.tar", folder / "x.tar");
  EXPECT_EQ(running.wait().status, 0);
  EXPECT_EQ(detect({"--resume", "-o", "r", "x.tar"}).status, 0);
  EXPECT_EQ(read_text(folder / "r"), detect({"x.tar"}).out);
}

// The limit on the size of files is for those that the program writes.
TEST_F(Archives, AreReadWhateverTheLimitOnFiles) {
  Image<Bgr> large({400, 300});
  std::mt19937 random(5);
  for (int y = 0; y < 300; ++y)
    for (int x = 0; x < 400; ++x) large.row(y)[x].g = static_cast<std::uint8_t>(random());
  const std::vector<unsigned char> bytes = encode_picture(large.view(), ".png");
  write_tar(folder / "x.tar", {{"a.png", {bytes.begin(), bytes.end()}}});
  const auto limited = [&](const std::string& input) {
    return run({"detect", "-q", "-o", "r", input}, "", [] {
      const rlimit limit{20'000, 20'000};  // bytes per file
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
  };
  ASSERT_GT(bytes.size(), 20'000u);
  const Finished done = limited("x.tar");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(read_text(folder / "r"), detect({"x.tar"}).out);
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
  const Finished done = run({"detect", "-q", "-o", "r", "x.tar"}, "", [] {
    const rlimit limit{5000, 5000};  // bytes per file; the picture has 12,000
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(done.status, 3);
  EXPECT_NE(done.err.find("ulimit -f"), std::string::npos) << done.err;
  EXPECT_EQ(detect({"-o", "r", "--resume", "x.tar"}).status, 0);
  EXPECT_EQ(read_text(folder / "r"), detect({"x.tar"}).out);
}

// The journal of a run without failures is deleted, and names alone say what is done.
TEST_F(Archives, MembersThatAreDoneAreNotRead) {
  std::vector<TarMember> members = members_of_folder(folder / "in");
  std::erase_if(members, [](const TarMember& member) { return member.bytes == "broken"; });
  write_tar(folder / "x.tar", members);
  EXPECT_EQ(detect({"-o", "r", "x.tar"}).status, 0);
  const std::string expected = read_text(folder / "r");
  const std::size_t half = expected.find('\n', expected.size() / 2) + 1;
  write_text(folder / "r", expected.substr(0, half));
  const auto done = static_cast<std::size_t>(
      std::count(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(half), '\n'));
  for (std::size_t i = 0; i < done; ++i) members[i].bytes.assign(members[i].bytes.size(), 'x');
  write_tar(folder / "x.tar", members);
  EXPECT_EQ(detect({"-o", "r", "--resume", "x.tar"}).status, 0);
  EXPECT_EQ(read_text(folder / "r"), expected);
}

TEST_F(Archives, AreResumedWhereTheyWereInterrupted) {
  write_tar(folder / "x.tar", members_of_folder(folder / "in"));
  for (const std::string format : {"jsonl", "csv"}) {
    const std::vector<std::string> arguments{"--format", format, "-o", "r", "--resume", "x.tar"};
    EXPECT_EQ(detect(arguments).status, 1);
    const std::string expected = read_text(folder / "r"), journal = read_text(folder / "r.resume");
    for (std::size_t keep = 1; keep < expected.size(); keep += 997) {
      write_text(folder / "r", expected.substr(0, keep));
      write_text(folder / "r.resume", journal);
      detect(arguments);
      ASSERT_EQ(read_text(folder / "r"), expected) << keep;
      ASSERT_EQ(read_text(folder / "r.resume"), journal) << keep;
    }
    for (const char* name : {"r", "r.resume"}) fs::remove(folder / name);
  }
}

TEST_F(Archives, ThatHaveChangedAreProcessedAgain) {
  const auto run_again = [&] { return detect({"-o", "r", "--resume", "p"}).status; };
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(1)}, {"b.pgm", "broken"}});
  EXPECT_EQ(run_again(), 1);
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(7)}, {"b.pgm", picture(2)}});
  EXPECT_EQ(run_again(), 0);
  EXPECT_EQ(read_text(folder / "r"), detect({"p"}).out);
}

TEST_F(Archives, ThatAreWholeAgainLoseTheirFailure) {
  const auto run_again = [&] { return detect({"-o", "r", "--resume", "p"}).status; };
  write_tar(folder / "whole.tar", {{"a.pgm", picture(1)}, {"b.pgm", picture(2)}});
  const std::string bytes = read_text(folder / "whole.tar");
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, bytes.size() / 2}) {
    write_text(folder / "p/x.tar", bytes.substr(0, size));
    EXPECT_EQ(run_again(), 1) << size;
    EXPECT_EQ(read_text(folder / "r"), detect({"p"}).out);
    EXPECT_EQ(run_again(), 1) << size;
    EXPECT_EQ(read_text(folder / "r"), detect({"p"}).out);
    write_text(folder / "p/x.tar", bytes);
    EXPECT_EQ(run_again(), 0) << size;
    EXPECT_EQ(read_text(folder / "r"), detect({"p"}).out);
    for (const char* name : {"r", "r.resume"}) fs::remove(folder / name);
  }
}

TEST_F(Archives, ThatWereMovedAreRecognised) {
  write_tar(folder / "p/x.tar", {{"a.pgm", picture(1)}, {"b.pgm", "broken"}});
  EXPECT_EQ(detect({"-o", "r", "p"}).status, 1);
  const std::string before = read_text(folder / "r");
  fs::rename(folder / "p", folder / "q");
  EXPECT_EQ(detect({"-o", "r", "--resume", "q"}).status, 1);
  EXPECT_EQ(read_text(folder / "r"), before);
  // A copy beside the original is another input, although it has everything in common with it.
  fs::create_directory(folder / "p");
  fs::create_hard_link(folder / "q/x.tar", folder / "p/x.tar");
  EXPECT_EQ(detect({"-o", "s", "q"}).status, 1);
  EXPECT_EQ(detect({"-o", "s", "--resume", "p"}).status, 1);
  EXPECT_EQ(read_text(folder / "s"), before + before);
}

TEST_F(Archives, ShardsTogetherHaveTheRecordsOfASingleRun) {
  write_tar(folder / "p/x.tar", members_of_folder(folder / "in"));
  write_text(folder / "p/noise.tar", std::string(5000, 'x'));
  const auto lines = [](const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> result;
    for (std::string line; std::getline(in, line);) result.push_back(line);
    std::sort(result.begin(), result.end());
    return result;
  };
  const Finished single = detect({"p"});
  for (const int count : {2, 5}) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      const std::string part =
          detect({"--shard", std::to_string(i) + "/" + std::to_string(count), "p"}).out;
      EXPECT_NE(part, "");
      all += part;
    }
    EXPECT_EQ(lines(all), lines(single.out));
  }
}

}  // namespace
}  // namespace facesat::test
