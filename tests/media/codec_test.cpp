// JPEG and PNG files of all kinds, sound and damaged, against cv::imread. Of all formats: those
// that nothing reads, files with several pictures, limits, and the pictures that are written.
#include <array>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#if FACESAT_ORACLE
#include <opencv2/imgcodecs.hpp>
#endif

#include "core/orientation.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"
#include "media/codec_formats.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "tests/kit/decoded.hpp"

namespace facesat::app {
namespace {

using namespace test;
using namespace std::string_view_literals;

constexpr std::array<Size, 4> sizes{{{1, 1}, {7, 5}, {33, 17}, {64, 48}}};

TEST_F(ComparedTest, PngsOfAllKindsHaveTheSamePixels) {
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
TEST_F(ComparedTest, JpegsOfAllKindsHaveTheSamePixels) {
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
    const std::string message = refusal(file, limits);
    EXPECT_TRUE(message.starts_with("limit: ")) << message;
    EXPECT_TRUE(has(message, "33x17"));
    EXPECT_TRUE(has(message, "--max-pixels"));
  }
  write_file(folder / "picture", encode_jpeg({33, 17}, {}));
  EXPECT_EQ(read_picture(folder / "picture", {.max_pixels = 33 * 17}).pixels.size, Size(33, 17));
}

// Damaged JPEGs are still decoded, as by OpenCV, but with a warning.
TEST_F(CodecTest, DamageOfJpegsIsReportedWithAndWithoutAnEnd) {
  const Bytes sound = encode_jpeg({64, 48}, {});
  EXPECT_EQ(warning_of(sound), "");
  Bytes damaged = sound;
  damaged.erase(damaged.end() - 200, damaged.end() - 100);
  EXPECT_EQ(warning_of(damaged).find("the file is damaged (Corrupt JPEG data"), 0u)
      << warning_of(damaged);
  EXPECT_EQ(warning_of({sound.begin(), sound.end() - 200}).find("the file ends early"), 0u);
  EXPECT_EQ(warning_of(with_bytes(sound, 20, {1, 2, 3})),  // after the first segment
            "the file is damaged (Corrupt JPEG data: 3 extraneous bytes before marker 0xdb)");
  // Data of other programs may contain bytes that look like the header of a huge picture.
  const Bytes huge{0xFF, 0xC5, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF};
  damaged = with_bytes(damaged, 2, segment(0xED, "Photoshop 3.0", huge));
  EXPECT_EQ(warning_of(damaged).find("the file is damaged (Corrupt JPEG data"), 0u)
      << warning_of(damaged);
}

TEST_F(CodecTest, AnimationsAreReported) {
  const Bytes png = encode_png({33, 17}, {PNG_COLOR_TYPE_RGB, 8});
  EXPECT_EQ(warning_of(png), "");
  EXPECT_EQ(warning_of(with_chunk(png, after_header, "acTL", {0, 0, 0, 2, 0, 0, 0, 0})),
            only_first_frame);
  if (!FACESAT_READS_VIDEOS) return;  // GIFs are read by OpenCV
  EXPECT_EQ(warning_of(bytes_of(gif({10}))), "");
  EXPECT_EQ(warning_of(bytes_of(gif({10, 10}))), only_first_frame);
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
  EXPECT_EQ(refusal(encode_jpeg({64, 48}, {.progressive = true}), limits), "read");
  EXPECT_TRUE(has(refusal(with_scans(50), limits), "limit: this JPEG has"));
  Bytes without_end = with_scans(50);
  without_end.erase(without_end.end() - 2, without_end.end());
  EXPECT_TRUE(has(refusal(without_end, limits), "limit: this JPEG has"));
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
  packed.resize(length);
  const Bytes text = joined({'k', 0, 0}, packed);  // keyword, method
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
    const std::string why_not_file =
        message_of<InputError>([&] { from_file = read_picture(folder / "picture"); });
    EXPECT_EQ(message_of<InputError>([&] {
                from_memory = read_picture(InputFile(std::span<const unsigned char>(bytes)));
              }),
              why_not_file);
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

TEST_F(ComparedTest, DamagedFilesAreReadAsByOpenCvOrNotAtAll) {
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

// What is known of a JPEG before devices decode it: its size, turned upright, and the warning.
std::optional<std::pair<Size, std::string>> known_of(const Bytes& file) {
  const auto read = gpu::read_jpeg_stream(file, default_max_pixels);
  const auto* const jpeg = std::get_if<gpu::JpegStream>(&read);
  if (!jpeg) return std::nullopt;
  return std::pair(upright_size(jpeg->header.size, jpeg_orientation(jpeg->metadata)),
                   has_more_pictures(file, jpeg->end) ? only_first_picture : "");
}

TEST(JpegsForDevices, AreKnownAsTheyAreRead) {
  const Bytes gain_map = segment(0xE1, "http://ns.adobe.com/xap/1.0/\0 hdr-gain-map"sv);
  for (const int channels : {1, 3})
    for (int orientation = 0; orientation <= 8; ++orientation) {
      const Bytes one =
          encode_jpeg({33, 17}, {.channels = channels, .across = 2, .orientation = orientation});
      for (const Bytes& file :
           {one, joined(one, one), joined(one, Bytes(9)), joined(one, noise(50, 1)),
            joined(joined(one, Bytes(9)), one), with_bytes(one, 2, gain_map),
            with_bytes(one, 2, segment(0xE1, "", {})), with_bytes(one, 2, segment(0xFE, "text"))}) {
        SCOPED_TRACE(orientation);
        const auto known = known_of(file);
        ASSERT_TRUE(known);
        EXPECT_EQ(known->first, try_read(file)->size());
        EXPECT_EQ(known->second, warning_of(file));
      }
    }
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
  EXPECT_THROW(read_jpeg(encode_jpeg({64, 480}, {}), limits), Stopped);
  questions = 0;
  EXPECT_THROW(read_jpeg(encode_jpeg({64, 480}, {.progressive = true}), limits), Stopped);
  questions = 0;
  EXPECT_THROW(read_png(encode_png({64, 48}, {PNG_COLOR_TYPE_RGB, 8}), limits), Stopped);
  questions = 0;
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
