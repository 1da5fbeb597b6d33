// BMP, PNM, WebP, TIFF and HEIF files of all kinds, against cv::imread, which has no HEIF; formats
// that nothing reads; files with several pictures; and the pictures that are written.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#if FACESAT_HEIF
#include <libheif/heif.h>
#endif
#if FACESAT_TIFF
#include <tiffio.h>
#endif
#if FACESAT_WEBP
#include <webp/encode.h>
#include <webp/mux.h>
#endif
#if FACESAT_ORACLE
#include <opencv2/imgcodecs.hpp>
#endif

#include "media/codec_formats.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/picture_bytes.hpp"

namespace facesat::app {
namespace {

using namespace test;
using namespace std::string_view_literals;

constexpr std::array<Size, 4> sizes{{{1, 1}, {7, 5}, {33, 17}, {64, 48}}};

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// With the least byte first.
void append_number(Bytes& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) to.push_back(static_cast<unsigned char>(value));
}

// The message of the error that reading this file ends with.
std::string refusal(const Bytes& file, const DecodeLimits& limits = {}) {
  try {
    read_picture(InputFile(file), limits);
    return "read";
  } catch (const InputError& error) {
    return error.kind + ": " + error.what();
  }
}

std::string warning_of(const Bytes& file) {
  const std::optional<Picture> picture = try_read(file);
  return picture ? picture->warning : "not decoded";
}

class FormatsTest : public CodecTest {
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

  void SetUp() override {
    if (!has_oracle) GTEST_SKIP() << "skipped: OpenCV is what they are compared with";
  }
};

// ---- BMP

struct BmpKind {
  int bits;
  unsigned compression = 0;  // 0: none, 1: RLE8, 2: RLE4, 3: masks
  int header = 40;
  bool top_down = false;
  unsigned colours = 0;  // 0: as many as the pixels can have
  Bytes after_header = {};
};

std::size_t bmp_row(int width, int bits) {
  return (static_cast<std::size_t>(width) * bits + 31) / 32 * 4;
}

// `palette`: blue, green, red and, except for OS/2, 0 of each colour.
Bytes encode_bmp(Size size, const BmpKind& kind, const Bytes& palette, const Bytes& data) {
  const bool is_os2 = kind.header == 12;
  const std::size_t begin = 14 + kind.header + kind.after_header.size() + palette.size();
  Bytes file{'B', 'M'};
  append_number(file, begin + data.size(), 4);
  append_number(file, 0, 4);
  append_number(file, begin, 4);
  append_number(file, kind.header, 4);
  append_number(file, size.width, is_os2 ? 2 : 4);
  append_number(file, kind.top_down ? -size.height : size.height, is_os2 ? 2 : 4);
  append_number(file, 1, 2);
  append_number(file, kind.bits, 2);
  if (!is_os2) {
    append_number(file, kind.compression, 4);
    append_number(file, data.size(), 4);
    append_number(file, 0, 8);
    append_number(file, kind.colours, 4);
    append_number(file, 0, 4);
    file.resize(14 + kind.header);
  }
  return joined(joined(joined(file, kind.after_header), palette), data);
}

Bytes encode_bmp(Size size, const BmpKind& kind) {
  const std::size_t colours = kind.bits > 8       ? 0
                              : kind.colours == 0 ? std::size_t{1} << kind.bits
                                                  : kind.colours;
  return encode_bmp(size, kind, noise(colours * (kind.header == 12 ? 3 : 4), 2),
                    noise(bmp_row(size.width, kind.bits) * size.height, 3));
}

Bytes masks(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  Bytes bytes;
  for (const std::uint32_t mask : {red, green, blue}) append_number(bytes, mask, 4);
  return bytes;
}

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

// Runs, unencoded pixels, jumps, rows that end early, and an end that comes early or is missing.
Bytes random_rle(Size size, int bits, unsigned seed) {
  std::mt19937 random(seed);
  Bytes data;
  const auto add = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) data.push_back(static_cast<unsigned char>(byte));
  };
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width;) {
      const int count = 1 + static_cast<int>(random() % std::min(20, size.width - x));
      const unsigned choice = random() % 20;
      if (choice < 9 || count < 3) {
        add({count, static_cast<int>(random() % 256)});
      } else if (choice < 17) {
        add({0, count});
        const int bytes = bits == 8 ? count : (count + 1) / 2;
        for (int i = 0; i < bytes + bytes % 2; ++i) add({static_cast<int>(random() % 256)});
      } else if (choice < 18 && seed % 3 == 0) {
        add({0, 2, count, static_cast<int>(seed % 2)});
      } else if (choice < 19 && seed % 4 == 0) {
        break;
      } else if (random() % 50 == 0 && seed % 5 == 0) {
        add({0, 1});
      }
      x += count;
    }
    if (seed % 7 != 6) add({0, 0});
  }
  if (seed % 11 != 10) add({0, 1});
  return data;
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

Bytes encode_pnm(char kind, Size size, int maximum, unsigned seed) {
  const bool is_bitmap = kind == '1' || kind == '4', is_text = kind < '4';
  const int channels = kind == '3' || kind == '6' ? 3 : 1;
  std::mt19937 random(seed);
  Bytes file = bytes_of(fmt::format("P{}\n# a comment\n{} {}\n", kind, size.width, size.height));
  if (!is_bitmap) file = joined(file, bytes_of(fmt::format("{}\n", maximum)));
  if (kind == '4') return joined(file, noise((size.width + 7) / 8 * size.height, seed));
  for (std::size_t i = 0; i < size.area() * channels; ++i) {
    const unsigned value = random() % (is_bitmap ? 2 : maximum + 1);
    if (is_text) {
      file = joined(file, bytes_of(std::to_string(value)));
      if (!is_bitmap || i % 3 == 0) file.push_back(i % 5 == 0 ? '\n' : ' ');
    } else {
      if (maximum > 255) file.push_back(static_cast<unsigned char>(value >> 8));
      file.push_back(static_cast<unsigned char>(value));
    }
  }
  return is_text ? joined(file, {'\n'}) : file;
}

TEST_F(FormatsTest, PnmsOfAllKindsHaveTheSamePixels) {
  for (const char kind : "123456"sv)
    for (const int maximum : {1, 7, 100, 255, 256, 1000, 65535})
      for (const Size size : sizes) {
        SCOPED_TRACE(fmt::format("P{}, maximum {}, {} wide", kind, maximum, size.width));
        EXPECT_TRUE(compare(encode_pnm(kind, size, maximum, 5)));
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
Bytes encode_webp(Size size, bool has_alpha, bool lossless, float quality) {
  const Bytes pixels = noise(size.area() * (has_alpha ? 4 : 3), 8);
  const int pitch = size.width * (has_alpha ? 4 : 3);
  std::uint8_t* data = nullptr;
  const auto [w, h] = size;
  const std::size_t count = lossless ? (has_alpha ? WebPEncodeLosslessBGRA : WebPEncodeLosslessBGR)(
                                           pixels.data(), w, h, pitch, &data)
                                     : (has_alpha ? WebPEncodeBGRA : WebPEncodeBGR)(
                                           pixels.data(), w, h, pitch, quality, &data);
  Bytes file(data, data + count);
  WebPFree(data);
  return file;
}

// An animation of two frames that fill the canvas.
Bytes animated_webp(Size size) {
  WebPAnimEncoderOptions options;
  WebPAnimEncoderOptionsInit(&options);
  WebPAnimEncoder* const encoder = WebPAnimEncoderNew(size.width, size.height, &options);
  WebPConfig config;
  WebPConfigInit(&config);
  config.lossless = 1;
  for (unsigned frame = 0; frame < 3; ++frame) {
    WebPPicture picture;
    WebPPictureInit(&picture);
    picture.use_argb = 1;
    picture.width = size.width;
    picture.height = size.height;
    const Bytes pixels = noise(size.area() * 3, 8 + frame);
    WebPPictureImportBGR(&picture, pixels.data(), size.width * 3);
    WebPAnimEncoderAdd(encoder, frame < 2 ? &picture : nullptr, 100 * static_cast<int>(frame),
                       &config);
    WebPPictureFree(&picture);
  }
  WebPData data{};
  WebPAnimEncoderAssemble(encoder, &data);
  Bytes file(data.bytes, data.bytes + data.size);
  WebPDataClear(&data);
  WebPAnimEncoderDelete(encoder);
  return file;
}

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
struct TiffKind {
  std::uint16_t photometric, samples, bits, compression = COMPRESSION_NONE;
  std::uint16_t planar = PLANARCONFIG_CONTIG, orientation = 0;
  std::uint32_t rows_per_strip = 5, tile = 0;  // tile: its width and height; 0: strips
  const char* mode = "w";                      // "wb": big-endian, "w8": BigTIFF
  int pages = 1;
  std::uint32_t subfile_type_of_next = 0;
};

void set_fields(TIFF* tiff, Size size, const TiffKind& kind) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, size.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, size.height);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planar);
  if (kind.orientation > 0) TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  const bool is_rgb = kind.photometric == PHOTOMETRIC_RGB;
  if (kind.samples == (is_rgb ? 4 : 2)) {
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  if (kind.photometric == PHOTOMETRIC_PALETTE) {
    std::array<std::vector<std::uint16_t>, 3> colours;
    std::mt19937 random(9);
    for (auto& channel : colours)
      for (int i = 0; i < 1 << kind.bits; ++i)
        channel.push_back(static_cast<std::uint16_t>(random()));
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0].data(), colours[1].data(), colours[2].data());
  }
  if (kind.tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.rows_per_strip);
  }
}

// Empty if libtiff does not write this kind.
Bytes encode_tiff(const std::filesystem::path& file, Size size, const TiffKind& kind) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  TIFF* const tiff = TIFFOpen(file.c_str(), kind.mode);
  bool is_written = true;
  for (int page = 0; page < kind.pages; ++page) {
    set_fields(tiff, size, kind);
    if (page > 0) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind.subfile_type_of_next);
    const bool is_tiled = kind.tile > 0;
    const auto parts = is_tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    Bytes pixels = noise(
        static_cast<std::size_t>(is_tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff)), 10 + page);
    for (std::uint32_t part = 0; part < parts; ++part) {
      const tmsize_t rest = is_tiled ? 0 : TIFFRawStripSize(tiff, part);
      const auto bytes = is_tiled || rest <= 0 ? static_cast<tmsize_t>(pixels.size()) : rest;
      is_written &= (is_tiled ? TIFFWriteEncodedTile(tiff, part, pixels.data(), bytes)
                              : TIFFWriteEncodedStrip(tiff, part, pixels.data(), bytes)) > 0;
    }
    is_written &= TIFFWriteDirectory(tiff) != 0;
  }
  TIFFClose(tiff);
  return is_written ? read_file(file) : Bytes();
}

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
          TiffKind kind{PHOTOMETRIC_RGB, 3, 8};
          kind.orientation = orientation;
          kind.rows_per_strip = rows;
          kind.tile = tile;
          EXPECT_TRUE(compare(encode(size, kind)));
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

// ---- Formats that nothing reads

// With OpenCV, some of them are damaged pictures to it.
TEST(FormatNames, AreInTheRefusal) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler opencv_leaks;  // in libraries that it has unloaded by the end
#endif
  for (const auto& [name, beginning] : std::vector<std::pair<std::string_view, std::string_view>> {
         {"a GIF", "GIF89a"}, {"a JPEG XL", "\xFF\x0A"},
             {"a JPEG XL", "\0\0\0\x0CJXL \r\n\x87\n"sv},
             {"a JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv}, {"a JPEG 2000", "\xFF\x4F\xFF\x51"},
             {"a PSD", "8BPS"}, {"an OpenEXR", "\x76\x2F\x31\x01"},
             {"a Radiance HDR", "#?RADIANCE"}, {"a PAM", "P7\n"}, {"a PFM", "Pf\n"},
             {"an ICO", "\0\0\1\0"sv}, {"an XCF", "gimp xcf"}, {"an SVG", "<svg"},
             {"a QOI", "qoif"},
#if !FACESAT_WEBP
             {"a WebP", "RIFF1234WEBP"},
#endif
#if !FACESAT_TIFF
             {"a TIFF", "II*\0"sv},
#endif
#if !FACESAT_HEIF
             {"a HEIF",
              "\0\0\0\x18"
              "ftypheic"sv},
             {"an AVIF",
              "\0\0\0\x18"
              "ftypavif"sv},
#endif
       }) {
    const std::string expected =
        fmt::format("decode: this is {} picture, which this build cannot decode", name);
    EXPECT_EQ(refusal(joined(bytes_of(beginning), Bytes(200))).find(expected), 0u)
        << refusal(joined(bytes_of(beginning), Bytes(200)));
  }
}

// ---- Several pictures

// The index of the Multi-Picture Format, as an APP2 segment, with the types of the pictures.
Bytes picture_index(const std::vector<std::uint32_t>& types) {
  Bytes data = bytes_of("MPF\0II*\0"sv);
  append_number(data, 8, 4);
  append_number(data, 1, 2);
  append_number(data, 0xB002, 2);
  append_number(data, 7, 2);
  append_number(data, 16 * types.size(), 4);
  append_number(data, 26, 4);
  append_number(data, 0, 4);
  for (const std::uint32_t type : types) {
    append_number(data, type, 4);
    append_number(data, 0, 12);
  }
  return segment(0xE2, "", data);
}

TEST(SeveralPictures, InAJpegAreReported) {
  const Bytes first = encode_jpeg({64, 48}, {}), second = encode_jpeg({33, 17}, {});
  EXPECT_EQ(warning_of(joined(first, second)), only_first_picture);
  EXPECT_EQ(warning_of(joined(joined(first, Bytes(7)), second)), only_first_picture);
  EXPECT_EQ(try_read(joined(first, second))->size(), Size(64, 48));
  EXPECT_EQ(warning_of(joined(first, noise(100, 1))), "");
  EXPECT_EQ(warning_of(joined(first, Bytes(100))), "");
  constexpr std::uint32_t primary = 0x20030000, preview = 0x010001, view = 0x020002, other = 0;
  const auto with_index = [&](const std::vector<std::uint32_t>& types) {
    return warning_of(joined(with_bytes(first, 2, picture_index(types)), second));
  };
  EXPECT_EQ(with_index({primary, preview}), "");
  EXPECT_EQ(with_index({primary, preview, preview}), "");
  EXPECT_EQ(with_index({primary, view}), only_first_picture);
  EXPECT_EQ(with_index({primary, preview, other}), only_first_picture);
  EXPECT_EQ(with_index({}), only_first_picture);
  const Bytes gain_map = segment(
      0xE1,
      "http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm='http://ns.adobe.com/hdr-gain-map/1.0/'/>"sv);
  EXPECT_EQ(warning_of(joined(with_bytes(first, 2, gain_map), second)), "");
}

TEST(SeveralPictures, InAPnmAreReported) {
  const Bytes one = encode_pnm('5', {7, 5}, 255, 1);
  EXPECT_EQ(warning_of(one), "");
  EXPECT_EQ(warning_of(joined(one, one)), only_first_picture);
  EXPECT_EQ(warning_of(joined(one, noise(100, 1))), "");
}

// ---- Limits

TEST(Limits, HoldForAllFormats) {
  const DecodeLimits limits{.max_pixels = 33 * 17 - 1};
  std::vector<Bytes> files{encode_bmp({33, 17}, {.bits = 24}),
                           encode_bmp({33, 17}, {.bits = 8, .compression = 1}, noise(1024, 2),
                                      random_rle({33, 17}, 8, 1)),
                           encode_pnm('2', {33, 17}, 255, 1), encode_pnm('6', {33, 17}, 255, 1)};
#if FACESAT_WEBP
  files.push_back(encode_webp({33, 17}, false, true, 0));
#endif
  for (const Bytes& file : files) {
    EXPECT_EQ(refusal(file, limits).find("limit: the picture has 33x17 pixels"), 0u)
        << refusal(file, limits);
    EXPECT_EQ(refusal(file, {.max_pixels = 33 * 17}), "read");
  }
}

// A header that promises more pixels than the file has must not take their memory: here 750 MB.
TEST(Limits, PixelsThatAreMissingTakeNoMemory) {
  const DecodeLimits limits{.max_pixels = std::size_t{1} << 40};
  EXPECT_EQ(refusal(bytes_of("P6 1000000 1000000 255\nabc"), limits),
            "decode: this PNM cannot be decoded: the file ends early");
  EXPECT_EQ(refusal(encode_bmp({1'000'000, 1'000'000}, {.bits = 24}, {}, noise(100, 1)), limits),
            "decode: this BMP cannot be decoded: the file ends early");
}

TEST(Limits, DecodingCanBeStopped) {
  int questions = 0;
  const DecodeLimits limits{.should_stop = [&] { return ++questions == 5; }};
  EXPECT_THROW(read_bmp(encode_bmp({64, 48}, {.bits = 24}), limits), Stopped);
  questions = 0;
  EXPECT_THROW(read_pnm(encode_pnm('2', {64, 48}, 255, 1), limits), Stopped);
}

// ---- Writing

#if FACESAT_ORACLE
// The files are those that OpenCV writes.
TEST(Writing, EqualsImencode) {
  for (const Size size : sizes) {
    Image<Bgr> pixels(size);
    const Bytes values = noise(size.area() * 3, 3);
    cv::Mat image(size.height, size.width, CV_8UC3);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const unsigned char* const from =
            &values[3 * (static_cast<std::size_t>(y) * size.width + x)];
        pixels.row(y)[x] = {from[0], from[1], from[2]};
        image.at<cv::Vec3b>(y, x) = {from[0], from[1], from[2]};
      }
    for (const std::string extension : {".jpg", ".JPEG", ".png", ".PNG"}) {
      Bytes expected;
      cv::imencode(extension, image, expected);
      EXPECT_EQ(encode_picture(pixels.view(), extension), expected) << extension;
    }
  }
}
#endif

TEST(Writing, OfOtherFormatsAndSizesIsRefused) {
  EXPECT_TRUE(try_encode(Image<Bgr>({8, 8}).view(), ".bmp").empty());
  EXPECT_TRUE(try_encode(Image<Bgr>({8, 8}).view(), "").empty());
  EXPECT_TRUE(try_encode(Image<Bgr>({70'000, 1}).view(), ".jpg").empty());
  EXPECT_TRUE(try_encode(Image<Bgr>({1'000'001, 1}).view(), ".png").empty());
}

}  // namespace
}  // namespace facesat::app
