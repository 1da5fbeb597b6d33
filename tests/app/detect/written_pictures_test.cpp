// The pictures that are written of faces: --crops, --crop-margin and --crop-size; --best and
// --biggest; --blur of pictures.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "media/codec.hpp"
#include "media/stamp.hpp"
#include "support/files.hpp"
#include "tests/kit/decoded.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

Rect box_of(const Json& face) {
  return {face["x"], face["y"], face["width"], face["height"]};
}

// The largest difference between two pixels next to each other in a row.
int steepest_step(View<const Bgr> picture) {
  int steepest = 0;
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 1; x < picture.size.width; ++x)
      steepest = std::max(steepest, std::abs(picture.row(y)[x].g - picture.row(y)[x - 1].g));
  return steepest;
}

// A face in blue and red that differ, as a binary PNM or as text.
std::string coloured_face(bool binary, bool colour) {
  const Image<std::uint8_t> face = draw_faces({110, 90}, {{40, 40, 40}});
  std::string file = fmt::format("P{}\n110 90\n255\n", (binary ? 5 : 2) + (colour ? 1 : 0));
  for (int y = 0; y < face.size().height; ++y)
    for (int x = 0; x < face.size().width; ++x) {
      const int value = face.row(y)[x];
      for (const int sample : {value, value, 255 - value}) {
        file += binary ? std::string(1, static_cast<char>(sample)) : fmt::format("{}\n", sample);
        if (!colour) break;
      }
    }
  return file;
}

// Pictures whose pixels are searched where they lie in the file, and the same ones decoded.
TEST_F(ProgramTest, PnmsHaveTheSameFacesHoweverTheyAreRead) {
  for (const bool colour : {false, true}) {
    write_text("binary", coloured_face(true, colour));
    write_text("text", coloured_face(false, colour));
    const Arguments options{"--min-neighbors", "0"};
    const Json in_file = records_of(joined(options, {"binary"})).at(0);
    EXPECT_GT(in_file["faces"].size(), 5u);
    EXPECT_EQ(in_file["width"], 110);
    EXPECT_EQ(in_file["faces"], records_of(joined(options, {"text"})).at(0)["faces"]);
    const Json decoded = records_of(joined(options, {"--crops", "out", "binary"})).at(0);
    EXPECT_EQ(in_file["faces"].size(), decoded["faces"].size());
    for (std::size_t i = 0; i < decoded["faces"].size(); ++i)
      EXPECT_EQ(box_of(in_file["faces"][i]), box_of(decoded["faces"][i]));
  }
  write_text("two", coloured_face(true, true) + "P6\n");
  EXPECT_EQ(records_of({"two"}).at(0)["warning"], only_first_picture);
  const Json refused = records_of({"--max-pixels", "9899", "two"}, 1).at(0);
  EXPECT_EQ(refused["error"]["kind"], "limit");
}

class Crops : public ProgramTest {
 protected:
  // Two faces, one of which is near a corner.
  Crops() { write_pgm("a.pgm", draw_faces({300, 160}, {{44, 52, 40}, {220, 80, 48}})); }

  // Runs with `options`; the boxes of a.pgm.
  std::vector<Rect> boxes(const Arguments& options) const {
    std::vector<Rect> found;
    const Json faces = records_of(joined({"--crops", "out", "a.pgm"}, options)).at(0)["faces"];
    for (const Json& face : faces) found.push_back(box_of(face));
    return found;
  }

  Picture crop(std::size_t number) const {
    return read_picture(folder / ("out/a.pgm.png_" + std::to_string(number) + ".png"));
  }

  // Expects a crop to be `region` of the picture, in the size of the crop.
  void expect_shows(std::size_t number, const Rect& region) const {
    const Picture picture = read_picture(folder / "a.pgm"), found = crop(number);
    const auto [width, height] = found.size();
    int wrong = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        wrong += found.pixels.row(y)[x].g != mean(picture.pixels, region, found.size(), x, y);
    EXPECT_EQ(wrong, 0) << "of " << width * height << " pixels";
  }

 private:
  // What the pixel (x, y) of a smaller picture covers of the region, whose pixels are cut into
  // size.width x size.height parts each.
  static int mean(View<const Bgr> picture, const Rect& region, Size size, int x, int y) {
    const auto at = [&](int column, int row) {  // the edges of the picture are repeated
      return picture
          .row(std::clamp(
              region.y + row, 0,
              picture.size.height - 1))[std::clamp(region.x + column, 0, picture.size.width - 1)]
          .g;
    };
    if (size == Size{region.width, region.height}) return at(x, y);
    long sum = 0;
    const long parts = static_cast<long>(region.width) * region.height;
    for (int row = y * region.height; row < (y + 1) * region.height; ++row)
      for (int column = x * region.width; column < (x + 1) * region.width; ++column)
        sum += at(column / size.width, row / size.height);
    return static_cast<int>((2 * sum + parts) / (2 * parts));
  }
};

TEST_F(Crops, WithoutOptionsAreTheBoxes) {
  const std::vector<Rect> faces = boxes({});
  ASSERT_EQ(faces.size(), 2u);
  const Picture picture = read_picture(folder / "a.pgm");
  for (std::size_t i = 0; i < faces.size(); ++i) {
    std::vector<unsigned char> expected = encode_picture(picture.pixels.sub(faces[i]), ".png");
    stamp(expected, stamp_of_input(folder / "a.pgm"));
    EXPECT_TRUE(read_file(folder / ("out/a.pgm.png_" + std::to_string(i + 1) + ".png")) ==
                expected);
  }
  for (const Arguments& options : {Arguments{"--crop-margin", "0"}, {"--crop-margin=0.0"}}) {
    const std::string before = read_text("out/a.pgm.png_1.png");
    boxes(options);
    EXPECT_EQ(read_text("out/a.pgm.png_1.png"), before);
  }
}

TEST_F(Crops, GrowByTheMarginAndRepeatTheEdgesOfThePicture) {
  bool has_reached_beyond = false;
  for (const double margin : {0.01, 0.25, 0.4, 1.0, 2.5}) {
    const std::vector<Rect> faces = boxes({"--crop-margin", std::to_string(margin)});
    ASSERT_EQ(faces.size(), 2u);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      const Rect face = faces[i];
      const int more = static_cast<int>(std::floor(margin * face.width + 0.5));
      const Rect region{face.x - more, face.y - more, face.width + 2 * more,
                        face.height + 2 * more};
      EXPECT_EQ(crop(i + 1).size(), (Size{region.width, region.height}));
      expect_shows(i + 1, region);
      has_reached_beyond |= region.x < 0 && region.y < 0;
    }
  }
  EXPECT_TRUE(has_reached_beyond);
}

// A square face is extended in one direction to the aspect ratio of the size.
TEST_F(Crops, HaveTheSizeAskedFor) {
  const struct {
    const char* given;
    Size size;
  } sizes[] = {{"20", {20, 20}}, {"31x20", {31, 20}}, {"20X31", {20, 31}}, {"1x3", {1, 3}}};
  for (const auto& [given, size] : sizes) {
    const std::vector<Rect> faces = boxes({"--crop-margin", "0.4", "--crop-size", given});
    ASSERT_EQ(faces.size(), 2u);
    for (std::size_t i = 0; i < faces.size(); ++i) {
      ASSERT_EQ(crop(i + 1).size(), size) << given;
      const int more = static_cast<int>(std::floor(0.4 * faces[i].width + 0.5)),
                side = faces[i].width + 2 * more;
      const double aspect = static_cast<double>(size.width) / size.height;
      const int wide = static_cast<int>(std::floor(side * std::max(1.0, aspect) + 0.5)),
                high = static_cast<int>(std::floor(side * std::max(1.0, 1 / aspect) + 0.5));
      expect_shows(i + 1, {faces[i].x - more - (wide - side) / 2,
                           faces[i].y - more - (high - side) / 2, wide, high});
    }
  }
}

TEST_F(Crops, AreEnlargedSmoothly) {
  ASSERT_EQ(boxes({"--crop-size", "256"}).size(), 2u);
  const Picture large = crop(1);
  ASSERT_EQ(large.size(), (Size{256, 256}));
  boxes({});
  const Picture small = crop(1);
  ASSERT_LT(2 * small.size().width, 256);
  EXPECT_LE(steepest_step(large.pixels), steepest_step(small.pixels) / 2 + 1) << "blocks";
}

TEST_F(Crops, WrongValuesAreRefused) {
  const auto refused = [&](Arguments options, const std::string& said) {
    options.insert(options.end(), {"--crops", "out", "a.pgm"});
    EXPECT_TRUE(ended(detect(options), 2, said));
    EXPECT_FALSE(exists("out"));
  };
  for (const char* margin : {"-0.1", "10.1", "nan", "inf", "1e999"})
    refused({std::string("--crop-margin=") + margin}, "--crop-margin");
  refused({"--crop-margin", "40%"}, "--crop-margin");
  for (const char* size : {"0", "0x5", "5x0", "4097", "1x4097"})
    refused({"--crop-size", size}, "--crop-size: expected sides from 1 to 4096 pixels");
  for (const char* size : {"axb", "5x", "-5", "5x6x7", "256px"})
    refused({"--crop-size", size}, "--crop-size");
  EXPECT_EQ(detect({"--crop-margin", "0.4", "a.pgm"}).status, 2);
  EXPECT_EQ(detect({"--crop-size", "10", "a.pgm"}).status, 2);
}

TEST_F(Crops, AboveTheLimitOfPixelsAreNotMade) {
  const Json record =
      records_of({"--max-pixels", "48000", "--crops", "out", "--crop-margin", "2", "a.pgm"}, 1)
          .at(0);
  EXPECT_EQ(record["faces"].size(), 2u);
  EXPECT_EQ(record["error"]["kind"], "write");
  EXPECT_TRUE(has(record["error"]["message"], "--max-pixels"));
  EXPECT_EQ(detect({"--max-pixels", "48000", "--crops", "out", "--crop-margin", "2", "--crop-size",
                    "50", "a.pgm"})
                .status,
            0);
}

// As with the other options for what is written.
TEST_F(Crops, ResumedRunsHaveTheSameOptions) {
  write_text("broken.jpg", "broken");
  const std::vector<Arguments> all{{},
                                   {"--crop-margin", "0.4"},
                                   {"--crop-margin", "0.5"},
                                   {"--crop-size", "20"},
                                   {"--best"},
                                   {"--biggest"},
                                   {"--blur", "blurred"},
                                   {"--blur", "other"},
                                   {"--blur", "blurred", "--blur-style", "pixelate"}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const std::size_t other : {i, (i + 1) % all.size()}) {
      const Arguments rest{"-o", "r", "--crops", "out", "a.pgm", "broken.jpg"};
      EXPECT_EQ(detect(joined(rest, all[i])).status, 1);
      EXPECT_EQ(detect(joined({"--resume"}, joined(rest, all[other]))).status, i == other ? 1 : 2)
          << i << " " << other;
      remove({"r", "r.resume"});
    }
}

class Kept : public Crops {
 protected:
  std::vector<Json> faces(const Arguments& options, const std::string& input) const {
    return records_of(joined(options, {input})).at(0)["faces"];
  }
};

TEST_F(Kept, IsTheBestOrTheBiggestFace) {
  // Windows before grouping: many, of which several are equally good or large.
  for (const Arguments& more :
       {Arguments{},
        {"--raw"},
        {"--raw", "--cascade", "frontalface_default", "--cascade", "lbp:frontalface"}}) {
    const std::vector<Json> all = faces(more, "a.pgm");
    ASSERT_GE(all.size(), 2u);
    const auto one = [&](const char* option) { return faces(joined(more, {option}), "a.pgm"); };
    const auto by = [&](auto value) {
      const Json* first = &all.front();
      for (const Json& face : all)
        if (value(face) > value(*first)) first = &face;
      return std::vector<Json>{*first};
    };
    EXPECT_EQ(one("--best"), by([](const Json& face) { return face["score"].get<double>(); }));
    EXPECT_EQ(one("--biggest"), by([](const Json& face) {
                return face["width"].get<int>() * face["height"].get<int>();
              }));
  }
  EXPECT_EQ(detect({"--best", "--biggest", "a.pgm"}).status, 2);
  write_pgm("none.pgm", draw_faces({60, 50}, {}));
  EXPECT_TRUE(faces({"--best"}, "none.pgm").empty());
  EXPECT_TRUE(faces({"--biggest"}, "none.pgm").empty());
}

TEST_F(Kept, IsTheOnlyOneInWhatIsWritten) {
  const std::vector<Rect> all = boxes({});
  ASSERT_EQ(all.size(), 2u);
  const std::size_t biggest = all[0].width > all[1].width ? 0 : 1;
  const Picture before = crop(biggest + 1);
  const std::vector<Rect> one =
      boxes({"--biggest", "--annotate", "boxes", "--blur", "blurred", "--blur-style", "pixelate"});
  EXPECT_EQ(one, std::vector<Rect>{all[biggest]});
  EXPECT_EQ(files_below("out"), Names{"a.pgm.png_1.png"}) << "the other one is gone";
  EXPECT_EQ(crop(1).size(), before.size());
  const Picture picture = read_picture(folder / "a.pgm");
  for (const char* file : {"boxes/a.pgm.png", "blurred/a.pgm.png"}) {
    const Picture written = read_picture(folder / file);
    const auto differ = [&](const Rect& box) {
      for (int y = box.y - 1; y < box.y + box.height; ++y)
        for (int x = box.x - 1; x < box.x + box.width; ++x) {
          const Bgr a = written.pixels.row(y)[x], b = picture.pixels.row(y)[x];
          if (a.b != b.b || a.g != b.g || a.r != b.r) return true;
        }
      return false;
    };
    EXPECT_TRUE(differ(all[biggest])) << file;
    EXPECT_FALSE(differ(all[1 - biggest])) << file;
  }
}

class Blur : public ProgramTest {
 protected:
  void add(const std::string& name, const Bytes& bytes) const {
    write_text(name, {bytes.begin(), bytes.end()});
  }
};

std::tuple<int, int, int> values(const Bgr& pixel) {
  return {pixel.b, pixel.g, pixel.r};
}

// The rectangle that is replaced: a quarter of the face more at each side.
Rect covered(const Json& face) {
  const auto [x, y, width, height] = box_of(face);
  const int more = (width + 2) / 4;
  return {x - more, y - more, width + 2 * more, height + 2 * more};
}

TEST_F(Blur, WritesAllPicturesInTheirFormats) {
  add_face("in/a.pgm");
  add_face("in/sub/a.pgm", 1);
  write_pgm("in/none.pgm", draw_faces({60, 50}, {}));
  for (const char* name : {"b.jpg", "c.JPG", "d.Jpeg", "e.jpe"})
    add(std::string("in/") + name, encode_jpeg({64, 48}, {}));
  add("in/f.PNG", encode_png({64, 48}, {2, 8}));
  const Finished done = detect({"-r", "--blur", "out", "in"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"), (Names{"a.pgm.png", "b.jpg", "c.JPG", "d.Jpeg", "e.jpe", "f.PNG",
                                       "none.pgm.png", "sub/a.pgm.png"}));
  for (const std::string& file : files_below("out")) {
    const bool is_png = has_extension(file, {".png"});
    EXPECT_TRUE(read_text(folder / "out" / file).starts_with(is_png ? "\x89PNG" : "\xFF\xD8\xFF"))
        << file;
  }
  EXPECT_EQ(detect({"-r", "--annotate", "boxes", "in"}).status, 0);
  EXPECT_EQ(files_below("boxes"), files_below("out"));
  const Picture before = read_picture(folder / "in/none.pgm"),
                after = read_picture(folder / "out/none.pgm.png");
  expect_same(after, before);
}

// Thumbnails and places are in the metadata.
TEST_F(Blur, LeavesMetadataBehind) {
  add("a.jpg", encode_jpeg({16, 8}, {.orientation = 6}));
  EXPECT_EQ(detect({"--blur", "out", "a.jpg"}).status, 0);
  EXPECT_FALSE(has(read_text("out/a.jpg"), "Exif"));
  EXPECT_EQ(read_picture(folder / "out/a.jpg").size(), (Size{8, 16})) << "upright";
}

TEST_F(Blur, LeavesSixteenColoursOfAFaceAndNoFace) {
  // The second one reaches beyond the picture with its margin.
  write_pgm("a.pgm", draw_faces({300, 160}, {{80, 70, 36}, {246, 84, 50}}));
  const Picture picture = read_picture(folder / "a.pgm");
  for (const std::string style : {"blur", "pixelate"}) {
    const Json faces = records_of({"--blur", style, "--blur-style", style, "a.pgm"}).at(0)["faces"];
    ASSERT_EQ(faces.size(), 2u);
    const std::string file = style + "/a.pgm.png";
    EXPECT_EQ(detect({file}).records().at(0)["faces"].size(), 0u) << style;
    const Picture blurred = read_picture(folder / file);
    ASSERT_EQ(blurred.size(), picture.size());
    bool has_reached_beyond = false;
    for (int y = 0; y < picture.size().height; ++y)
      for (int x = 0; x < picture.size().width; ++x) {
        const bool is_covered = std::any_of(faces.begin(), faces.end(), [&](const Json& face) {
          const Rect r = covered(face);
          has_reached_beyond |= r.x + r.width > picture.size().width;
          return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
        });
        if (!is_covered) {
          ASSERT_EQ(values(blurred.pixels.row(y)[x]), values(picture.pixels.row(y)[x]))
              << style << ": " << x << ", " << y;
        }
      }
    EXPECT_TRUE(has_reached_beyond);
  }
  // The colours of cells whose pixels are whole.
  const Json face = detect({"a.pgm"}).records().at(0)["faces"][0];
  const Rect r = covered(face);
  const Picture mosaic = read_picture(folder / "pixelate/a.pgm.png");
  for (int cell = 0; cell < 16; ++cell) {
    const int left = cell % 4 * r.width, top = cell / 4 * r.height;  // in quarters of pixels
    std::set<std::tuple<int, int, int>> colours;
    for (int y = r.y + (top + 3) / 4; y < r.y + (top + r.height) / 4; ++y)
      for (int x = r.x + (left + 3) / 4; x < r.x + (left + r.width) / 4; ++x)
        colours.insert(values(mosaic.pixels.row(y)[x]));
    EXPECT_EQ(colours.size(), 1u) << cell;
  }
}

// What is left depends on means alone: two faces that differ in details alone become the same.
TEST_F(Blur, ForgetsDetails) {
  const Image<std::uint8_t> plain = draw_faces({160, 160}, {{80, 76, 44}});
  write_pgm("a.pgm", plain);
  const Json face = detect({"a.pgm"}).records().at(0)["faces"].at(0);
  Image<std::uint8_t> detailed(plain.size());
  copy(plain.view(), detailed.view());
  const Rect box = box_of(face);
  const int x = box.x + box.width / 2, y = box.y + box.height / 2;
  detailed.row(y)[x] = static_cast<std::uint8_t>(plain.row(y)[x] + 1);
  write_pgm("b.pgm", detailed);
  ASSERT_EQ(detect({"b.pgm"}).records().at(0)["faces"].at(0)["width"], face["width"]);
  for (const std::string style : {"blur", "pixelate"}) {
    EXPECT_EQ(detect({"--blur", "out", "--blur-style", style, "a.pgm", "b.pgm"}).status, 0);
    const Picture a = read_picture(folder / "out/a.pgm.png"),
                  b = read_picture(folder / "out/b.pgm.png");
    int largest = 0;
    for (int row = 0; row < a.size().height; ++row)
      for (int column = 0; column < a.size().width; ++column)
        largest =
            std::max(largest, std::abs(a.pixels.row(row)[column].g - b.pixels.row(row)[column].g));
    EXPECT_LE(largest, 1) << style;
  }
}

TEST_F(Blur, NeverReplacesInputsAndForeignPictures) {
  add("in/a.jpg", encode_jpeg({64, 48}, {}));
  add("a.jpg", encode_jpeg({64, 48}, {}));
  const std::string before = read_text("a.jpg");
  Finished done = detect({"--blur", ".", "a.jpg"});
  EXPECT_TRUE(ended(done, 2, "--blur .: the picture with blurred faces would overwrite the input"));
  done = detect({"--blur", ".", "in"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "write");
  done = detect({"--blur", "in", "-"}, "in\n");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(detect({"--blur", "in", "in"}).status, 2);
  EXPECT_EQ(read_text("a.jpg"), before);
  EXPECT_EQ(read_text("in/a.jpg"), before);
}

TEST_F(Blur, IsNotAnInputOfTheNextRun) {
  add("in/a.jpg", encode_jpeg({64, 48}, {}));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(detect({"-r", "--blur", "in/blurred", "in"}).records().size(), 1u);
}

TEST_F(Blur, HasAFolderOfItsOwn) {
  add_face("in/a.pgm");
  fs::create_directories(folder / "out");
  fs::create_directory_symlink("out", folder / "link");
  for (const auto& [annotate, blur] : {std::pair("out", "out"),
                                       {"out", "./out/"},
                                       {"out", "link"},
                                       {"out", "out/sub"},
                                       {"out/sub", "out"}}) {
    const Finished done = detect({"--annotate", annotate, "--blur", blur, "in"});
    EXPECT_EQ(done.status, 2) << annotate << " " << blur;
    EXPECT_TRUE(has(done.err, "--annotate"));
  }
  EXPECT_EQ(detect({"--annotate", "out2", "--blur", "out", "--crops", "out", "in"}).status, 0);
  EXPECT_EQ(detect({"--blur-style", "blur", "in"}).status, 2);
  EXPECT_EQ(detect({"--blur", "out", "--blur-style", "strong", "in"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
