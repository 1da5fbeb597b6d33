// Archives as inputs: as folders of pictures, which are read without unpacking them; and damaged
// ones.
#include "library/io/archive.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <random>
#include <sstream>

#include "library/support/errors.hpp"
#include "tests/app/sixty_pictures.hpp"
#include "tests/app/tar.hpp"

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
                               {"link.pgm", "a.pgm", Kind::symbolic_link},
                               {"hard.pgm", "a.pgm", Kind::hard_link}});
  const Finished done = run({"detect", "x.tar"});
  EXPECT_EQ(done.status, 0);
  EXPECT_EQ(names(done), Names{"x.tar/a.pgm"});
  EXPECT_NE(done.err.find("skipped: 3 files (1 .json, 1 .mp4, 1 .tar: not read in folders), "
                          "2 links (in archives), "
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
  const auto set_size = [&](std::size_t header, std::uint64_t size) {
    std::ostringstream octal;
    octal << std::oct << std::setfill('0') << std::setw(11) << size;
    bytes.replace(header + 124, 11, octal.str());
    bytes.replace(header + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[header + i]);
    std::ostringstream checksum;
    checksum << std::oct << std::setfill('0') << std::setw(6) << sum << '\0' << ' ';
    bytes.replace(header + 148, 8, checksum.str());
  };
  const std::size_t member = 512 + (small.size() + 511) / 512 * 512;
  constexpr std::uint64_t large = std::uint64_t{300} << 20;
  set_size(0, large);
  set_size(member, std::uint64_t{1} << 32);
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
    members.push_back("damaged");
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

TEST_F(DamagedArchives, CutAnywhereTheyGiveTheMembersBeforeThat) {
  for (const std::string& bytes : whole) {
    write_text(folder / "x.tar", bytes);
    const auto all = read_members(folder / "x.tar");
    ASSERT_EQ(all.size(), 6u);
    std::size_t most = 0;
    for (std::size_t keep = 0; keep <= bytes.size(); keep += 256) {
      write_text(folder / "x.tar", bytes.substr(0, keep));
      auto members = read_members(folder / "x.tar");
      const bool is_damaged = !members.empty() && members.back() == "damaged";
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
