// Archives read member by member: damaged ones, and where they end.
#include "results/archive.hpp"

#include <algorithm>
#include <random>

#include "support/errors.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

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

class DamagedArchives : public ProgramTest {
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
      whole.push_back(read_text("whole.tar"));
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
    write_text("x.tar", bytes);
    const auto all = read_members(folder / "x.tar");
    ASSERT_EQ(all.size(), 6u);
    const std::size_t end_marker = 2 * 512, end = end_of_members(bytes) + end_marker;
    std::size_t most = 0;
    for (std::size_t keep = 0; keep <= bytes.size(); keep += 256) {
      write_text("x.tar", bytes.substr(0, keep));
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
      write_text("x.tar", damaged);
      const auto members = read_members(folder / "x.tar");
      EXPECT_LE(members.size(), bytes.size() / 512) << at;
      noticed += !members.empty() && members.back() == "damaged";
    }
  EXPECT_GT(noticed, 0);
}

// Members of one block each, with a header in front.
class EndsOfArchives : public ProgramTest {
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
    write_text("x.tar", bytes);
    std::string names;
    for (const std::string& member : read_members(folder / "x.tar"))
      names += member == "damaged" ? "!" : member.substr(0, member.find(": abc"));
    return names;
  }
  std::string message_about(const std::string& bytes) const {
    write_text("x.tar", bytes);
    return message_of<InputError>([&] {
      Archive archive(folder / "x.tar");
      while (archive.next()) {
      }
    });
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
  EXPECT_TRUE(has(message_about(files("ab")), "without an end marker"));
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
    all += read_text("y.tar");
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
  EXPECT_TRUE(has(message, "damaged after byte 2048"));
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
  write_text("x.tar", files("abc") + zeros(20));
  Archive archive(folder / "x.tar");
  ASSERT_TRUE(archive.next());
  fs::resize_file(folder / "x.tar", 512);
  EXPECT_THROW(while (archive.next()){}, InputError);
}

}  // namespace
}  // namespace facesat::test
