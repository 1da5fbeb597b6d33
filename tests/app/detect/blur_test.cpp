// --blur of pictures.
#include <algorithm>
#include <set>
#include <tuple>

#include "media/codec.hpp"
#include "support/files.hpp"
#include "tests/kit/picture_bytes.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Blur : public ProgramTest {
 protected:
  void add(const std::string& name, const Bytes& bytes) const {
    write_text(folder / name, {bytes.begin(), bytes.end()});
  }
};

std::tuple<int, int, int> values(const Bgr& pixel) {
  return {pixel.b, pixel.g, pixel.r};
}

// The rectangle that is replaced: a quarter of the face more at each side.
Rect covered(const Json& face) {
  const int more = (face["width"].get<int>() + 2) / 4;
  return {face["x"].get<int>() - more, face["y"].get<int>() - more,
          face["width"].get<int>() + 2 * more, face["height"].get<int>() + 2 * more};
}

TEST_F(Blur, WritesAllPicturesInTheirFormats) {
  add_face("in/a.pgm");
  add_face("in/sub/a.pgm", 1);
  write_pgm(folder / "in/none.pgm", draw_faces({60, 50}, {}));
  for (const char* name : {"b.jpg", "c.JPG", "d.Jpeg", "e.jpe"})
    add(std::string("in/") + name, encode_jpeg({64, 48}, {}));
  add("in/f.PNG", encode_png({64, 48}, {2, 8}));
  const Finished done = detect({"-r", "--blur", "out", "in"});
  ASSERT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(files_below("out"),
            (std::vector<std::string>{"a.pgm.png", "b.jpg", "c.JPG", "d.Jpeg", "e.jpe", "f.PNG",
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
  EXPECT_EQ(read_text(folder / "out/a.jpg").find("Exif"), std::string::npos);
  EXPECT_EQ(read_picture(folder / "out/a.jpg").size(), (Size{8, 16})) << "upright";
}

TEST_F(Blur, LeavesSixteenColoursOfAFaceAndNoFace) {
  // The second one reaches beyond the picture with its margin.
  write_pgm(folder / "a.pgm", draw_faces({300, 160}, {{80, 70, 36}, {246, 84, 50}}));
  const Picture picture = read_picture(folder / "a.pgm");
  for (const std::string style : {"blur", "pixelate"}) {
    const Finished done = detect({"--blur", style, "--blur-style", style, "a.pgm"});
    ASSERT_EQ(done.status, 0) << done.err;
    const Json faces = done.records().at(0)["faces"];
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
  write_pgm(folder / "a.pgm", plain);
  const Json face = detect({"a.pgm"}).records().at(0)["faces"].at(0);
  Image<std::uint8_t> detailed(plain.size());
  copy(plain.view(), detailed.view());
  const int x = face["x"].get<int>() + face["width"].get<int>() / 2,
            y = face["y"].get<int>() + face["height"].get<int>() / 2;
  detailed.row(y)[x] = static_cast<std::uint8_t>(plain.row(y)[x] + 1);
  write_pgm(folder / "b.pgm", detailed);
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
  const std::string before = read_text(folder / "a.jpg");
  Finished done = detect({"--blur", ".", "a.jpg"});
  EXPECT_EQ(done.status, 2);
  EXPECT_NE(done.err.find("--blur .: the picture with blurred faces would overwrite the input"),
            std::string::npos)
      << done.err;
  done = detect({"--blur", ".", "in"});
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(done.records().at(0)["error"]["kind"], "write");
  done = detect({"--blur", "in", "-"}, "in\n");
  EXPECT_EQ(done.status, 1);
  EXPECT_EQ(detect({"--blur", "in", "in"}).status, 2);
  EXPECT_EQ(read_text(folder / "a.jpg"), before);
  EXPECT_EQ(read_text(folder / "in/a.jpg"), before);
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
    EXPECT_NE(done.err.find("--annotate"), std::string::npos) << done.err;
  }
  EXPECT_EQ(detect({"--annotate", "out2", "--blur", "out", "--crops", "out", "in"}).status, 0);
  EXPECT_EQ(detect({"--blur-style", "blur", "in"}).status, 2);
  EXPECT_EQ(detect({"--blur", "out", "--blur-style", "strong", "in"}).status, 2);
}

}  // namespace
}  // namespace facesat::test
