// BMP, PNM, WebP, TIFF and HEIF files of all kinds, and PFM, against cv::imread, which has no HEIF.
#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#if FACESAT_HEIF
#include <libheif/heif.h>
#endif
#if FACESAT_TIFF
#include <tiffio.h>
#endif
#if FACESAT_ORACLE
#include <opencv2/imgcodecs.hpp>
#endif

#include "media/codec_formats.hpp"
#include "tests/kit/decoded.hpp"

namespace facesat::app {
namespace {

using namespace test;
using namespace std::string_view_literals;

constexpr std::array<Size, 4> sizes{{{1, 1}, {7, 5}, {33, 17}, {64, 48}}};

class FormatsTest : public ComparedTest {
 protected:
  // Every beginning of the file, all but the last byte of which may be missing.
  void compare_beginnings(const Bytes& file) const {
    for (std::size_t count = 3; count < file.size(); ++count) {
      SCOPED_TRACE(count);
      compare({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count)});
    }
  }

  // Files with a few other bytes. Returns how many of them are read.
  int compare_damaged(const Bytes& file, int rounds) const {
    std::mt19937 random(7);
    int read = 0;
    for (int round = 0; round < rounds; ++round) {
      Bytes damaged = file;
      for (int change = 0; change < 1 + round % 3; ++change) {
        const std::size_t end =
            round % 2 == 0 ? file.size() : std::min<std::size_t>(file.size(), 64);
        damaged[3 + random() % (end - 3)] = static_cast<unsigned char>(random());
      }
      SCOPED_TRACE(::testing::PrintToString(damaged));
      read += compare(damaged).has_value();
    }
    return read;
  }
};

// ---- BMP

TEST_F(FormatsTest, BmpsOfAllKindsHaveTheSamePixels) {
  for (const Size size : sizes)
    for (const int bits : {1, 4, 8, 16, 24, 32})
      for (const int header : {12, 40, 52, 56, 64, 108, 124})
        for (const bool top_down : {false, true}) {
          if (header == 12 && top_down) continue;
          SCOPED_TRACE(
              fmt::format("{} wide, {} bits, header {}, {}", size.width, bits, header, top_down));
          const auto picture =
              compare(encode_bmp(size, {.bits = bits, .header = header, .top_down = top_down}));
          EXPECT_EQ(picture.has_value(), bits != 16 || header != 12);
        }
}

TEST_F(FormatsTest, BmpsWithFewColoursHaveTheSamePixels) {
  for (const int bits : {1, 4, 8})
    for (const unsigned colours : {1u, 2u, 17u, 256u, 257u, 0x80000000u})
      for (const Size size : sizes) {
        const Bytes palette = noise(4 * std::min(colours, 300u), 4);
        compare(encode_bmp(size, {.bits = bits, .colours = colours}, palette,
                           noise(bmp_row(size.width, bits) * size.height, 3)));
      }
}

TEST_F(FormatsTest, BmpsWithMasksHaveTheSamePixelsOrAreRefused) {
  for (const Size size : sizes)
    for (const int bits : {16, 32})
      for (const int header : {40, 52, 56, 108, 124})
        for (const Bytes& after :
             {masks(0x7C00, 0x3E0, 0x1F), masks(0xF800, 0x7E0, 0x1F), masks(0xF00, 0xF0, 0xF),
              masks(0xFF0000, 0xFF00, 0xFF), masks(0xFF, 0xFF00, 0xFF0000), Bytes{}}) {
          SCOPED_TRACE(fmt::format("{} wide, {} bits, header {}", size.width, bits, header));
          compare(encode_bmp(
              size, {.bits = bits, .compression = 3, .header = header, .after_header = after}));
        }
  EXPECT_EQ(
      refusal(encode_bmp({7, 5}, {.bits = 16, .compression = 3, .after_header = masks(1, 2, 4)})),
      "decode: this BMP cannot be decoded: its colours have other bits than five, six and "
      "five, or five of each");
}

TEST_F(FormatsTest, RunLengthEncodedBmpsHaveTheSamePixels) {
  int read = 0;
  for (const Size size : sizes)
    for (const int bits : {4, 8})
      for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(fmt::format("{} wide, {} bits, seed {}", size.width, bits, seed));
        const BmpKind kind{
            .bits = bits, .compression = bits == 8 ? 1u : 2u, .top_down = seed % 2 == 1};
        read += compare(encode_bmp(size, kind, noise(std::size_t{4} << bits, 2),
                                   random_rle(size, bits, seed)))
                    .has_value();
      }
  EXPECT_GT(read, 200);
}

TEST_F(FormatsTest, CutAndDamagedBmpsAreReadAsByOpenCvOrNotAtAll) {
  for (const BmpKind& kind :
       {BmpKind{.bits = 4}, BmpKind{.bits = 24}, BmpKind{.bits = 24, .header = 12}}) {
    compare_beginnings(encode_bmp({7, 5}, kind));
    EXPECT_GT(compare_damaged(encode_bmp({33, 17}, kind), 500), 100);
  }
  for (const int bits : {4, 8}) {
    const BmpKind kind{.bits = bits, .compression = bits == 8 ? 1u : 2u};
    const Bytes palette = noise(std::size_t{4} << bits, 2);
    compare_beginnings(encode_bmp({7, 5}, kind, palette, random_rle({7, 5}, bits, 3)));
    EXPECT_GT(
        compare_damaged(encode_bmp({33, 17}, kind, palette, random_rle({33, 17}, bits, 3)), 500),
        20);
  }
  Bytes cut = encode_bmp({33, 17}, {.bits = 24});
  cut.resize(cut.size() * 2 / 3);
  EXPECT_EQ(refusal(cut), "decode: this BMP cannot be decoded: the file ends early");
}

// ---- PNM

TEST_F(FormatsTest, PnmsOfAllKindsHaveTheSamePixels) {
  for (const char kind : "123456"sv)
    for (const int maximum : {1, 7, 100, 255, 256, 1000, 65535})
      for (const Size size : sizes) {
        SCOPED_TRACE(fmt::format("P{}, maximum {}, {} wide", kind, maximum, size.width));
        const Bytes file = encode_pnm(kind, size, maximum, 5);
        EXPECT_TRUE(compare(file));
        const bool needs_no_decoding = (kind == '5' || kind == '6') && maximum <= 255;
        EXPECT_EQ(pixels_in_file(InputFile(file)).has_value(), needs_no_decoding);
      }
}

// Whatever is between the numbers, and values above the maximum.
TEST_F(FormatsTest, UnusualPnmsAreReadAsByOpenCvOrNotAtAll) {
  int read = 0;
  for (const std::string_view file : {"P2 2 1 9 3 9"sv,
                                      "P2 2 1 9 3 9 "sv,
                                      "P2 2 1 9 3 9x"sv,
                                      "P2#c\n2 1 9 3 9 "sv,
                                      "P2\n#c\r2 1#c\n9 3 9\n"sv,
                                      "P2\n2 1 9 3#c\n9\n"sv,
                                      "P2\n2 1 9 3 10\n"sv,
                                      "P2\n2 1 9 -3 9\n"sv,
                                      "P2\n2 1 999 3 1000\n"sv,
                                      "P2\n2 1 9 3 99999999999\n"sv,
                                      "P2\n0 1 9 3 9\n"sv,
                                      "P2\n2 1 0 3 9\n"sv,
                                      "P2\n2 1 65536 3 9\n"sv,
                                      "P2\n2 1 9 3,9\n"sv,
                                      "P1\n4 1\n0110"sv,
                                      "P1\n4 1\n0 1 2 7"sv,
                                      "P1\n4 1\n01 1"sv,
                                      "P1\t4\v1\f0110"sv,
                                      "P4\n9 1\n\xA5\x80"sv,
                                      "P4\n9 1\n\xA5"sv,
                                      "P5\n2 1\n255 ab"sv,
                                      "P5\n2 1\n255\r\nab"sv,
                                      "P5\n2 1\n255#ab"sv,
                                      "P5\n2 1\n255"sv,
                                      "P5\n2 1 9 \xFF\x05"sv,
                                      "P5x2 1 9 ab"sv,
                                      "P6\n1 1\n300\n\1\2\3\4\5\6"sv,
                                      "P6\n1 1\n300\n\1\2\3\4\5"sv,
                                      "P0\n1 1\n3\n1\n"sv,
                                      "P9\n1 1\n3\n1\n"sv}) {
    SCOPED_TRACE(file);
    read += compare(bytes_of(file)).has_value();
  }
  EXPECT_GE(read, 12);
}

TEST_F(FormatsTest, CutAndDamagedPnmsAreReadAsByOpenCvOrNotAtAll) {
  for (const char kind : "123456"sv) {
    SCOPED_TRACE(kind);
    compare_beginnings(encode_pnm(kind, {7, 5}, 100, 6));
    EXPECT_GT(compare_damaged(encode_pnm(kind, {33, 17}, 100, 6), 500), 20);
  }
  Bytes cut = encode_pnm('6', {33, 17}, 255, 7);
  cut.resize(cut.size() * 2 / 3);
  EXPECT_EQ(refusal(cut), "decode: this PNM cannot be decoded: the file ends early");
}

// ---- WebP

#if FACESAT_WEBP
TEST_F(FormatsTest, WebPsOfAllKindsHaveTheSamePixels) {
  for (const Size size : sizes)
    for (const bool has_alpha : {false, true})
      for (const float quality : {0.f, 50.f, 100.f}) {
        SCOPED_TRACE(fmt::format("{} wide, {}, {}", size.width, has_alpha, quality));
        EXPECT_TRUE(compare(encode_webp(size, has_alpha, false, quality)));
        EXPECT_TRUE(compare(encode_webp(size, has_alpha, true, quality)));
      }
}

TEST_F(FormatsTest, CutAndDamagedWebPsAreReadAsByOpenCvOrNotAtAll) {
  for (const bool lossless : {false, true}) {
    const Bytes file = encode_webp({33, 17}, lossless, lossless, 50);
    compare_beginnings(file);
    EXPECT_GT(compare_damaged(file, 500), 20);
  }
}

TEST_F(FormatsTest, TheFirstFrameOfAnAnimatedWebPIsRead) {
  const Bytes file = animated_webp({33, 17});
  const Bytes first = encode_webp({33, 17}, false, true, 0);  // the same noise
  const std::optional<Picture> picture = try_read(file);
  expect_same(picture, try_read(first));
  EXPECT_EQ(picture->warning, only_first_frame);
  EXPECT_EQ(warning_of(first), "");
  EXPECT_EQ(refusal(file, {.max_pixels = 33 * 17 - 1}).substr(0, 6), "limit:");
}
#endif

// ---- TIFF

#if FACESAT_TIFF
class TiffTest : public FormatsTest {
 protected:
  Bytes encode(Size size, const TiffKind& kind) const {
    return encode_tiff(folder / "made.tif", size, kind);
  }
};

const std::vector<TiffKind> tiff_colours{
    {PHOTOMETRIC_MINISBLACK, 1, 1}, {PHOTOMETRIC_MINISWHITE, 1, 1}, {PHOTOMETRIC_MINISBLACK, 1, 8},
    {PHOTOMETRIC_MINISWHITE, 1, 8}, {PHOTOMETRIC_MINISBLACK, 2, 8}, {PHOTOMETRIC_MINISBLACK, 1, 16},
    {PHOTOMETRIC_PALETTE, 1, 8},    {PHOTOMETRIC_RGB, 3, 8},        {PHOTOMETRIC_RGB, 4, 8},
    {PHOTOMETRIC_RGB, 3, 16},       {PHOTOMETRIC_RGB, 4, 16},       {PHOTOMETRIC_SEPARATED, 4, 8},
    {PHOTOMETRIC_CIELAB, 3, 8}};

TEST_F(TiffTest, OfAllKindsHasTheSamePixels) {
  int read = 0;
  for (const TiffKind& colours : tiff_colours)
    for (const std::uint16_t compression :
         {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE,
          COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_JPEG})
      for (const std::uint16_t planar : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE})
        for (const std::uint32_t tile : {0u, 16u})
          for (const Size size : {Size{7, 5}, Size{33, 17}}) {
            TiffKind kind = colours;
            kind.compression = compression;
            kind.planar = planar;
            kind.tile = tile;
            const bool is_fax =
                compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
            if (is_fax != (kind.bits == 1) && is_fax) continue;
            if (compression == COMPRESSION_JPEG && (kind.bits != 8 || kind.rows_per_strip % 8 != 0))
              kind.rows_per_strip = 8;
            const Bytes file = encode(size, kind);
            if (file.empty()) continue;
            SCOPED_TRACE(
                fmt::format("photometric {}, {} samples of {} bits, compression {}, {}, {}",
                            kind.photometric, kind.samples, kind.bits, compression, planar, tile));
            read += compare(file).has_value();
          }
  EXPECT_GT(read, 300);
}

TEST_F(TiffTest, IsTurnedAsByOpenCv) {
  for (std::uint16_t orientation = 1; orientation <= 8; ++orientation)
    for (const std::uint32_t tile : {0u, 16u})
      for (const std::uint32_t rows : {3u, 17u, 1000u})
        for (const Size size : sizes) {
          SCOPED_TRACE(
              fmt::format("{}, tile {}, {} rows, {} wide", orientation, tile, rows, size.width));
          EXPECT_TRUE(compare(encode(size, {.photometric = PHOTOMETRIC_RGB,
                                            .samples = 3,
                                            .bits = 8,
                                            .orientation = orientation,
                                            .rows_per_strip = rows,
                                            .tile = tile})));
        }
}

TEST_F(TiffTest, OfOtherByteOrdersHasTheSamePixels) {
  for (const char* mode : {"wl", "wb", "w8", "w8b"})
    for (const std::uint16_t bits : {8, 16}) {
      TiffKind kind{PHOTOMETRIC_RGB, 3, bits};
      kind.mode = mode;
      EXPECT_TRUE(compare(encode({33, 17}, kind))) << mode;
    }
}

// OpenCV refuses some files whose pixels libtiff decodes, so only those that it reads are compared.
TEST_F(TiffTest, CutOrDamagedIsReadAsByOpenCv) {
  std::mt19937 random(12);
  int read = 0, warnings = 0;
  for (const std::uint16_t compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_CCITTFAX4}) {
    TiffKind kind{PHOTOMETRIC_RGB, 3, 8, compression};
    if (compression == COMPRESSION_CCITTFAX4) kind = {PHOTOMETRIC_MINISWHITE, 1, 1, compression};
    const Bytes file = encode({33, 17}, kind);
    for (int round = 0; round < 600; ++round) {
      Bytes damaged = file;
      if (round % 3 == 0) damaged.resize(3 + random() % (file.size() - 3));
      for (int change = 0; change < round % 3; ++change)
        damaged[3 + random() % (damaged.size() - 3)] = static_cast<unsigned char>(random());
      SCOPED_TRACE(::testing::PrintToString(damaged));
      const std::optional<Picture> expected = imread(damaged), picture = try_read(damaged);
      if (expected) expect_same(picture, expected);
      read += expected.has_value();
      warnings += picture && !picture->warning.empty();
    }
  }
  EXPECT_GT(read, 200);
  EXPECT_GT(warnings, 50);
}

TEST_F(TiffTest, WithPagesIsReported) {
  TiffKind kind{PHOTOMETRIC_RGB, 3, 8};
  EXPECT_EQ(warning_of(encode({33, 17}, kind)), "");
  kind.pages = 2;
  const Bytes file = encode({33, 17}, kind);
  EXPECT_EQ(warning_of(file), only_first_picture);
  compare(file);
  kind.subfile_type_of_next = FILETYPE_REDUCEDIMAGE;
  EXPECT_EQ(warning_of(encode({33, 17}, kind)), "");
}

TEST_F(TiffTest, OfFloatsIsRefusedWithTheReason) {
  EXPECT_EQ(
      refusal(encode({7, 5}, {PHOTOMETRIC_RGB, 3, 32})),
      "decode: this TIFF cannot be decoded: Sorry, can not handle images with 32-bit samples");
}

TEST_F(TiffTest, WithHugeTilesIsRefused) {
  TiffKind kind{PHOTOMETRIC_MINISBLACK, 1, 8, COMPRESSION_LZW};
  kind.tile = 2048;
  const Bytes file = encode({7, 5}, kind);
  EXPECT_TRUE(try_read(file));
  EXPECT_EQ(refusal(file, {.max_pixels = 2048 * 2047}).substr(0, 6), "limit:");
}
#endif

// ---- HEIF

#if FACESAT_HEIF
// Empty if libheif was built without an encoder.
Bytes encode_heif(heif_compression_format format, Size size, Bgr colour, int pictures) {
  heif_context* const context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  Bytes file;
  if (heif_context_get_encoder_for_format(context, format, &encoder).code == heif_error_Ok) {
    for (int i = 0; i < pictures; ++i) {
      heif_image* image = nullptr;
      heif_image_create(size.width, size.height, heif_colorspace_RGB, heif_chroma_interleaved_RGB,
                        &image);
      heif_image_add_plane(image, heif_channel_interleaved, size.width, size.height, 8);
      int pitch = 0;
      std::uint8_t* row = heif_image_get_plane(image, heif_channel_interleaved, &pitch);
      for (int y = 0; y < size.height; ++y, row += pitch)
        for (int x = 0; x < size.width; ++x)
          row[3 * x] = colour.r, row[3 * x + 1] = colour.g, row[3 * x + 2] = colour.b;
      heif_image_handle* handle = nullptr;
      heif_context_encode_image(context, image, encoder, nullptr, &handle);
      heif_image_handle_release(handle);
      heif_image_release(image);
    }
    heif_writer writer{1, [](heif_context*, const void* data, std::size_t count, void* to) {
                         const auto* from = static_cast<const unsigned char*>(data);
                         static_cast<Bytes*>(to)->assign(from, from + count);
                         return heif_error{heif_error_Ok, heif_suberror_Unspecified, ""};
                       }};
    heif_context_write(context, &writer, &file);
    heif_encoder_release(encoder);
  }
  heif_context_free(context);
  return file;
}

class HeifTest : public CodecTest, public ::testing::WithParamInterface<heif_compression_format> {};
INSTANTIATE_TEST_SUITE_P(Codecs, HeifTest,
                         ::testing::Values(heif_compression_HEVC, heif_compression_AV1));

// Grey has the same value before and after its conversion to YCbCr.
TEST_P(HeifTest, IsReadInColourAndItsOtherPicturesAreReported) {
  const Bytes file = encode_heif(GetParam(), {64, 48}, {128, 128, 128}, 1);
  if (file.empty()) GTEST_SKIP() << "skipped: libheif has no encoder";
  const std::optional<Picture> picture = try_read(file);
  ASSERT_TRUE(picture);
  ASSERT_EQ(picture->size(), Size(64, 48));
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) ASSERT_EQ(picture->pixels.row(y)[x].g, 128) << x << ", " << y;
  EXPECT_EQ(picture->warning, "");
  const Bytes reddish = encode_heif(GetParam(), {64, 48}, {20, 60, 200}, 1);
  const Bgr pixel = try_read(reddish)->pixels.row(24)[32];
  EXPECT_GT(pixel.r, pixel.g);
  EXPECT_GT(pixel.g, pixel.b);
  EXPECT_EQ(warning_of(encode_heif(GetParam(), {64, 48}, {1, 2, 3}, 2)), only_first_picture);
  EXPECT_EQ(refusal(file, {.max_pixels = 64 * 48 - 1}).substr(0, 6), "limit:");
}

TEST_P(HeifTest, ThatIsCutOrDamagedIsReadOrRefused) {
  const Bytes file = encode_heif(GetParam(), {64, 48}, {1, 2, 3}, 1);
  if (file.empty()) GTEST_SKIP() << "skipped: libheif has no encoder";
  for (std::size_t count = 12; count < file.size(); ++count) try_read(std::span(file).first(count));
  Bytes cut = file;
  cut.resize(file.size() / 2);
  EXPECT_EQ(refusal(cut).find("decode: this HEIF cannot be decoded"), 0u) << refusal(cut);
}
#endif

// ---- Formats that OpenCV reads

#if FACESAT_ORACLE
TEST(OpenCvFormats, APfmOfOneChannelIsGrey) {
  Bytes file = bytes_of("Pf\n3 2\n-1.0\n");
  for (const float value : {0.0f, 1.0f, 7.0f, 100.0f, 200.0f, 255.0f})
    append_number(file, std::bit_cast<std::uint32_t>(value), 4);
  if (!FACESAT_READS_VIDEOS) {
    EXPECT_EQ(refusal(file).find("decode: this is a PFM picture"), 0u) << refusal(file);
    return;
  }
  const cv::Mat grey = cv::imdecode(file, cv::IMREAD_COLOR);
  const Picture picture = read_picture(InputFile(file));
  ASSERT_EQ(picture.pixels.size, (Size{3, 2}));
  ASSERT_EQ(grey.type(), CV_8UC1);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 3; ++x) {
      const Bgr pixel = picture.pixels.row(y)[x];
      for (const std::uint8_t value : {pixel.b, pixel.g, pixel.r})
        EXPECT_EQ(value, grey.at<std::uint8_t>(y, x)) << x << ", " << y;
    }
}
#endif

}  // namespace
}  // namespace facesat::app
