// JPEG and PNG files of all kinds, sound and damaged, against cv::imread.
#include <array>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include "media/codec_formats.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/picture_bytes.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using namespace test;

constexpr std::array<Size, 4> sizes{{{1, 1}, {7, 5}, {33, 17}, {64, 48}}};

TEST_F(CodecTest, PngsOfAllKindsHaveTheSamePixels) {
  if (!has_oracle) GTEST_SKIP() << "skipped: OpenCV is what they are compared with";
  const std::vector<std::pair<int, std::vector<int>>> kinds{{PNG_COLOR_TYPE_GRAY, {1, 2, 4, 8, 16}},
                                                            {PNG_COLOR_TYPE_PALETTE, {1, 2, 4, 8}},
                                                            {PNG_COLOR_TYPE_RGB, {8, 16}},
                                                            {PNG_COLOR_TYPE_GRAY_ALPHA, {8, 16}},
                                                            {PNG_COLOR_TYPE_RGB_ALPHA, {8, 16}}};
  for (const auto& [type, depths] : kinds)
    for (const int bits : depths)
      for (const bool interlaced : {false, true})
        for (const bool transparent : {false, true})
          for (const Size size : sizes) {
            if (transparent && (type & PNG_COLOR_MASK_ALPHA) != 0) continue;
            SCOPED_TRACE(::testing::Message() << "colour type " << type << ", " << bits << " bits, "
                                              << interlaced << transparent << ", " << size.width);
            EXPECT_TRUE(compare(encode_png(size, {type, bits, interlaced, transparent})));
          }
}

// Grey, YCbCr, CMYK and YCCK.
TEST_F(CodecTest, JpegsOfAllKindsHaveTheSamePixels) {
  if (!has_oracle) GTEST_SKIP() << "skipped: OpenCV is what they are compared with";
  for (const auto& [channels, ycck] :
       {std::pair(1, false), std::pair(3, false), std::pair(4, false), std::pair(4, true)})
    for (const auto& [across, down] : {std::pair(1, 1), std::pair(2, 1), std::pair(2, 2)})
      for (const bool progressive : {false, true})
        for (const Size size : sizes) {
          SCOPED_TRACE(::testing::Message()
                       << channels << " channels, " << ycck << ", " << across << "x" << down << ", "
                       << progressive << ", " << size.width);
          const Bytes file = encode_jpeg(size, {channels, across, down, ycck, progressive});
          EXPECT_TRUE(compare(file));
          const std::optional<Picture> luma = compare(file, Reading::luma);
          ASSERT_TRUE(luma && luma->luma.data && !luma->pixels.data);
        }
}

TEST_F(CodecTest, PicturesWithTooManyPixelsAreRefused) {
  const DecodeLimits limits{.max_pixels = 33 * 17 - 1};
  for (const Bytes& file : {encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8}),
                            encode_jpeg({33, 17}, {}), encode_jpeg({33, 17}, {.channels = 4})}) {
    write_file(folder / "picture", file);
    try {
      read_picture(folder / "picture", limits);
      ADD_FAILURE() << "decoded";
    } catch (const InputError& error) {
      EXPECT_EQ(error.kind, "limit");
      EXPECT_NE(std::string(error.what()).find("33x17"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("--max-pixels"), std::string::npos) << error.what();
    }
  }
  write_file(folder / "picture", encode_jpeg({33, 17}, {}));
  EXPECT_EQ(read_picture(folder / "picture", {.max_pixels = 33 * 17}).pixels.size, Size(33, 17));
}

// Damaged JPEGs are still decoded, as by OpenCV, but with a warning.
TEST_F(CodecTest, DamageOfJpegsIsReportedWithAndWithoutAnEnd) {
  const auto warning = [](const Bytes& file) {
    const std::optional<Picture> picture = try_read(file);
    return picture ? picture->warning : "not decoded";
  };
  const Bytes sound = encode_jpeg({64, 48}, {});
  EXPECT_EQ(warning(sound), "");
  Bytes damaged = sound;
  damaged.erase(damaged.end() - 200, damaged.end() - 100);
  EXPECT_EQ(warning(damaged).find("the file is damaged (Corrupt JPEG data"), 0u)
      << warning(damaged);
  EXPECT_EQ(warning({sound.begin(), sound.end() - 200}).find("the file ends early"), 0u);
  EXPECT_EQ(warning(with_bytes(sound, 20, {1, 2, 3})),  // after the first segment
            "the file is damaged (Corrupt JPEG data: 3 extraneous bytes before marker 0xdb)");
  // Data of other programs may contain bytes that look like the header of a huge picture.
  const Bytes huge{0xFF, 0xC5, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF};
  damaged = with_bytes(damaged, 2, segment(0xED, "Photoshop 3.0", huge));
  EXPECT_EQ(warning(damaged).find("the file is damaged (Corrupt JPEG data"), 0u)
      << warning(damaged);
}

TEST_F(CodecTest, AnimationsAreReported) {
  const auto warning = [this](const Bytes& file) {
    write_file(folder / "picture", file);
    return read_picture(folder / "picture").warning;
  };
  const Bytes png = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8});
  EXPECT_EQ(warning(png), "");
  EXPECT_EQ(warning(with_chunk(png, after_header, "acTL", {0, 0, 0, 2, 0, 0, 0, 0})),
            only_first_frame);
  if (!FACESAT_READS_VIDEOS) return;  // GIFs are read by OpenCV
  const Bytes header{'G', 'I', 'F', '8', '9', 'a', 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255},
      frame{0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0};
  Bytes gif = with_bytes(header, header.size(), frame);
  EXPECT_EQ(warning(with_bytes(gif, gif.size(), {0x3B})), "");
  gif = with_bytes(gif, gif.size(), frame);
  EXPECT_EQ(warning(with_bytes(gif, gif.size(), {0x3B})), only_first_frame);
}

// A progressive JPEG that repeats its last scan, which has coefficients of the chroma.
Bytes with_scans(int repetitions) {
  Bytes file = encode_jpeg({64, 48}, {.progressive = true});
  const Bytes marker{0xFF, 0xDA};
  const auto last = std::find_end(file.begin(), file.end(), marker.begin(), marker.end());
  const Bytes scan(last, file.end() - 2);
  for (int i = 0; i < repetitions; ++i) file.insert(file.end() - 2, scan.begin(), scan.end());
  return file;
}

TEST_F(CodecTest, JpegsWithTooManyScansAreRefused) {
  const DecodeLimits limits{.max_pixels = 64 * 48};  // as the picture has: ten scans are allowed
  const auto read = [&](const Bytes& file) -> std::string {
    write_file(folder / "picture", file);
    try {
      return read_picture(folder / "picture", limits).warning;
    } catch (const InputError& error) {
      return error.kind + ": " + error.what();
    }
  };
  EXPECT_EQ(read(encode_jpeg({64, 48}, {.progressive = true})).find("limit"), std::string::npos);
  EXPECT_NE(read(with_scans(50)).find("limit: this JPEG has"), std::string::npos);
  Bytes without_end = with_scans(50);
  without_end.erase(without_end.end() - 2, without_end.end());
  EXPECT_NE(read(without_end).find("limit: this JPEG has"), std::string::npos);
}

TEST_F(CodecTest, DecodingCanBeStopped) {
  int questions = 0;
  const DecodeLimits limits{.should_stop = [&] { return ++questions == 5; }};
  EXPECT_THROW(read_jpeg(encode_jpeg({64, 480}, {}), limits), Stopped);
  questions = 0;
  EXPECT_THROW(read_jpeg(encode_jpeg({64, 480}, {.progressive = true}), limits), Stopped);
  questions = 0;
  EXPECT_THROW(read_png(encode_png({64, 48}, {PNG_COLOR_TYPE_RGB, 8}), limits), Stopped);
}

// Samples of 16 bits are reduced to their upper 8.
TEST_F(CodecTest, WidePnmsAreReduced) {
  for (const int channels : {1, 3}) {
    std::string file = channels == 1 ? "P5\n# wide\n7 5\n65535\n" : "P6 7 5 65535\n";
    for (int i = 0; i < 7 * 5 * channels; ++i) {
      file += static_cast<char>(7 * i);
      file += static_cast<char>(255 - i);
    }
    const std::span bytes(reinterpret_cast<const unsigned char*>(file.data()), file.size());
    const Picture picture = read_picture(InputFile(bytes));
    ASSERT_EQ(picture.size(), Size(7, 5));
    for (int i = 0; i < 7 * 5; ++i) {
      const Bgr pixel = picture.pixels.row(i / 7)[i % 7];
      const auto sample = [&](int channel) {
        return static_cast<std::uint8_t>(7 * (i * channels + channel % channels));
      };
      EXPECT_EQ(pixel.r, sample(0)) << i;
      EXPECT_EQ(pixel.g, sample(1)) << i;
      EXPECT_EQ(pixel.b, sample(2)) << i;
    }
    EXPECT_THROW(read_picture(InputFile(bytes.first(bytes.size() - 1))), InputError);
  }
}

// Text chunks are compressed: each of these is a megabyte of zeros.
TEST_F(CodecTest, TextsInPngsAreNotUnpacked) {
  Bytes packed(2000);
  uLongf length = packed.size();
  const Bytes zeros(1 << 20);
  ASSERT_EQ(compress(packed.data(), &length, zeros.data(), zeros.size()), Z_OK);
  Bytes text{'k', 0, 0};  // keyword, method
  text.insert(text.end(), packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(length));
  const Bytes plain = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8});
  Bytes file = with_chunk(plain, after_header, "zTXt", text);
  const auto begin_of_chunk = file.begin() + static_cast<std::ptrdiff_t>(after_header);
  const Bytes chunk(begin_of_chunk,
                    begin_of_chunk + static_cast<std::ptrdiff_t>(file.size() - plain.size()));
  Bytes chunks;
  for (int i = 1; i < 2000; ++i) chunks.insert(chunks.end(), chunk.begin(), chunk.end());
  file.insert(begin_of_chunk, chunks.begin(), chunks.end());
  // Decompressing them would take two seconds. Processor time does not depend on other load.
  const std::clock_t begin = std::clock();
  expect_same(read_png(file), read_png(plain));
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 2);
}

// The bytes of a picture may come from an archive instead of a file.
TEST_F(CodecTest, BytesInMemoryAreReadAsFilesAre) {
  const std::string pgm = "P5\n3 2\n255\n\1\2\3\4\5\6";
  Bytes cut = encode_jpeg({64, 48}, {});
  cut.resize(cut.size() - 100);
  for (const Bytes& bytes :
       {encode_jpeg({33, 17}, {}), encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8}),
        Bytes(pgm.begin(), pgm.end()), cut}) {
    write_file(folder / "picture", bytes);
    std::optional<Picture> from_file, from_memory;
    std::string why_not_file, why_not_memory;
    try {
      from_file = read_picture(folder / "picture");
    } catch (const InputError& error) {
      why_not_file = error.what();
    }
    try {
      from_memory = read_picture(InputFile(std::span<const unsigned char>(bytes)));
    } catch (const InputError& error) {
      why_not_memory = error.what();
    }
    EXPECT_EQ(why_not_memory, why_not_file);
    ASSERT_EQ(from_memory.has_value(), from_file.has_value());
    if (!from_file) continue;
    expect_same(from_memory, from_file);
    EXPECT_EQ(from_memory->warning, from_file->warning);
  }
  EXPECT_THROW(InputFile(std::span<const unsigned char>()), InputError);
}

TEST_F(CodecTest, OtherFilesAreNoPictures) {
  for (const Bytes& bytes :
       {Bytes{0xFF}, Bytes{0xFF, 0xD8}, Bytes{0xFF, 0xD8, 0}, Bytes{0x89, 'P', 'N', 'G'}})
    EXPECT_FALSE(try_read(bytes));
  EXPECT_FALSE(try_read(noise(1000, 5)));
}

// A JPEG without an end is decoded, as soon as OpenCV decodes it; a PNG is not.
TEST_F(CodecTest, FilesWithoutAnEndAreDecodedAsByOpenCv) {
  for (const bool progressive : {false, true}) {
    const Bytes file = encode_jpeg({33, 17}, {.progressive = progressive});
    for (std::size_t count = 1; count + 1 < file.size(); ++count) {
      const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count));
      const std::optional<Picture> picture = has_oracle ? compare(cut) : try_read(cut);
      if (picture) {
        ASSERT_EQ(picture->warning.find("the file ends early"), 0u) << count;
      }
    }
  }
  for (const bool interlaced : {false, true}) {
    const Bytes file = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8, interlaced});
    for (std::size_t count = 1; count < file.size(); ++count)
      ASSERT_FALSE(try_read(std::span(file).first(count))) << count;
  }
}

// Bytes are changed, removed, and added.
void damage(Bytes& file, std::mt19937& random, int changes) {
  for (int change = 0; change < changes; ++change) {
    const auto at = file.begin() + static_cast<std::ptrdiff_t>(2 + random() % (file.size() - 2));
    if (random() % 4 == 0)
      file.erase(at, std::min(at + 1 + random() % 4, file.end()));
    else if (random() % 3 == 0)
      file.insert(at, 1 + random() % 4, static_cast<unsigned char>(random()));
    else
      *at = static_cast<unsigned char>(random());
  }
}

TEST_F(CodecTest, DamagedFilesAreReadAsByOpenCvOrNotAtAll) {
  if (!has_oracle) GTEST_SKIP() << "skipped: OpenCV is what they are compared with";
  std::mt19937 random(6);
  int read = 0, refused = 0, warnings = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool png = round % 2 == 0;
    Bytes file = png ? encode_png({33, 17}, {PNG_COLOR_TYPE_PALETTE, 8, round % 4 == 0, true})
                     : encode_jpeg({64, 48}, {.channels = round % 8 == 1 ? 4 : 3,
                                              .across = 1 + round / 16 % 2,
                                              .progressive = round % 4 == 1});
    damage(file, random, 1 + round % 3);
    SCOPED_TRACE(round);
    const Reading reading = !png && round % 32 > 15 ? Reading::luma : Reading::colour;
    const std::optional<Picture> picture = compare(file, reading);
    ++(picture ? read : refused);
    warnings += picture && !picture->warning.empty();
  }
  EXPECT_GT(read, 200);
  EXPECT_GT(refused, 200);
  EXPECT_GT(warnings, 200);
}

}  // namespace
}  // namespace facesat::app
