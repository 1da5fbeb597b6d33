#include "datasets/vec_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::training {
namespace {

using namespace std::string_literals;

class VecFile : public ::testing::Test {
 protected:
  VecFile() {
    std::string name = (std::filesystem::temp_directory_path() / "vec-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    file = folder / "samples.vec";
  }
  ~VecFile() override { std::filesystem::remove_all(folder); }

  void write(const std::string& bytes) const { std::ofstream(file, std::ios::binary) << bytes; }
  std::string bytes() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string refusal(std::optional<Size> window = {}) const {
    return test::message_of<UsageError>([&] { read_vec(file, window); });
  }

  std::filesystem::path folder, file;
};

// Two samples of 2 x 2 pixels.
const std::string two =
    "\2\0\0\0\4\0\0\0\0\0\0\0"
    "\0\1\0\2\0\3\0\xFF\0"
    "\0\0\0\0\0\0\0\x80\0"s;

TEST_F(VecFile, HasTheBytesOfCreatesamples) {
  const Samples samples{{2, 2}, {1, 2, 3, 255, 0, 0, 0, 128}};
  write_vec(file, samples);
  EXPECT_EQ(bytes(), two);
  EXPECT_TRUE(is_vec_file(file));
  const Samples again = read_vec(file, std::nullopt);
  EXPECT_EQ(again.window, samples.window);
  EXPECT_EQ(again.pixels, samples.pixels);
  EXPECT_EQ(read_vec(file, Size{4, 1}).window, (Size{4, 1}));
}

TEST_F(VecFile, MayHaveNoSamples) {
  write_vec(file, {{20, 10}, {}});
  EXPECT_EQ(read_vec(file, Size{20, 10}).count(), 0u);
}

TEST_F(VecFile, OfAnotherWindowIsRefused) {
  write_vec(file, {{3, 2}, std::vector<std::uint8_t>(6)});
  EXPECT_TRUE(test::has(refusal(), "6 pixels, which is no square"));
  EXPECT_TRUE(test::has(refusal(Size{2, 2}), "6 pixels, but a window of 2x2 has 4"));
}

TEST_F(VecFile, WhoseLengthIsWrongIsRefused) {
  write(two.substr(0, two.size() - 1));
  EXPECT_FALSE(is_vec_file(file));
  EXPECT_TRUE(
      test::has(refusal(), "2 samples of 4 pixels take 30 bytes, but the file has 29: it is cut"));
  write(two + "x");
  EXPECT_TRUE(test::has(refusal(), "the file has 31"));
  // As many samples as the header can say, without memory for them.
  write("\xFF\xFF\xFF\x7F\0\0\0\1\0\0\0\0"s);
  EXPECT_TRUE(test::has(refusal(), "2147483647 samples of 16777216 pixels"));
  for (const std::string& header :
       {"\xFF\xFF\xFF\xFF\4\0\0\0\0\0\0\0"s, "\1\0\0\0\0\0\0\0\0\0\0\0"s,
        "\1\0\0\0\xFF\xFF\xFF\xFF\0\0\0\0"s, "\2\0\0"s}) {
    write(header);
    EXPECT_TRUE(test::has(refusal(), "this is not a .vec file"));
  }
  std::filesystem::remove(file);
  EXPECT_TRUE(test::has(refusal(), "samples.vec: "));
}

TEST_F(VecFile, WithPixelsThatAreNoneIsRefused) {
  std::string bytes = two;
  bytes[12 + 9 + 1] = '\xFF', bytes[12 + 9 + 2] = '\xFF';
  write(bytes);
  EXPECT_TRUE(test::has(refusal(), "a pixel of sample 2 is -1, and not from 0 to 255"));
}

TEST_F(VecFile, ReplacesOnlyItsOwnKind) {
  write("something that somebody wants to keep");
  EXPECT_THROW(write_vec(file, {{2, 2}, {1, 2, 3, 4}}), UsageError);
  EXPECT_EQ(bytes(), "something that somebody wants to keep");
  write(two);
  write_vec(file, {{2, 2}, {1, 2, 3, 4}});
  EXPECT_EQ(read_vec(file, std::nullopt).count(), 1u);
}

}  // namespace
}  // namespace facesat::training
