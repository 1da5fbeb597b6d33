// --orient auto: pictures without an EXIF orientation are turned to where their faces are upright.
#include <algorithm>
#include <random>

#include "media/exif.hpp"
#include "support/files.hpp"
#include "tests/kit/decoded.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

constexpr int orientations[] = {1, 6, 8, 3};  // in the order in which a tie is resolved

// What a camera stores that is turned so that this is the EXIF orientation of the picture.
Image<std::uint8_t> stored(const Image<std::uint8_t>& picture, int orientation) {
  const int reverse = orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
  const Picture turned = upright({{}, nullptr, {}, picture.view()}, reverse);
  Image<std::uint8_t> result(turned.size());
  for (int y = 0; y < result.size().height; ++y)
    std::copy_n(turned.luma.row(y), result.size().width, result.row(y));
  return result;
}

class Orient : public ProgramTest {
 protected:
  // Writes a picture of noise with faces that stand upright or are turned, and returns its name.
  std::string random_picture(unsigned seed) const {
    std::mt19937 random(seed);
    Image<std::uint8_t> picture = noise({150, 110}, seed, 40, 200);
    random.discard(picture.size().area());
    const int faces = static_cast<int>(random() % 4);
    for (int i = 0; i < faces; ++i) {
      const int radius = 14 + static_cast<int>(random() % 6), side = 3 * radius;
      const Image<std::uint8_t> face = stored(
          draw_faces({side, side}, {{side / 2, side / 2, radius}}), orientations[random() % 4]);
      const int left = static_cast<int>(random() % (150 - side)),
                top = static_cast<int>(random() % (110 - side));
      for (int y = 0; y < side; ++y) std::copy_n(face.row(y), side, picture.row(top + y) + left);
    }
    const std::string name = std::to_string(seed) + ".pgm";
    write_pgm(name, picture);
    return name;
  }
  Json record_of(const Arguments& arguments) const {
    const std::vector<Json> records = records_of(arguments);
    EXPECT_EQ(records.size(), 1u);
    return records.empty() ? Json() : records.front();
  }
};

TEST_F(Orient, AutoGivesTheResultOfTheUprightPicture) {
  const Image<std::uint8_t> picture = draw_faces({130, 90}, {{40, 45, 24}, {95, 40, 20}});
  write_pgm("upright.pgm", picture);
  const Json expected = record_of({"upright.pgm"});
  ASSERT_EQ(expected["faces"].size(), 2u);
  EXPECT_FALSE(expected.contains("orientation"));
  for (const int orientation : orientations) {
    write_pgm("stored.pgm", stored(picture, orientation));
    EXPECT_FALSE(record_of({"--orient", "exif", "stored.pgm"}).contains("orientation"));
    for (const char* luma : {"--luma", "-q"}) {
      const Json record = record_of({"--orient", "auto", luma, "stored.pgm"});
      EXPECT_EQ(record["orientation"], orientation);
      EXPECT_EQ(record["width"], 130);
      EXPECT_EQ(record["height"], 90);
      EXPECT_EQ(record["faces"], expected["faces"]);
    }
  }
}

// The rule, computed from four runs without the option.
TEST_F(Orient, TheMostConvincingResultIsKept) {
  int turned = 0, not_the_most_faces = 0;
  for (unsigned seed = 0; seed < 24; ++seed) {
    const std::string name = random_picture(seed);
    const std::vector<std::string> often{"--min-neighbors", "0", "--scale-factor", "1.2"};
    const auto with = [&](Arguments more) {
      if (seed % 3 == 0) more.insert(more.begin(), often.begin(), often.end());
      if (seed % 3 == 1) more.insert(more.begin(), {"--min-neighbors", "1"});
      return more;
    };
    const Picture read = read_picture(folder / name);
    const auto picture =
        formula<std::uint8_t>({150, 110}, [&](int x, int y) { return read.pixels.row(y)[x].g; });
    Json best;
    int best_orientation = 0;
    std::pair<int, double> most{-1, 0};
    std::size_t most_faces = 0;
    for (const int orientation : orientations) {
      // Turning what was stored upright is storing for the reverse orientation.
      const int reverse = orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
      write_pgm("turned.pgm", stored(picture, reverse));
      const Json record = record_of(with({"turned.pgm"}));
      std::pair<int, double> sum{0, 0};
      for (const Json& face : record["faces"]) {
        sum.first += face["neighbors"].get<int>();
        sum.second += face["score"].get<double>();
      }
      most_faces = std::max(most_faces, record["faces"].size());
      if (sum <= most) continue;
      most = sum;
      best = record;
      best_orientation = orientation;
    }
    const Json found = record_of(with({"--orient", "auto", name}));
    EXPECT_EQ(found["orientation"], best_orientation) << name;
    EXPECT_EQ(found["faces"], best["faces"]) << name;
    EXPECT_EQ(found["width"], best["width"]) << name;
    turned += best_orientation != 1;
    not_the_most_faces += best["faces"].size() < most_faces;
  }
  EXPECT_GT(turned, 3);
  EXPECT_LT(turned, 21);
  EXPECT_GT(not_the_most_faces, 0);  // else the rule is not tested
}

TEST_F(Orient, APictureWithoutFacesStaysAsItIs) {
  write_pgm("a.pgm", draw_faces({60, 40}, {}));
  const Json record = record_of({"--orient", "auto", "a.pgm"});
  EXPECT_EQ(record.dump(),
            R"({"image":"a.pgm","width":60,"height":40,"orientation":1,"faces":[]})");
}

// Whatever the orientation says, and also if it is wrong.
TEST_F(Orient, AnExifOrientationIsObeyed) {
  const Image<std::uint8_t> grey = draw_faces({120, 100}, {{50, 50, 22}});
  for (const int turn : {1, 6}) {
    const Image<std::uint8_t> picture = stored(grey, turn);
    const Bytes plain = encode_picture(coloured(picture.view()).view(), ".jpg");
    for (int orientation = 0; orientation <= 9; ++orientation) {
      const bool is_stated = orientation >= 1 && orientation <= 8;
      write_file(folder / "a.jpg", with_bytes(plain, 2, segment(0xE1, "", exif_with(orientation))));
      Json expected = record_of({"a.jpg"}), found = record_of({"--orient", "auto", "a.jpg"});
      EXPECT_EQ(found["orientation"], is_stated ? orientation : turn) << orientation;
      if (!is_stated) {
        EXPECT_EQ(found["faces"].size(), 1u);
        continue;
      }
      found.erase("orientation");
      EXPECT_EQ(found, expected) << orientation;
    }
    write_file(folder / "a.jpg", plain);
    EXPECT_EQ(record_of({"--orient", "auto", "a.jpg"})["orientation"], turn);
  }
}

TEST_F(Orient, WrittenPicturesAreTurnedToo) {
  const Image<std::uint8_t> picture = draw_faces({130, 90}, {{40, 45, 24}});
  write_pgm("upright.pgm", picture);
  write_pgm("stored.pgm", stored(picture, 6));
  for (const char* name : {"upright.pgm", "stored.pgm"})
    detect({"--orient", "auto", "--annotate", "boxes", "--crops", "crops", name});
  for (const char* kind : {"boxes/", "crops/"}) {
    const std::string end = kind[0] == 'b' ? ".pgm.png" : ".pgm.png_1.png";
    const Picture turned = read_picture(folder / (std::string(kind) + "stored" + end)),
                  expected = read_picture(folder / (std::string(kind) + "upright" + end));
    expect_same(turned, expected);
  }
}

TEST_F(Orient, APictureOnStandardInputIsTurned) {
  write_pgm("stored.pgm", stored(draw_faces({130, 90}, {{40, 45, 24}}), 8));
  const std::string bytes = read_text("stored.pgm");
  EXPECT_EQ(detect({"--orient", "auto", "-"}, bytes).records().at(0)["orientation"], 8);
}

TEST_F(Orient, CsvHasTheSameColumns) {
  const Image<std::uint8_t> picture = draw_faces({130, 90}, {{40, 45, 24}});
  write_pgm("a.pgm", picture);
  const std::string expected = detect({"--format", "csv", "a.pgm"}).out;
  write_pgm("a.pgm", stored(picture, 3));
  EXPECT_EQ(detect({"--format", "csv", "--orient", "auto", "a.pgm"}).out, expected);
}

TEST_F(Orient, ResumeWantsTheSameChoice) {
  for (const char* name : {"in/a.pgm", "in/b.pgm"}) add_face(name);
  write_text("in/c.jpg", "broken");  // so that the journal stays
  detect({"--orient", "auto", "-o", "r", "in"});
  const std::string expected = read_text("r");
  EXPECT_TRUE(ended(detect({"--resume", "-o", "r", "in"}), 2, "--orient auto"));
  EXPECT_EQ(read_text("r"), expected);
  // The records are recognised without a journal, too.
  remove({"r.resume"});
  write_text("r", expected.substr(0, expected.find('\n') + 10));
  detect({"--resume", "--orient", "auto", "-o", "r", "in"});
  EXPECT_EQ(read_text("r"), expected);
}

TEST_F(Orient, TheTimeLimitIsThatOfAllFour) {
  write_pgm("a.pgm", draw_faces({400, 300}, {}));
  EXPECT_EQ(
      records_of({"--orient", "auto", "--max-seconds", "1e-9", "a.pgm"}, 1).at(0)["error"]["kind"],
      "limit");
}

}  // namespace
}  // namespace facesat::test
