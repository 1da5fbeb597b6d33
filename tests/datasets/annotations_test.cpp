#include "datasets/annotations.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::training {
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

// ---- JSON Lines

TEST_F(AnnotationsTest, LinesOfFacesatAreRead) {
  const fs::path file = write(
      "a.jsonl",
      R"({"image":"a.jpg","width":640,"height":480,"faces":[{"x":1,"y":2,"width":30,"height":40,)"
      R"("neighbors":5,"score":3.2,"cascade":"eye"}]})"
      "\n"
      R"({"image":"b.jpg","error":{"kind":"decode","message":"..."}})"
      "\n"
      R"({"image":"v.avi","frame":0,"time":0.0,"width":64,"height":48,"faces":[]})"
      "\n\n"
      R"({"image":"c.jpg","width":64,"height":48,"faces":[]})"
      "\n"
      R"({"faces":[{"x":1.5,"y":2,"w":3,"h":4,"label":"cat"},{"x":1},7],"image":"d.jpg"})"
      "\n"
      R"({"image":"e.jpg","faces":[)");
  const Annotations found = read("a.jsonl");
  ASSERT_EQ(names_of(found), (Names{"a.jpg", "c.jpg", "d.jpg"}));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{1, 2, 30, 40}}));
  EXPECT_EQ(found.pictures[0].objects[0].label, "eye");
  EXPECT_EQ(found.pictures[0].size, (Size{640, 480}));
  EXPECT_EQ(boxes_of(found.pictures[1]), Boxes{});
  EXPECT_EQ(boxes_of(found.pictures[2]), (Boxes{{1.5, 2, 3, 4}}));
  EXPECT_EQ(found.pictures[2].objects[0].label, "cat");
  EXPECT_EQ(found.pictures[2].size, Size{});
  const std::string line = file.string() + ", line ";
  EXPECT_EQ(found.warnings,
            (Names{line + "2: the picture has no \"faces\", so it is left out",
                   line + "3: this is a frame of a video and no picture, so it is left out",
                   line + "6: a face lacks x, y, width or height, so it is left out",
                   line + "6: expected a face as an object, so it is left out",
                   line + "7: this is not a JSON object with an \"image\", so it is left out"}));
}

// ---- COCO

TEST_F(AnnotationsTest, CocoJoinsPicturesAndObjectsByIds) {
  const fs::path file = write("a.json", R"({
    "info": {"deep": [[[[[[[[[[1]]]]]]]]]]},
    "annotations": [
      {"image_id": 7, "category_id": 3, "bbox": [1, 2, 30, 40.5], "segmentation": [[1, 2, 3]]},
      {"image_id": 5, "category_id": 9, "bbox": [5, 6, 7, 8], "iscrowd": 1},
      {"image_id": 6, "bbox": [5, 6, 7, 8]},
      {"image_id": 5, "bbox": [5, 6, 7]},
      3],
    "categories": [{"id": 3, "name": "car"}],
    "images": [{"id": 5, "file_name": "b.jpg", "width": 64, "height": 48},
               {"id": 7, "file_name": "a.jpg"}, {"id": 8}]})");
  const Annotations found = read("a.json");
  ASSERT_EQ(names_of(found), (Names{"b.jpg", "a.jpg"}));
  EXPECT_EQ(found.pictures[0].size, (Size{64, 48}));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{5, 6, 7, 8}}));
  EXPECT_TRUE(found.pictures[0].objects[0].ignored);
  EXPECT_EQ(boxes_of(found.pictures[1]), (Boxes{{1, 2, 30, 40.5}}));
  EXPECT_EQ(found.pictures[1].objects[0].label, "car");
  EXPECT_FALSE(found.pictures[1].objects[0].ignored);
  const std::string name = file.string();
  EXPECT_EQ(
      found.warnings,
      (Names{
          name + ": a picture has no \"id\" or no \"file_name\", so it is left out",
          name + ", annotation 3: there is no picture with its \"image_id\", so it is left out",
          name + ", annotation 4: there is no \"bbox\" of four numbers, so it is left out",
          name + ", annotation 5: there is no picture with its \"image_id\", so it is left out"}));
}

TEST_F(AnnotationsTest, OtherJsonIsRefused) {
  write("broken.json", "{\n\"images\": [,]}");
  write("other.json", R"({"images": {}})");
  EXPECT_EQ(refusal("broken.json"),
            (folder / "broken.json").string() + ", line 2: this is not JSON");
  EXPECT_TRUE(test::has(refusal("other.json"), "there is no array \"images\""));
  write("large.json", R"({"images": [], "annotations": [{"bbox": [1e3000, 1, 2, 3]}]})");
  EXPECT_EQ(refusal("large.json"), (folder / "large.json").string() + ": a number is too large");
}

// ---- Pascal VOC

std::string voc(const std::string& filename, const std::string& objects) {
  return "<?xml version=\"1.0\"?>\n<annotation><filename>" + filename +
         "</filename>\n<size><width>64</width><height>48</height></size>\n" + objects +
         "</annotation>\n";
}
const std::string voc_object =
    "<object><name>car</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin> 2 </ymin>"
    "<xmax>10</xmax><ymax>20.5</ymax></bndbox></object>\n";

TEST_F(AnnotationsTest, VocIsAFilePerPicture) {
  write("set/Annotations/b.xml", voc("elsewhere.jpg", voc_object));
  write("set/Annotations/a.xml", voc("a.jpg", voc_object + "<object><name>car</name></object>\n"));
  write("set/Annotations/c.xml", voc("c.jpg", ""));
  write("set/Annotations/d.xml", "<annotation><filename>d.jpg</filename>\n</anotation>");
  write("set/JPEGImages/a.jpg", "");
  write("set/JPEGImages/b.png", "");
  for (const char* source : {"set", "set/Annotations"}) {
    const Annotations found = read(source);
    ASSERT_EQ(names_of(found), (Names{"a.jpg", "b.png", "c.jpg"})) << source;
    const AnnotatedPicture& first = found.pictures.front();
    EXPECT_EQ(first.file.lexically_normal(), folder / "set/JPEGImages/a.jpg");
    EXPECT_EQ(found.pictures[1].file.lexically_normal(), folder / "set/JPEGImages/b.png");
    EXPECT_EQ(boxes_of(first), (Boxes{{0, 1, 10, 19.5}}));
    EXPECT_EQ(first.objects[0].label, "car");
    EXPECT_TRUE(first.objects[0].ignored);
    EXPECT_EQ(first.size, (Size{64, 48}));
    EXPECT_EQ(boxes_of(found.pictures[2]), Boxes{});
    ASSERT_EQ(found.warnings.size(), 2u);
    EXPECT_TRUE(test::has(found.warnings[0], "a.xml, line 5: there is no <bndbox>"));
    EXPECT_TRUE(test::has(found.warnings[1], "d.xml, line 2: this is not XML"));
  }
  EXPECT_EQ(names_of(read("set/Annotations/a.xml")), Names{"a.jpg"});
}

TEST_F(AnnotationsTest, VocThatCountsFromZeroBeginsThere) {
  write("a.xml", voc("a.jpg",
                     "<object><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>10</xmax><ymax>20</ymax>"
                     "</bndbox></object>"));
  EXPECT_EQ(boxes_of(read("a.xml").pictures.at(0)), (Boxes{{0, 0, 10, 20}}));
}

// ---- YOLO

// A picture of 40 x 20 pixels.
const std::string pgm = "P5 40 20 255\n" + std::string(800, '\0');

TEST_F(AnnotationsTest, YoloHasATextPerPicture) {
  write("set/images/val/b.pgm", pgm);
  write("set/images/a.pgm", pgm);
  write("set/images/none.pgm", "");
  write("set/labels/a.txt", "0 0.5 0.5 0.25 0.5\n\n1 0.25 0.5 0.5 1 0.75\n");
  write("set/labels/val/b.txt", "2 0 0 0.5 0 0.5 0.5 0.25 0.75\n3 1 1 30 40\nx 0 0 1 1\n");
  write("set/data.yaml", "path: .\nnames: # comment\n  0: car\n  2: 'big bus'\nnc: 2\n");
  for (const char* source : {"set", "set/labels", "set/images"}) {
    const Annotations found = read(source);
    ASSERT_EQ(names_of(found), (Names{"a.pgm", "none.pgm", "val/b.pgm"})) << source;
    EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{15, 5, 10, 10}, {0, 0, 20, 20}}));
    EXPECT_EQ(boxes_of(found.pictures[1]), Boxes{});
    EXPECT_EQ(boxes_of(found.pictures[2]), (Boxes{{0, 0, 20, 15}}));
    EXPECT_EQ(found.pictures[0].objects[0].label, "car");
    EXPECT_EQ(found.pictures[0].objects[1].label, "1");
    EXPECT_EQ(found.pictures[2].objects[0].label, "big bus");
    EXPECT_EQ(found.pictures[2].file, folder / "set/images/val/b.pgm");
    ASSERT_EQ(found.warnings.size(), 2u);
    EXPECT_TRUE(test::has(found.warnings[0], "b.txt, line 2: expected a class, and x, y"));
    EXPECT_TRUE(test::has(found.warnings[1], "b.txt, line 3: expected a class, and x, y"));
  }
}

TEST_F(AnnotationsTest, YoloTextsMayLieBesideThePictures) {
  write("set/a.pgm", pgm);
  write("set/b.pgm", pgm);
  write("set/broken.pgm", "P5 broken");
  write("set/a.txt", "1 0.5 0.5 0.25 0.5\n");
  write("set/broken.txt", "1 0.5 0.5 0.25 0.5\n");
  write("set/classes.txt", "car\nbus\n");
  const Annotations found = read("set");
  ASSERT_EQ(names_of(found), (Names{"a.pgm", "b.pgm"}));
  EXPECT_EQ(found.pictures[0].objects.at(0).label, "bus");
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_TRUE(test::has(found.warnings[0], "broken.pgm: "));
}

TEST_F(AnnotationsTest, YoloListsNamePictures) {
  write("images/a.pgm", pgm);
  write("labels/a.txt", "0 0.5 0.5 0.25 0.5\n");
  write("images/b.pgm", pgm);
  write("train.txt", "images/a.pgm\r\n\nimages/b.pgm\n");
  write("data.yaml", "names: ['car', bus]\n");
  write("background.txt", "images/b.pgm\n");
  const Annotations found = read("train.txt");
  ASSERT_EQ(names_of(found), (Names{"images/a.pgm", "images/b.pgm"}));
  EXPECT_EQ(boxes_of(found.pictures[0]), (Boxes{{15, 5, 10, 10}}));
  EXPECT_EQ(found.pictures[0].objects[0].label, "car");
  EXPECT_TRUE(test::has(refusal("background.txt"), "none of them has labels"));
}

TEST_F(AnnotationsTest, FoldersOfPicturesAreNoAnnotations) {
  write("crops/a.pgm", pgm);
  write("crops/README.txt", "These are crops.\n");
  EXPECT_FALSE(has_annotations(folder / "crops"));
  EXPECT_TRUE(test::has(refusal("crops"), "these are not annotations in a format"));
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
}  // namespace facesat::training
