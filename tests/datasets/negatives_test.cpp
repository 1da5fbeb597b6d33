#include "datasets/negatives.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/pictures.hpp"
#if FACESAT_READS_VIDEOS
#include "tests/kit/video.hpp"
#endif

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

class NegativesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    earlier_ = fs::current_path();
    const fs::path folder =
        fs::path(::testing::TempDir()) / ("facesat_negatives_test" + std::to_string(::getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder / "in");
    fs::current_path(folder);
    for (const char* name : {"in/a.png", "in/b.png", "c.png"})
      write_picture(name, test::coloured(test::noise({30, 20}, name[0] + name[3]).view()).view());
  }
  void TearDown() override {
    const fs::path folder = fs::current_path();
    fs::current_path(earlier_);
    fs::remove_all(folder);
  }

  static std::vector<std::string> names(const Negatives& negatives) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < negatives.count(); ++i) all.push_back(negatives.name(i));
    return all;
  }
  using Names = std::vector<std::string>;

  fs::path earlier_;
};

TEST_F(NegativesTest, AreFoundAsInputsOfDetect) {
  write_text("list", "c.png\nin/b.png\n");
  EXPECT_EQ(names(Negatives({.inputs = {"c.png", "in", "@list"}})),
            (Names{"c.png", "a.png", "b.png", "c.png", "in/b.png"}));
}

TEST_F(NegativesTest, ListsOfTheOldTrainer) {
  write_text("in/bg.txt", "a.png\r\n#b.png\n\nb.png  \nc.png\n../c.png\nmissing.png\n");
  // c.png is not beside the list, but in the working directory.
  EXPECT_EQ(names(Negatives({.inputs = {"in/bg.txt"}})),
            (Names{"in/a.png", "in/b.png", "c.png", "in/../c.png", "in/missing.png"}));
  write_text("bg", std::string("a\0b\n", 4));
  EXPECT_THROW(Negatives({.inputs = {"bg"}}), UsageError);
}

TEST_F(NegativesTest, PicturesWithoutExtensionAreNoLists) {
  fs::copy("c.png", "picture");
  Negatives negatives({.inputs = {"picture"}});
  ASSERT_EQ(names(negatives), (Names{"picture"}));
  EXPECT_EQ(negatives.read(0, {})->picture->size(), (Size{30, 20}));
}

TEST_F(NegativesTest, Archives) {
  test::write_tar(fs::absolute("x.tar"), test::members_of_folder("in"));
  Negatives negatives({.inputs = {"x.tar", "in"}});
  EXPECT_EQ(names(negatives), (Names{"x.tar/a.png", "x.tar/b.png", "a.png", "b.png"}));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto packed = negatives.read(i, {})->picture, plain = negatives.read(i + 2, {})->picture;
    for (int y = 0; y < 20; ++y)
      EXPECT_TRUE(std::equal(packed->row(y), packed->row(y) + 30, plain->row(y)));
  }
}

TEST_F(NegativesTest, AnnotatedPicturesFollowWithTheirObjects) {
  const AnnotatedObject object{{1, 2, 3, 4}, "car", false};
  NegativeSources sources{.inputs = {"c.png"}};
  sources.annotated.pictures = {{"in/a.png", "a", {object}}, {"in/b.png", "b", {}}};
  Negatives negatives(std::move(sources));
  EXPECT_EQ(names(negatives), (Names{"c.png", "a", "b"}));
  EXPECT_TRUE(negatives.objects(0).empty());
  ASSERT_EQ(negatives.objects(1).size(), 1u);
  EXPECT_EQ(negatives.objects(1)[0], object.box);
  EXPECT_TRUE(negatives.objects(2).empty());
  EXPECT_EQ(negatives.read(2, {})->picture->size(), (Size{30, 20}));
}

TEST_F(NegativesTest, AreKeptWhileThereIsRoom) {
  Negatives negatives({.inputs = {"in/a.png", "in/b.png"}, .kept_bytes = 600});
  const auto first = negatives.read(0, {})->picture, second = negatives.read(1, {})->picture;
  fs::remove_all("in");
  EXPECT_EQ(negatives.read(0, {})->picture, first);
  const auto broken = negatives.read(1, {});
  EXPECT_FALSE(broken->picture);
  EXPECT_FALSE(broken->warning.empty());
}

TEST_F(NegativesTest, WhatCannotBeReadIsNamed) {
  EXPECT_THROW(Negatives({}), UsageError);
  fs::create_directory("empty");
  EXPECT_THROW(Negatives({.inputs = {"empty"}}), UsageError);
  EXPECT_THROW(Negatives({.inputs = {"@missing"}}), UsageError);
  write_text("broken.tar", "no archive");
  Negatives negatives({.inputs = {"broken.tar", "c.png"}});
  ASSERT_EQ(negatives.warnings().size(), 1u);
  EXPECT_TRUE(negatives.warnings()[0].starts_with("broken.tar: "));
  EXPECT_THROW(negatives.read(0, [] { return true; }), Stopped);
}

TEST_F(NegativesTest, ChecksumIsOfTheNamesInTheirOrder) {
  const auto checksum = [](Names inputs) { return Negatives({.inputs = inputs}).checksum(); };
  EXPECT_EQ(checksum({"in/a.png", "c.png"}), checksum({"in/a.png", "c.png"}));
  EXPECT_NE(checksum({"in/a.png", "c.png"}), checksum({"c.png", "in/a.png"}));
}

#if FACESAT_READS_VIDEOS
int brightness(Negatives& negatives, std::size_t picture) {
  return negatives.read(picture, {})->picture->row(24)[32];
}

// Frame i has the grey value 8 i.
TEST_F(NegativesTest, FramesOfVideos) {
  test::write_video("v.avi", 25, 10);
  Negatives some({.inputs = {"v.avi", "c.png"}, .frames = {.every = 8}, .kept_bytes = 0});
  EXPECT_EQ(names(some), (Names{"v.avi, frame 0", "v.avi, frame 8", "v.avi, frame 16",
                                "v.avi, frame 24", "c.png"}));
  EXPECT_TRUE(some.is_frame(3));
  EXPECT_FALSE(some.is_frame(4));
  for (const std::size_t frame : {1, 2, 3, 0, 3, 2})  // going back begins anew
    EXPECT_NEAR(brightness(some, frame), 64 * static_cast<int>(frame), 2);

  Negatives each_second({.inputs = {"v.avi"}});
  EXPECT_EQ(names(each_second), (Names{"v.avi, second 0", "v.avi, second 1", "v.avi, second 2"}));
  EXPECT_NEAR(brightness(each_second, 2), 160, 2);
}

// The rest of its frames is missing, but its beginning states them.
TEST_F(NegativesTest, AVideoThatEndsEarlyHasFewerFrames) {
  test::write_video("v.avi", 25, 10);
  fs::resize_file("v.avi", fs::file_size("v.avi") / 2);
  Negatives negatives({.inputs = {"v.avi"}, .frames = {.every = 1}});
  ASSERT_EQ(negatives.count(), 25u);
  EXPECT_TRUE(negatives.read(0, {}));
  EXPECT_FALSE(negatives.read(24, {})->picture);  // it says so once
  EXPECT_FALSE(negatives.read(24, {}));
  EXPECT_FALSE(negatives.read(23, {}));
  EXPECT_TRUE(negatives.read(0, {}));
}

TEST_F(NegativesTest, WhatIsNoVideoIsNamed) {
  write_text("v.avi", "no video");
  Negatives negatives({.inputs = {"v.avi", "c.png"}});
  EXPECT_EQ(names(negatives), (Names{"c.png"}));
  ASSERT_EQ(negatives.warnings().size(), 1u);
  EXPECT_TRUE(negatives.warnings()[0].starts_with("v.avi: "));
}
#endif

}  // namespace
}  // namespace facesat::training
