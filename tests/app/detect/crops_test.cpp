// --crops, --crop-margin and --crop-size; --best and --biggest.
#include <algorithm>
#include <cmath>
#include <set>

#include "media/codec.hpp"
#include "media/stamp.hpp"
#include "support/files.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Crops : public ProgramTest {
 protected:
  // Two faces, one of which is near a corner.
  Crops() { write_pgm(folder / "a.pgm", draw_faces({300, 160}, {{44, 52, 40}, {220, 80, 48}})); }

  // Runs with `options`; the boxes of a.pgm.
  std::vector<Rect> boxes(const std::vector<std::string>& options) const {
    std::vector<std::string> all{"--crops", "out", "a.pgm"};
    all.insert(all.end(), options.begin(), options.end());
    const Finished done = detect(all);
    EXPECT_EQ(done.status, 0) << done.err;
    std::vector<Rect> found;
    const Json faces = done.records().at(0)["faces"];
    for (const Json& face : faces)
      found.push_back({face["x"], face["y"], face["width"], face["height"]});
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
    if (size == Size{region.width, region.height})
      return picture
          .row(std::clamp(
              region.y + y, 0,
              picture.size.height - 1))[std::clamp(region.x + x, 0, picture.size.width - 1)]
          .g;
    long sum = 0;
    const long parts = static_cast<long>(region.width) * region.height;
    for (int row = y * region.height; row < (y + 1) * region.height; ++row) {
      const int from = std::clamp(region.y + row / size.height, 0, picture.size.height - 1);
      for (int column = x * region.width; column < (x + 1) * region.width; ++column)
        sum +=
            picture.row(from)[std::clamp(region.x + column / size.width, 0, picture.size.width - 1)]
                .g;
    }
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
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--crop-margin", "0"}, {"--crop-margin=0.0"}}) {
    const std::string before = read_text(folder / "out/a.pgm.png_1.png");
    boxes(options);
    EXPECT_EQ(read_text(folder / "out/a.pgm.png_1.png"), before);
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
  int steepest = 0;
  for (int y = 0; y < 256; ++y)
    for (int x = 1; x < 256; ++x)
      steepest =
          std::max(steepest, std::abs(large.pixels.row(y)[x].g - large.pixels.row(y)[x - 1].g));
  boxes({});
  const Picture small = crop(1);
  const int side = small.size().width;
  int steepest_before = 0;
  for (int y = 0; y < side; ++y)
    for (int x = 1; x < side; ++x)
      steepest_before = std::max(steepest_before,
                                 std::abs(small.pixels.row(y)[x].g - small.pixels.row(y)[x - 1].g));
  ASSERT_LT(2 * side, 256);
  EXPECT_LE(steepest, steepest_before / 2 + 1) << "blocks";
}

TEST_F(Crops, WrongValuesAreRefused) {
  const auto refused = [&](std::vector<std::string> options, const std::string& said) {
    options.insert(options.end(), {"--crops", "out", "a.pgm"});
    const Finished done = detect(options);
    EXPECT_EQ(done.status, 2) << done.out;
    EXPECT_NE(done.err.find(said), std::string::npos) << done.err;
    EXPECT_FALSE(fs::exists(folder / "out"));
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
  const Finished done =
      detect({"--max-pixels", "48000", "--crops", "out", "--crop-margin", "2", "a.pgm"});
  EXPECT_EQ(done.status, 1);
  const Json record = done.records().at(0);
  EXPECT_EQ(record["faces"].size(), 2u);
  EXPECT_EQ(record["error"]["kind"], "write");
  EXPECT_NE(record["error"]["message"].get<std::string>().find("--max-pixels"), std::string::npos);
  EXPECT_EQ(detect({"--max-pixels", "48000", "--crops", "out", "--crop-margin", "2", "--crop-size",
                    "50", "a.pgm"})
                .status,
            0);
}

// As with the other options for what is written.
TEST_F(Crops, ResumedRunsHaveTheSameOptions) {
  write_text(folder / "broken.jpg", "broken");
  const std::vector<std::vector<std::string>> all{
      {},
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
      std::vector<std::string> arguments{"-o", "r", "--crops", "out", "a.pgm", "broken.jpg"};
      arguments.insert(arguments.end(), all[i].begin(), all[i].end());
      EXPECT_EQ(detect(arguments).status, 1);
      arguments.resize(6);
      arguments.emplace_back("--resume");
      arguments.insert(arguments.end(), all[other].begin(), all[other].end());
      EXPECT_EQ(detect(arguments).status, i == other ? 1 : 2) << i << " " << other;
      fs::remove(folder / "r");
      fs::remove(folder / "r.resume");
    }
}

class Kept : public Crops {
 protected:
  std::vector<Json> faces(std::vector<std::string> options, const std::string& input) const {
    options.push_back(input);
    const Finished done = detect(options);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.records().at(0)["faces"];
  }
};

TEST_F(Kept, IsTheBestOrTheBiggestFace) {
  // Windows before grouping: many, of which several are equally good or large.
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{},
        {"--raw"},
        {"--raw", "--cascade", "frontalface_default", "--cascade", "lbp:frontalface"}}) {
    const std::vector<Json> all = faces(more, "a.pgm");
    ASSERT_GE(all.size(), 2u);
    const auto one = [&](const std::string& option) {
      std::vector<std::string> options = more;
      options.push_back(option);
      return faces(options, "a.pgm");
    };
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
  write_pgm(folder / "none.pgm", draw_faces({60, 50}, {}));
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
  EXPECT_EQ(files_below("out"), std::vector<std::string>{"a.pgm.png_1.png"})
      << "the other one is gone";
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

}  // namespace
}  // namespace facesat::test
