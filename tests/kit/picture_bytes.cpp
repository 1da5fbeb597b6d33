#include "tests/kit/picture_bytes.hpp"

#include <algorithm>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <cstring>
#include <random>

#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>
#if FACESAT_ORACLE
#include <opencv2/imgcodecs.hpp>
#endif

#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::test {

Bytes noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

namespace {

// A ramp with some noise, so that the coefficients of a JPEG differ from block to block.
Bytes ramp(Size size, int channels) {
  Bytes bytes = noise(size.area() * channels, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(bytes[i] / 4 + 3 * i % 190);
  return bytes;
}

}  // namespace

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
  if (kind.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
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
  const png_color_16 see_through{1, 1, 1, 1, 1};  // the transparent colour, if there is no palette
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

// The PNG with another chunk, inserted at `at`.
Bytes with_chunk(Bytes png, std::size_t at, std::string_view type, const Bytes& data) {
  Bytes chunk(type.begin(), type.end());
  chunk.insert(chunk.end(), data.begin(), data.end());
  const auto add_number = [](Bytes& to, Bytes::iterator where, unsigned long number) {
    const Bytes bytes{static_cast<unsigned char>(number >> 24),
                      static_cast<unsigned char>(number >> 16),
                      static_cast<unsigned char>(number >> 8), static_cast<unsigned char>(number)};
    to.insert(where, bytes.begin(), bytes.end());
  };
  const unsigned long checksum = crc32(0, chunk.data(), static_cast<uInt>(chunk.size()));
  add_number(chunk, chunk.end(), checksum);
  add_number(chunk, chunk.begin(), data.size());
  png.insert(png.begin() + static_cast<std::ptrdiff_t>(at), chunk.begin(), chunk.end());
  return png;
}

Bytes segment(unsigned char marker, std::string_view signature, const Bytes& data) {
  const std::size_t length = 2 + signature.size() + data.size();
  Bytes bytes{0xFF, marker, static_cast<unsigned char>(length >> 8),
              static_cast<unsigned char>(length)};
  bytes.resize(2 + length);
  std::ranges::copy(data, std::ranges::copy(signature, bytes.begin() + 4).out);
  return bytes;
}

Bytes with_bytes(Bytes file, std::size_t at, const Bytes& bytes) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  return file;
}

std::optional<Picture> CodecTest::imread(const Bytes& bytes, Reading reading) const {
#if FACESAT_ORACLE
  const std::filesystem::path file = folder / "picture";
  write_file(file, bytes);
  const bool luma = reading == Reading::luma;
  cv::Mat image;
  try {
    image = cv::imread(file.string(), luma ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
  }
  if (image.empty()) return std::nullopt;
  const auto owner = std::make_shared<cv::Mat>(image);
  const Size size{image.cols, image.rows};
  const auto pitch = static_cast<std::ptrdiff_t>(image.step / image.elemSize());
  if (luma) return Picture{{}, owner, {}, {image.data, size, pitch}};
  return Picture{{reinterpret_cast<const Bgr*>(image.data), size, pitch}, owner, {}, {}};
#else
  (void)bytes, (void)reading;
  return std::nullopt;
#endif
}

std::optional<Picture> CodecTest::compare(const Bytes& bytes, Reading reading) const {
  std::optional<Picture> picture = try_read(bytes, reading);
  const std::optional<Picture> expected = imread(bytes, reading);
  constexpr int longest = 1 << 20;  // side that OpenCV reads
  const bool is_long = picture && std::max(picture->size().width, picture->size().height) > longest;
  EXPECT_EQ(picture.has_value() && !is_long, expected.has_value());
  if (picture && expected) expect_same(picture, expected);
  return picture;
}

std::optional<Picture> try_read(std::span<const unsigned char> file, Reading reading) {
  try {
    return read_picture(InputFile(file), {}, reading);
  } catch (const InputError& error) {
    EXPECT_GT(std::string(error.what()).size(), 15u);
    return std::nullopt;
  }
}

void expect_same(const std::optional<Picture>& picture, const std::optional<Picture>& expected) {
  ASSERT_TRUE(picture);
  ASSERT_TRUE(expected);
  const Size size = picture->size();
  ASSERT_EQ(size, expected->size());
  ASSERT_EQ(picture->luma.data == nullptr, expected->luma.data == nullptr);
  for (int y = 0; y < size.height; ++y)
    ASSERT_EQ(picture->luma.data
                  ? std::memcmp(picture->luma.row(y), expected->luma.row(y), size.width)
                  : std::memcmp(picture->pixels.row(y), expected->pixels.row(y),
                                sizeof(Bgr) * size.width),
              0)
        << "row " << y;
}

}  // namespace facesat::test
