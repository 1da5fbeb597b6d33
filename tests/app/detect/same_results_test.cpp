// However the inputs are stored and the work is divided, the results are the same: a single run,
// shards, archives, the ranks of mpirun, with one checksum for all. An `image` is compared from its
// folder or archive on.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "tests/kit/sixty_pictures.hpp"
#include "tests/kit/tar.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

class SameResults : public SixtyPictures {
 protected:
  SameResults() {
    for (int i = 0; i < pictures; ++i)  // some in a folder of their own, as in an archive
      if (i % 3 == 0) {
        fs::create_directory(folder / "in/sub");
        fs::rename(folder / name(i), folder / "in/sub" / fs::path(name(i)).filename());
      }
  }

  // Runs a command of the shell in the folder.
  int shell(const std::string& command) const {
    return std::system(fmt::format("cd '{}' && {}", folder.string(), command).c_str());
  }

  // The checksum that md5sum(1) gives for the sorted records, whose names lack all up to ".tar/".
  std::string md5(std::vector<std::string> files) const {
    std::vector<std::string> lines;
    for (const std::string& file : files) {
      std::istringstream in(read_text(folder / file));
      for (std::string line; std::getline(in, line);) {
        const std::string before = "{\"image\":\"";
        if (const std::size_t at = line.find(".tar/"); at != line.npos)
          line.erase(before.size(), at + 5 - before.size());
        lines.push_back(line + "\n");
      }
    }
    std::sort(lines.begin(), lines.end());
    std::ofstream out(folder / "sorted");
    for (const std::string& line : lines) out << line;
    out.close();
    EXPECT_EQ(shell("md5sum < sorted > sum"), 0);
    return read_text(folder / "sum") + std::to_string(lines.size());
  }

  std::vector<std::string> outputs_of(int count, const std::string& prefix) const {
    std::vector<std::string> files;
    for (int i = 0; i < count; ++i)
      files.push_back(fmt::format("{}-{}-of-{}.jsonl", prefix, i, count));
    return files;
  }

  std::string of_single_run() const {
    EXPECT_EQ(detect({"-r", "-o", "single.jsonl", "in"}).status, 1);  // some are broken
    return md5({"single.jsonl"});
  }
};

TEST_F(SameResults, OfShardsAndArchives) {
  const std::string single = of_single_run();
  EXPECT_TRUE(single.ends_with(std::to_string(pictures)));
  for (int i = 0; i < 5; ++i)
    detect({"-r", "--shard", fmt::format("{}/5", i), "-o", "part-{shard}.jsonl", "in"});
  EXPECT_EQ(md5(outputs_of(5, "part")), single);

  std::vector<TarMember> members = members_of_folder(folder / "in"), halves[2];
  for (std::size_t i = 0; i < members.size(); ++i) halves[i % 2].push_back(members[i]);
  write_tar(folder / "tars/first.tar", halves[0], TarFormat::gnu);
  write_tar(folder / "tars/second.tar", halves[1], TarFormat::pax);
  detect({"-o", "tars.jsonl", "tars"});
  EXPECT_EQ(md5({"tars.jsonl"}), single);
  for (int i = 0; i < 3; ++i)
    detect({"--shard", fmt::format("{}/3", i), "-o", "tars-{shard}.jsonl", "tars"});
  EXPECT_EQ(md5(outputs_of(3, "tars")), single);
}

TEST_F(SameResults, OfTheRanksOfMpirun) {
  if (shell("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "skipped: there is no mpirun";
  const std::string single = of_single_run();
  write_tar(folder / "x.tar", members_of_folder(folder / "in"));
  const auto ranks = [&](const std::string& output, const std::string& inputs) {
    // The ranks end with 1, because some pictures are broken, and mpirun ends the others then.
    return shell(
        fmt::format("mpirun --allow-run-as-root --oversubscribe --mca plm isolated -n 4 sh -c "
                    "\"'{}' detect -q --shard auto -o '{}-{{shard}}.jsonl' {} || true\" 2> said",
                    FACESAT_PROGRAM, output, inputs));
  };
  EXPECT_EQ(ranks("rank", "-r in"), 0) << read_text(folder / "said");
  EXPECT_EQ(md5(outputs_of(4, "rank")), single);
  EXPECT_EQ(ranks("tar", "x.tar"), 0) << read_text(folder / "said");
  EXPECT_EQ(md5(outputs_of(4, "tar")), single);
}

}  // namespace
}  // namespace facesat::test
