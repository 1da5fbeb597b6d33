// JPEG and PNG files against the general codec (OpenCV, or stb_image in builds without it), which
// reads the same files.
#include <algorithm>
#include <array>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include "app/errors.hpp"
#include "app/io/codec_jpeg.hpp"
#include "app/io/codec_png.hpp"
#include "app/io/files.hpp"
#include "tests/app/program.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<unsigned char>;

constexpr std::array<Size, 4> sizes{{{1, 1}, {7, 5}, {33, 17}, {64, 48}}};

Bytes noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

// A ramp with some noise: what a JPEG keeps of it differs from block to block.
Bytes ramp(Size size, int channels) {
  Bytes bytes = noise(size.area() * channels, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(bytes[i] / 4 + 3 * i % 190);
  return bytes;
}

struct JpegKind {
  int channels = 3, across = 1, down = 1;  // of luma samples for one of chroma
  bool progressive = false;
  int orientation = 0;  // 0: no EXIF data
};

// A TIFF header and one entry.
Bytes exif_with(int orientation) {
  const auto value = static_cast<unsigned char>(orientation);
  return {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42,    0, 0, 0, 8, 0, 1,
          1,   18,  0,   3,   0, 0, 0,   1,   0, value, 0, 0, 0, 0, 0, 0};
}

Bytes encode_jpeg(Size size, const JpegKind& kind) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &data, &count);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = kind.channels;
  info.in_color_space = kind.channels == 1   ? JCS_GRAYSCALE
                        : kind.channels == 3 ? JCS_RGB
                                             : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 80, TRUE);
  info.comp_info[0].h_samp_factor = kind.across;
  info.comp_info[0].v_samp_factor = kind.down;
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (kind.orientation > 0) {
    const Bytes exif = exif_with(kind.orientation);
    jpeg_write_marker(&info, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  Bytes pixels = ramp(size, kind.channels);
  for (int y = 0; y < size.height; ++y) {
    unsigned char* row = &pixels[static_cast<std::size_t>(y) * size.width * kind.channels];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes file(data, data + count);
  std::free(data);
  return file;
}

struct PngKind {
  int colour_type, bits;
  bool interlaced = false, transparent = false;  // transparent: with a tRNS chunk
};

Bytes encode_png(Size size, const PngKind& kind) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp from, png_bytep data, std::size_t count) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(from));
        to.insert(to.end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  const Bytes colours = noise(3 * 256, 2), alphas = noise(256, 3);
  if (kind.colour_type == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(colours.data()), 1 << kind.bits);
  const png_color_16 see_through{1, 1, 1, 1, 1};
  if (kind.transparent)
    png_set_tRNS(png, info, alphas.data(), 1 << std::min(kind.bits, 8), &see_through);
  png_write_info(png, info);
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  Bytes pixels = noise(row_bytes * size.height, 4);
  std::vector<png_bytep> rows;
  for (int y = 0; y < size.height; ++y) rows.push_back(&pixels[y * row_bytes]);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

class CodecTest : public test::ProgramTest {
 protected:
  // What the general codec makes of a file with these bytes; nothing if it cannot read it.
  std::optional<Picture> read_generally(const Bytes& bytes, const std::string& extension) const {
    const fs::path file = folder / ("picture" + extension);
    write_file(file, bytes);
    try {
      return read_other_picture(file);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }
};

void expect_same(const std::optional<Picture>& picture, const std::optional<Picture>& expected) {
  ASSERT_TRUE(picture);
  ASSERT_TRUE(expected);
  ASSERT_EQ(picture->pixels.size, expected->pixels.size);
  for (int y = 0; y < picture->pixels.size.height; ++y)
    ASSERT_EQ(std::memcmp(picture->pixels.row(y), expected->pixels.row(y),
                          sizeof(Bgr) * picture->pixels.size.width),
              0)
        << "row " << y;
}

TEST_F(CodecTest, PngsOfAllKindsHaveTheSamePixels) {
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
            const Bytes file = encode_png(size, {type, bits, interlaced, transparent});
            expect_same(read_png(file), read_generally(file, ".png"));
          }
}

#if FACESAT_READS_FILMS
constexpr bool has_opencv = true;
#else
constexpr bool has_opencv = false;
#endif

TEST_F(CodecTest, JpegsOfAllKindsHaveTheSamePixels) {
  if (!has_opencv) GTEST_SKIP() << "skipped: stb_image rounds in its own way";
  for (const int channels : {1, 3})
    for (const auto& [across, down] : {std::pair(1, 1), std::pair(2, 1), std::pair(2, 2)})
      for (const bool progressive : {false, true})
        for (const Size size : sizes) {
          SCOPED_TRACE(::testing::Message() << channels << " channels, " << across << "x" << down
                                            << ", " << progressive << ", " << size.width);
          const Bytes file = encode_jpeg(size, {channels, across, down, progressive});
          expect_same(read_jpeg(file), read_generally(file, ".jpg"));
        }
}

TEST_F(CodecTest, TurnedJpegsAreUpright) {
  if (!has_opencv) GTEST_SKIP() << "skipped: stb_image rounds in its own way";
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const Bytes file = encode_jpeg({33, 17}, {.orientation = orientation});
    const std::optional<Picture> picture = read_jpeg(file);
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->pixels.size, orientation < 5 ? Size(33, 17) : Size(17, 33));
    expect_same(picture, read_generally(file, ".jpg"));
  }
}

TEST_F(CodecTest, FourColoursAreLeftToOthers) {
  EXPECT_FALSE(read_jpeg(encode_jpeg({33, 17}, {.channels = 4})));
}

TEST_F(CodecTest, OtherFilesAreNeither) {
  for (const Bytes& bytes : {Bytes{}, Bytes{0xFF}, Bytes{0x89, 'P', 'N', 'G'}, noise(1000, 5)}) {
    EXPECT_FALSE(read_jpeg(bytes));
    EXPECT_FALSE(read_png(bytes));
  }
}

TEST_F(CodecTest, FilesWithoutAnEndAreLeftToOthers) {
  for (const bool progressive : {false, true}) {
    const Bytes file = encode_jpeg({33, 17}, {.progressive = progressive});
    for (std::size_t count = 0; count + 2 < file.size(); ++count)
      ASSERT_FALSE(read_jpeg(std::span(file).first(count))) << count;
  }
  for (const bool interlaced : {false, true}) {
    const Bytes file = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8, interlaced});
    for (std::size_t count = 0; count < file.size(); ++count)
      ASSERT_FALSE(read_png(std::span(file).first(count))) << count;
  }
}

// Whatever is in them, broken files are read as the general codec reads them, or left to it.
TEST_F(CodecTest, BrokenFilesAreReadAsByOthersOrNotAtAll) {
  std::mt19937 random(6);
  int read = 0, left = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool png = round % 2 == 0;
    Bytes file = png ? encode_png({33, 17}, {PNG_COLOR_TYPE_PALETTE, 8, round % 4 == 0, true})
                     : encode_jpeg({33, 17}, {.progressive = round % 4 == 1});
    for (int change = 0; change < 1 + round % 3; ++change)
      file[random() % file.size()] = static_cast<unsigned char>(random());
    SCOPED_TRACE(round);
    const std::optional<Picture> picture = png ? read_png(file) : read_jpeg(file);
    ++(picture ? read : left);
    if (picture && (png || has_opencv))
      expect_same(picture, read_generally(file, png ? ".png" : ".jpg"));
  }
  EXPECT_GT(read, 200);
  EXPECT_GT(left, 200);
}

}  // namespace
}  // namespace facesat::app
