// EXIF data of all kinds: pictures are rotated as by cv::imread.
#include <algorithm>
#include <cstdio>  // jpeglib.h needs it
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include "tests/kit/decoded.hpp"

namespace facesat::app {
namespace {

using namespace test;

constexpr unsigned orientation_tag = 0x112, short_type = 3, long_type = 4;
constexpr Size turned_size{16, 8};

// An entry of an EXIF directory. Orientation 6 rotates by 90 degrees.
struct Entry {
  unsigned tag = orientation_tag, type = short_type, count = 1, value = 6;
  int value_bytes = 2;  // of four; the others are 0
};

// EXIF data: a TIFF header, one directory, and the data after it.
Bytes tiff(ByteOrder order, const std::vector<Entry>& entries, const Bytes& rest = Bytes(4)) {
  Bytes data(2, order == ByteOrder::little ? 'I' : 'M');
  append_number(data, 42, 2, order);
  append_number(data, 8, 4, order);
  append_number(data, static_cast<unsigned>(entries.size()), 2, order);
  for (const Entry& entry : entries) {
    append_number(data, entry.tag, 2, order);
    append_number(data, entry.type, 2, order);
    append_number(data, entry.count, 4, order);
    append_number(data, entry.value, entry.value_bytes, order);
    data.resize(data.size() + 4 - entry.value_bytes);
  }
  return joined(data, rest);
}

using namespace std::string_view_literals;
constexpr std::string_view exif_signature = "Exif\0\0"sv;

Bytes exif_segment(const Bytes& exif) {
  return segment(JPEG_APP0 + 1, exif_signature, exif);
}

// The offset of each segment of a JPEG, including those between and after the scans, and of the end
// of the file.
std::vector<std::size_t> places_in(const Bytes& jpeg) {
  std::vector<std::size_t> places;
  for (std::size_t i = 2; i + 1 < jpeg.size(); ++i)
    if (jpeg[i] == 0xFF && jpeg[i + 1] >= 0xC0) places.push_back(i);
  places.push_back(jpeg.size());
  return places;
}

// Orientation entries of all types and counts.
std::vector<Bytes> blocks_of_all_types(ByteOrder order) {
  std::vector<Bytes> blocks;
  for (const unsigned value : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 256, 0x106, 65535})
    blocks.push_back(tiff(order, {{.value = value}}));
  for (unsigned type = 0; type <= 14; ++type)
    for (const unsigned count : {0u, 1u, 2u, 4u, 5u, 100u, ~0u})
      for (const int bytes : {1, 2, 4})
        blocks.push_back(tiff(order, {{.type = type, .count = count, .value_bytes = bytes}}));
  for (const unsigned second : {0, 1, 3, 6, 9})
    for (const unsigned first : {0, 1, 3, 6, 9})
      blocks.push_back(tiff(order, {{.value = first}, {.value = second}}));
  return blocks;
}

// Other entries before and after the one for the orientation; the values that they refer to end
// before the end of the data, exactly there, or outside.
std::vector<Bytes> blocks_with_other_tags(ByteOrder order) {
  std::vector<Bytes> blocks;
  const Bytes rest = noise(60, 8);
  const auto end = static_cast<unsigned>(tiff(order, {{}, {}}, rest).size());
  for (const unsigned tag : {0x10Eu, 0x10Fu, 0x110u, 0x11Au, 0x11Bu, 0x128u, 0x131u, 0x132u, 0x13Eu,
                             0x13Fu, 0x211u, 0x213u, 0x214u, 0x8298u, 0x8769u, 0x8825u}) {
    for (const unsigned count : {4u, 5u, 20u, ~0u})
      for (const unsigned before_end : {0, 4, 5, 7, 8, 15, 16, 19, 20, 23, 24, 47, 48, -1, -9999})
        blocks.push_back(tiff(order, {{tag, long_type, count, end - before_end, 4}, {}}, rest));
    blocks.push_back(tiff(order, {{}, {tag, long_type, ~0u, ~0u, 4}}, rest));
  }
  for (const unsigned at : {0u, 1u, ~0u - 7, ~0u})
    blocks.push_back(tiff(order, {{0x11A, long_type, 1, at, 4}, {}}));
  return blocks;
}

// Damaged headers, directories at other offsets, and data that end early.
std::vector<Bytes> blocks_with_other_headers(ByteOrder order) {
  const Bytes sound = tiff(order, {{0x10F, 2, 4, 0, 4}, {}, {0x11A, 5, 1, 8, 4}});
  std::vector<Bytes> blocks;
  for (std::size_t count = 2; count <= sound.size(); ++count)
    blocks.emplace_back(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(count));
  for (const unsigned char byte : Bytes{0, 'I', 'M', 'X', 'i', 0x2A, 0x2B})
    for (std::size_t at = 0; at < 4; ++at) {
      blocks.push_back(sound);
      blocks.back()[at] = byte;
    }
  const auto with_number = [&](std::size_t at, unsigned value, int bytes) {
    Bytes number;
    append_number(number, value, bytes, order);
    blocks.push_back(sound);
    std::copy(number.begin(), number.end(),
              blocks.back().begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (unsigned directory = 0; directory < 60; ++directory) with_number(4, directory, 4);
  for (unsigned before_0 = 1; before_0 < 20; ++before_0) with_number(4, 0 - before_0, 4);
  for (const unsigned entries : {0, 1, 2, 50, 65535}) with_number(8, entries, 2);
  return blocks;
}

using UprightTest = ComparedTest;

TEST_F(UprightTest, TurnedJpegsAreUpright) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const Bytes file = encode_jpeg({33, 17}, {.orientation = orientation});
    const std::optional<Picture> picture = CodecTest::compare(file);
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->pixels.size, orientation < 5 ? Size(33, 17) : Size(17, 33));
  }
}

TEST_F(UprightTest, TurnedPngsAreUpright) {
  for (const bool is_after_pixels : {false, true})
    for (int orientation = 1; orientation <= 8; ++orientation) {
      SCOPED_TRACE(orientation);
      Bytes exif = exif_with(orientation);
      exif.erase(exif.begin(), exif.begin() + 6);  // "Exif\0\0", in JPEGs only
      const Bytes plain = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8});
      const Bytes file =
          with_chunk(plain, is_after_pixels ? plain.size() - 12 : after_header, "eXIf", exif);
      const std::optional<Picture> picture = CodecTest::compare(file);
      ASSERT_TRUE(picture);
      EXPECT_EQ(picture->pixels.size, orientation < 5 ? Size(33, 17) : Size(17, 33));
    }
}

// The orientation in EXIF data of all kinds, against that of cv::imread.
class OrientationTest : public ComparedTest {
 protected:
  void TearDown() override { RecordProperty("compared", compared_); }

  // Compares a file, and counts how many are turned.
  void compare(const Bytes& file) {
    const std::optional<Picture> picture = CodecTest::compare(file);
    ++compared_;
    turned_ += picture && picture->pixels.size != turned_size;
  }

  // Compares a file with the EXIF data at the usual place.
  void compare_exif(const Bytes& exif) {
    SCOPED_TRACE(::testing::PrintToString(exif));
    compare(with_bytes(jpeg_, 2, exif_segment(exif)));
    compare(with_chunk(png_, after_header, "eXIf", exif));
  }

  // A test in which all pictures are rotated, or none is, would prove little.
  void expect_many_of_both() const {
    EXPECT_GT(turned_, 100);
    EXPECT_GT(compared_ - turned_, 100);
  }

  const Bytes jpeg_ = encode_jpeg(turned_size, {});
  const Bytes png_ = encode_png(turned_size, {PNG_COLOR_TYPE_RGB, 8});

 private:
  int compared_ = 0, turned_ = 0;
};

TEST_F(OrientationTest, IsThatOfOpenCvWhateverTheTypes) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    for (const Bytes& exif : blocks_of_all_types(order)) compare_exif(exif);
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfOpenCvWhateverTheOtherTags) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    for (const Bytes& exif : blocks_with_other_tags(order)) compare_exif(exif);
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfOpenCvWhateverTheHeader) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    for (const Bytes& exif : blocks_with_other_headers(order)) compare_exif(exif);
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfOpenCvInDamagedData) {
  std::mt19937 random(9);
  const Bytes small{0, 1, 2, 3, 4, 6, 8, 0x0F, 0x10, 0x12, 0x1A, 0x20, 0x2A, 'I', 'M', 0xFF};
  for (int round = 0; round < 2000; ++round) {
    const ByteOrder order = round % 2 == 0 ? ByteOrder::little : ByteOrder::big;
    Bytes exif =
        tiff(order, {{0x10F, 2, 12, 62, 4}, {0x11A, 5, 1, 66, 4}, {}, {0x13E, 5, 2, 62, 4}},
             noise(20, 10));
    for (int change = 0; change < 1 + round % 5; ++change)
      exif[random() % exif.size()] =
          round % 3 == 0 ? static_cast<unsigned char>(random()) : small[random() % small.size()];
    compare_exif(exif);
  }
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfOpenCvWhereverTheSegmentStands) {
  const Bytes exif = exif_segment(tiff(ByteOrder::little, {{}}));
  const Bytes tables(jpeg_.begin() + 20, jpeg_.begin() + 89);  // a quantisation table
  ASSERT_EQ(tables[1], 0xDB);
  const std::vector<Bytes> others{
      {},
      tables,
      segment(JPEG_COM, "a comment"),
      segment(0xDD, "\0\0"sv),  // no restarts
      segment(JPEG_APP0, "JFXX\0\x10"sv),
      segment(JPEG_APP0 + 2, "ICC_PROFILE\0\1\1"sv),
      segment(JPEG_APP0 + 14, "Adobe\0d\0\0\0\0\1"sv),
      segment(JPEG_APP0 + 1, "http://ns.adobe.com/xap/1.0/\0<x/>"sv),
      segment(JPEG_APP0 + 1, "abcdef", tiff(ByteOrder::big, {{.value = 8}})),
      segment(JPEG_APP0 + 1, exif_signature, tiff(ByteOrder::big, {{.value = 3}})),
      segment(JPEG_APP0 + 1, exif_signature),
      segment(JPEG_APP0 + 1, "abc"),
      segment(JPEG_APP0 + 1, ""),
      {0xFF, JPEG_APP0 + 1, 0, 1},
      {0xFF, JPEG_APP0 + 1, 0, 0},
      {0xFF, JPEG_COM, 0, 0},
      {0xFF, 0xFF},
      {0xFF, JPEG_RST0},
      {0xFF, 0x01},
      {0xFF, 0x00},
      {0x00}};
  for (const Bytes& first : others)
    for (const Bytes& second : others) {
      SCOPED_TRACE(::testing::PrintToString(std::pair(first, second)));
      compare(with_bytes(jpeg_, 2, joined(joined(first, second), exif)));
    }
  for (const bool progressive : {false, true}) {
    const Bytes plain = encode_jpeg(turned_size, {.progressive = progressive});
    for (const std::size_t place : places_in(plain))
      for (const Bytes& other : others) {
        SCOPED_TRACE(::testing::Message()
                     << progressive << ", " << place << ": " << ::testing::PrintToString(other));
        compare(with_bytes(plain, place, joined(other, exif)));
        compare(with_bytes(plain, place, joined(exif, other)));
        compare(with_bytes(with_bytes(plain, place, exif), 2, other));
        compare(with_bytes(with_bytes(plain, place, other), 2, exif));
      }
  }
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfOpenCvAmongDamagedSegments) {
  std::mt19937 random(11);
  const Bytes first = joined(segment(JPEG_COM, "a"), exif_segment(tiff(ByteOrder::little, {{}})));
  const Bytes segments = joined(joined(first, segment(JPEG_APP0 + 1, "b")),
                                exif_segment(tiff(ByteOrder::big, {{.value = 8}})));
  const Bytes bytes{0, 1, 2, 5, 8, 0xE0, 0xE1, 0xFE, 0xFF};
  for (int round = 0; round < 1000; ++round) {
    Bytes damaged = segments;
    for (int change = 0; change < 1 + round % 4; ++change)
      damaged[random() % damaged.size()] = bytes[random() % bytes.size()];
    SCOPED_TRACE(::testing::PrintToString(damaged));
    compare(with_bytes(jpeg_, 2, damaged));
  }
  expect_many_of_both();
}

TEST_F(OrientationTest, IsThatOfTheFirstOfSeveralChunks) {
  const std::vector<Bytes> blocks{tiff(ByteOrder::little, {{}}),
                                  tiff(ByteOrder::big, {{.value = 3}}),
                                  tiff(ByteOrder::big, {}),
                                  {'I', 'I'},
                                  {'I'},
                                  {},
                                  {'X', 'X', 0, 42}};
  for (const Bytes& first : blocks)
    for (const Bytes& second : blocks)
      for (const std::size_t place : {after_header, png_.size() - 12}) {
        SCOPED_TRACE(::testing::PrintToString(std::pair(first, second)));
        compare(with_chunk(with_chunk(png_, place, "eXIf", second), after_header, "eXIf", first));
        compare(with_chunk(with_chunk(png_, place, "eXIf", second), place, "eXIf", first));
      }
}

// In sound and in damaged files.
TEST_F(UprightTest, CommentsDoNotHideTheOrientationButXmpDoes) {
  const Bytes sound = encode_jpeg(turned_size, {.orientation = 6});
  for (const bool is_sound : {true, false}) {
    const Bytes file = is_sound ? sound : with_bytes(sound, sound.size() - 2, Bytes(16));
    const auto size_with = [&](const Bytes& bytes) {
      const std::optional<Picture> picture = try_read(with_bytes(file, 2, bytes));
      EXPECT_TRUE(picture);
      EXPECT_EQ(picture->warning.empty(), is_sound);
      return picture->size();
    };
    EXPECT_EQ(size_with({}), Size(8, 16));
    EXPECT_EQ(size_with(segment(JPEG_COM, "a comment")), Size(8, 16));
    EXPECT_EQ(size_with(segment(JPEG_APP0 + 1, "http://ns.adobe.com/xap/1.0/\0<x/>"sv)),
              turned_size);
  }
}

}  // namespace
}  // namespace facesat::app
