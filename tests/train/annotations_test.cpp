#include "train/annotations.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::train {
namespace {

namespace fs = std::filesystem;
using Boxes = std::vector<Box>;

// A temporary folder for annotations.
class AnnotationsTest : public ::testing::Test {
 protected:
  AnnotationsTest() {
    std::string name = (fs::temp_directory_path() / "annotations-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~AnnotationsTest() override { fs::remove_all(folder); }

  fs::path write(const std::string& name, std::string_view text) const {
    const fs::path file = folder / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }
  Annotations read(const std::string& name, const AnnotationOptions& options = {}) const {
    return read_annotations(folder / name, options);
  }
  // What is said about a file that is refused.
  std::string refusal(const std::string& name, const AnnotationOptions& options = {}) const {
    return test::message_of<UsageError>([&] { read(name, options); });
  }

  fs::path folder;
};

Boxes boxes_of(const AnnotatedPicture& picture) {
  Boxes boxes;
  for (const AnnotatedObject& object : picture.objects) boxes.push_back(object.box);
  return boxes;
}

std::vector<std::string> names_of(const Annotations& annotations) {
  std::vector<std::string> names;
  for (const AnnotatedPicture& picture : annotations.pictures) names.push_back(picture.name);
  return names;
}

using Names = std::vector<std::string>;

// ---- info.dat

TEST_F(AnnotationsTest, InfoHasALinePerPicture) {
  write("info.dat",
        "# a comment\n"
        "a.jpg 2 1 2 30 40\t5 6 7.5 8\r\n"
        "\n"
        "sub/b c 3.jpg 1 10 20 30 40\n"
        "none.jpg 0\n"
        "a.jpg 1 9 9 9 9");
  const Annotations found = read("info.dat");
  EXPECT_EQ(found.warnings, Names{});
  ASSERT_EQ(names_of(found), (Names{"a.jpg", "sub/b c 3.jpg", "none.jpg"}));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{1, 2, 30, 40}, {5, 6, 7.5, 8}, {9, 9, 9, 9}}));
  EXPECT_EQ(boxes_of(found.pictures[1]), (Boxes{{10, 20, 30, 40}}));
  EXPECT_EQ(boxes_of(found.pictures[2]), Boxes{});
  EXPECT_EQ(found.pictures[0].file, folder / "a.jpg");
}

// Of the numbers in a name, the count is the first after which as many numbers follow.
TEST_F(AnnotationsTest, InfoTakesNumbersInNamesForWhatTheyAre) {
  write("info.dat", "IMG 2 of 7 1 10 20 30 40\n4 1 1 2 3 4\n");
  const Annotations found = read("info.dat");
  ASSERT_EQ(names_of(found), (Names{"IMG 2 of 7", "4"}));
  EXPECT_EQ(boxes_of(found.pictures[1]), (Boxes{{1, 2, 3, 4}}));
}

TEST_F(AnnotationsTest, InfoNamesLinesThatAreLeftOut) {
  const fs::path file = write("info.dat",
                              "a.jpg 1 1 2 30 40\n"
                              "b.jpg 2 1 2 30 40\n"
                              "c.jpg 1 1 2 x 40\n"
                              "d.jpg 2 1 2 0 40 5 5 9 -1\n"
                              "e.jpg 1 1 2 nan 40\n"
                              "f.jpg 1 1e300 2 30 40\n");
  const Annotations found = read("info.dat");
  ASSERT_EQ(found.warnings.size(), 6u);
  const std::string line = file.string() + ", line ";
  EXPECT_TRUE(found.warnings[0].starts_with(line + "2: expected a path")) << found.warnings[0];
  EXPECT_TRUE(found.warnings[1].starts_with(line + "3: expected a path")) << found.warnings[1];
  EXPECT_EQ(found.warnings[2], line + "4: the box is 0 wide and 40 high, so it is left out");
  EXPECT_EQ(found.warnings[3], line + "4: the box is 9 wide and -1 high, so it is left out");
  EXPECT_TRUE(found.warnings[4].starts_with(line + "5: the box is not within any"));
  EXPECT_TRUE(found.warnings[5].starts_with(line + "6: the box is not within any"));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{1, 2, 30, 40}}));
  EXPECT_EQ(names_of(found), (Names{"a.jpg", "d.jpg", "e.jpg", "f.jpg"}));
}

TEST_F(AnnotationsTest, OfManyWarningsTheFirstFewAreKept) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "a.jpg 1 1 2 0 40\n";
  write("info.dat", text);
  const Annotations found = read("info.dat");
  ASSERT_EQ(found.warnings.size(), 11u);
  EXPECT_EQ(found.warnings.back(), "and 40 more of these");
}

// ---- CSV

TEST_F(AnnotationsTest, CsvHasItsColumnsInAnyOrder) {
  write("a.csv",
        "\xEF\xBB\xBF"
        "h,note,image,x,y,w,label\r\n"
        "40,,a.jpg,1,2,30,face\r\n"
        "8,\"two\nlines\",\"b, \"\"c\"\".jpg\",5,6,7.5,\r\n"
        "\r\n"
        ",,none.jpg,,,\r\n"
        "4,,a.jpg,1,1,4,cat");
  const Annotations found = read("a.csv");
  EXPECT_EQ(found.warnings, Names{});
  ASSERT_EQ(names_of(found), (Names{"a.jpg", "b, \"c\".jpg", "none.jpg"}));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{1, 2, 30, 40}, {1, 1, 4, 4}}));
  EXPECT_EQ(found.pictures[0].objects[1].label, "cat");
  EXPECT_EQ(boxes_of(found.pictures[1]), (Boxes{{5, 6, 7.5, 8}}));
  EXPECT_EQ(boxes_of(found.pictures[2]), Boxes{});
}

TEST_F(AnnotationsTest, CsvNamesRowsThatAreLeftOut) {
  const fs::path file = write("a.csv",
                              "image,x,y,w,h\n"
                              "\"a\n.jpg\",1,2,3,4\n"
                              "b.jpg,1,2,3\n"
                              "c.jpg,1,2,3,four\n"
                              ",1,2,3,4\n");
  const Annotations found = read("a.csv");
  EXPECT_EQ(names_of(found), (Names{"a\n.jpg"}));
  const std::string line = file.string() + ", line ";
  ASSERT_EQ(found.warnings.size(), 3u);
  EXPECT_TRUE(found.warnings[0].starts_with(line + "4: the row has no image, or too few"));
  EXPECT_TRUE(found.warnings[1].starts_with(line + "5: x, y, w and h are not all numbers"));
  EXPECT_TRUE(found.warnings[2].starts_with(line + "6: the row has no image, or too few"));
}

TEST_F(AnnotationsTest, CsvOfFacesatHasTheCascadesAsLabels) {
  write("a.csv", "image,x,y,w,h,neighbors,score,cascade\na.jpg,1,2,3,4,5,6.5,eye\n");
  EXPECT_EQ(read("a.csv").pictures.at(0).objects.at(0).label, "eye");
}

// ---- all formats

TEST_F(AnnotationsTest, ObjectsWithOtherLabelsAreIgnored) {
  write("a.csv", "image,x,y,w,h,label\na.jpg,1,2,3,4,car\na.jpg,5,6,7,8,dog\nb.jpg,1,1,1,1,\n");
  const Annotations found = read("a.csv", {.labels = {"car"}});
  EXPECT_FALSE(found.pictures[0].objects[0].ignored);
  EXPECT_TRUE(found.pictures[0].objects[1].ignored);
  EXPECT_TRUE(found.pictures[1].objects[0].ignored);
  EXPECT_EQ(refusal("a.csv", {.labels = {"cat", "Car"}}),
            (folder / "a.csv").string() +
                ": no object has the label \"cat\" or \"Car\"; there are 1 without a label, 1 "
                "\"car\", 1 \"dog\"");
}

TEST_F(AnnotationsTest, PicturesAreLookedForWhereTheyUsuallyAre) {
  write("set/labels/a.csv", "image,x,y,w,h\nb.jpg,1,1,1,1\nsub\\c.jpg,1,1,1,1\nnone.jpg,1,1,1,1\n");
  write("set/images/b.jpg", "");
  write("set/images/sub/c.jpg", "");
  write("elsewhere/b.jpg", "");
  const Annotations found = read("set/labels/a.csv");
  EXPECT_EQ(found.pictures[0].file, folder / "set/images/b.jpg");
  EXPECT_EQ(found.pictures[1].file, folder / "set/images/sub/c.jpg");
  EXPECT_EQ(found.pictures[1].name, "sub\\c.jpg");
  EXPECT_EQ(found.pictures[2].file, folder / "set/labels/none.jpg");
  const Annotations moved = read("set/labels/a.csv", {.pictures = folder / "elsewhere"});
  EXPECT_EQ(moved.pictures[0].file, folder / "elsewhere/b.jpg");
  EXPECT_EQ(moved.pictures[1].file, folder / "elsewhere/sub\\c.jpg");
}

TEST_F(AnnotationsTest, WhatIsInNoFormatIsRefused) {
  write("notes.txt", "nothing of interest\n");
  write("empty.csv", "");
  EXPECT_TRUE(test::has(refusal("notes.txt"), "notes.txt: these are not annotations in a format"));
  EXPECT_TRUE(test::has(refusal("notes.txt"), "CSV with the columns image,x,y,w,h"));
  EXPECT_TRUE(test::has(refusal("empty.csv"), "empty.csv: "));
  EXPECT_TRUE(test::has(refusal("missing.csv"), "missing.csv: "));
  EXPECT_FALSE(has_annotations(folder / "notes.txt"));
}

// ---- real sets

TEST(RealAnnotations, AreReadWhole) {
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (!data) GTEST_SKIP() << "FACESAT_TEST_DATA is not set";
  const struct {
    const char* file;
    std::size_t pictures, objects;
  } sets[] = {{"train/faces_train.info.dat", 1, 3000},

              {"train/cars_train.info.dat", 1, 550},
              {"train/cars_test.info.dat", 80, 99},
              {"cmu_mit/faces.csv", 69, 281}};
  for (const auto& [file, pictures, objects] : sets) {
    const Annotations found = read_annotations(fs::path(data) / file);
    EXPECT_EQ(found.warnings, Names{}) << file;
    std::size_t count = 0;
    for (const AnnotatedPicture& picture : found.pictures) {
      EXPECT_TRUE(fs::exists(picture.file)) << picture.file;
      count += picture.objects.size();
    }
    EXPECT_EQ(found.pictures.size(), pictures) << file;
    EXPECT_EQ(count, objects) << file;
  }
}

}  // namespace
}  // namespace facesat::train
