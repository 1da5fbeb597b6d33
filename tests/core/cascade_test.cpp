#include "core/cascade.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/kit/cascades.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

// A temporary folder for each test, deleted at its end.
class LoadCascade : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "facesat-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  // Expects an error whose message begins with the file's name and contains `words`.
  void expect_refused(const fs::path& file, const std::string& words) const {
    try {
      load_cascade(file);
      ADD_FAILURE() << "accepted";
    } catch (const CascadeError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find(file.string()), 0u) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
    }
  }

  fs::path folder_;
};

TEST_F(LoadCascade, IsNamedAfterItsFile) {
  const Cascade cascade = load_cascade(write("small.face.xml", stump_cascade()));
  EXPECT_EQ(cascade.name, "small.face");
  EXPECT_EQ(cascade.window, (Size{12, 10}));
  EXPECT_EQ(load_cascade(write("small", stump_cascade())).name, "small");
  EXPECT_EQ(load_cascade(write("eyes.v2.xml.gz", stump_cascade())).name, "eyes.v2");
}

TEST_F(LoadCascade, RefusesWhatIsNotAFile) {
  expect_refused(folder_, "this is a folder, not a file; expected a file with");
  expect_refused(folder_ / "none.xml", "No such file or directory");
  expect_refused(write("a.xml", "x") / "b.xml", "Not a directory");
}

// Opening a pipe would wait for its writer, and reading /dev/zero would never end.
TEST_F(LoadCascade, RefusesPipesAndDevicesAtOnce) {
  const fs::path pipe = folder_ / "pipe.xml", link = folder_ / "link.xml";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(pipe, "this is a pipe, not a file");
  fs::create_symlink(pipe, link);
  expect_refused(link, "this is a pipe, not a file");
  expect_refused("/dev/zero", "this is a device, not a file");
}

// A pipe may replace the file after load_cascade() has examined the name and before it opens the
// file. It then refuses the pipe; otherwise it reads the file.
TEST_F(LoadCascade, NeverWaitsForAPipeThatReplacesAFile) {
  const fs::path file = write("a.xml", stump_cascade()), pipe = folder_ / "pipe";
  const fs::path copy = write("copy.xml", stump_cascade());
  std::atomic<bool> done = false;
  const std::jthread replacing([&] {
    while (!done) {
      mkfifo(pipe.c_str(), 0600);
      fs::rename(pipe, file);
      fs::copy_file(copy, folder_ / "next.xml", fs::copy_options::overwrite_existing);
      fs::rename(folder_ / "next.xml", file);
    }
  });
  int refused = 0, read = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      read += load_cascade(file).stages.size() == 2;
    } catch (const CascadeError& error) {
      EXPECT_NE(std::string(error.what()).find("this is a pipe"), std::string::npos)
          << error.what();
      ++refused;
    }
  }
  done = true;
  EXPECT_EQ(refused + read, 300);
}

TEST_F(LoadCascade, RefusesDamagedFilesByNameAndLine) {
  expect_refused(write("empty.xml", ""), ", line 1: this file is empty");
  expect_refused(write("text.xml", "<?xml?>\n\n<a>"), ", line 3: expected <opencv_storage>");
}

TEST_F(LoadCascade, RefusesFilesOfMoreThan16MiB) {
  constexpr std::size_t limit = 16 << 20;
  std::string text = stump_cascade();
  text.resize(limit, ' ');
  EXPECT_EQ(load_cascade(write("limit.xml", text)).stages.size(), 2u);
  expect_refused(write("above.xml", text + " "), "larger than 16 MiB");
  EXPECT_THROW(parse_cascade(text + " ", "text"), CascadeError);
}

TEST_F(LoadCascade, RefusesFilesThatMayNotBeRead) {
  const fs::path file = write("secret.xml", stump_cascade());
  fs::permissions(file, fs::perms::none);
  if (geteuid() == 0) GTEST_SKIP() << "skipped: root may read everything";
  expect_refused(file, "Permission denied");
}

TEST(CascadeModel, KnowsWhetherItHasTiltedFeaturesAndTrees) {
  Cascade cascade = half_cascade({8, 8}, 0, 1, 0);
  EXPECT_TRUE(cascade.is_stumps());
  EXPECT_FALSE(cascade.has_tilted());
  EXPECT_EQ(cascade.feature_count(), 1u);
  cascade.trees.push_back({1, 2, 2});
  cascade.haar.push_back({.parts = {}, .tilted = true});
  EXPECT_FALSE(cascade.is_stumps());
  EXPECT_TRUE(cascade.has_tilted());
  EXPECT_EQ(cascade.feature_count(), 2u);
}

}  // namespace
}  // namespace facesat::test
