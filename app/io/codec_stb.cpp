// Pictures without OpenCV: JPEG, PNG, BMP and PNM through stb_image, EXIF orientation through
// libexif.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <libexif/exif-data.h>

#include "app/errors.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace facesat::app {
namespace {

std::vector<unsigned char> read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// 1 .. 8 as in EXIF; 1 (upright) if nothing is said.
int exif_orientation(const std::vector<unsigned char>& bytes) {
  const auto data = std::unique_ptr<ExifData, void (*)(ExifData*)>(
      exif_data_new_from_data(bytes.data(), static_cast<unsigned>(bytes.size())), exif_data_unref);
  const ExifEntry* entry = data ? exif_data_get_entry(data.get(), EXIF_TAG_ORIENTATION) : nullptr;
  if (!entry || entry->format != EXIF_FORMAT_SHORT || entry->size < 2) return 1;
  const int orientation = exif_get_short(entry->data, exif_data_get_byte_order(data.get()));
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

// Turns a picture upright. Orientations: 1 upright, 2 mirrored, 3 half turn, 4 upside down; 5 .. 8
// are those with rows and columns exchanged (5 and 7 mirrored).
std::shared_ptr<Image<Bgr>> upright(View<const Bgr> from, int orientation) {
  const bool transposed = orientation >= 5;
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const auto [w, h] = from.size;
  auto to = std::make_shared<Image<Bgr>>(transposed ? Size{h, w} : Size{w, h});
  const auto [tw, th] = to->size();
  for (int y = 0; y < th; ++y)
    for (int x = 0; x < tw; ++x) {
      const int u = flip_x ? tw - 1 - x : x, v = flip_y ? th - 1 - y : y;
      to->row(y)[x] = transposed ? from.row(u)[v] : from.row(v)[u];
    }
  return to;
}

// stb_image takes PNM files whose pixels are missing, and sizes and ranges of 0.
bool is_broken_pnm(const std::vector<unsigned char>& bytes) {
  if (bytes.size() < 2 || bytes[0] != 'P' || (bytes[1] != '5' && bytes[1] != '6')) return false;
  std::size_t at = 2;
  const auto number = [&]() -> std::uint64_t {
    while (at < bytes.size() && (std::isspace(bytes[at]) || bytes[at] == '#'))
      if (bytes[at++] == '#')
        while (at < bytes.size() && bytes[at] != '\n') ++at;
    std::uint64_t value = 0;
    while (at < bytes.size() && std::isdigit(bytes[at]) && value < 1u << 24)
      value = 10 * value + bytes[at++] - '0';
    return value;
  };
  const std::uint64_t width = number(), height = number(), maximum = number();
  const std::uint64_t sample = (bytes[1] == '6' ? 3 : 1) * (maximum > 255 ? 2 : 1);
  return width == 0 || height == 0 || maximum == 0 || bytes.size() - at <= width * height * sample;
}

void swap_red_and_blue(unsigned char* pixels, Size size) {
  for (std::size_t i = 0; i < size.area(); ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
}

}  // namespace

Picture read_picture(const std::filesystem::path& file) {
  require_readable(file);
  const std::vector<unsigned char> bytes = read_bytes(file);
  Size size;
  int channels = 0;
  if (bytes.size() > INT32_MAX) throw InputError("decode", "the file is larger than 2 GiB");
  if (is_broken_pnm(bytes))
    throw InputError("decode", "the header is damaged, or pixels are missing");
  const std::shared_ptr<unsigned char> decoded(
      stbi_load_from_memory(bytes.data(), static_cast<int>(bytes.size()), &size.width, &size.height,
                            &channels, 3),
      stbi_image_free);
  if (!decoded && stbi_failure_reason() == std::string_view("outofmem"))
    throw InputError("memory", "there is not enough memory for this picture");
  if (!decoded)
    throw InputError("decode", fmt::format("this is not a picture that can be decoded ({})",
                                           stbi_failure_reason()));
  swap_red_and_blue(decoded.get(), size);
  const View<const Bgr> pixels{reinterpret_cast<const Bgr*>(decoded.get()), size, size.width};
  const int orientation = exif_orientation(bytes);
  if (orientation == 1) return {pixels, decoded, warning_about(file)};
  const auto turned = upright(pixels, orientation);
  return {turned->view(), turned, warning_about(file)};
}

void write_picture(const std::filesystem::path& file, View<const Bgr> pixels) {
  std::vector<unsigned char> rgb(pixels.size.area() * 3), bytes;
  for (int y = 0; y < pixels.size.height; ++y)
    for (int x = 0; x < pixels.size.width; ++x) {
      unsigned char* p = &rgb[3 * (static_cast<std::size_t>(y) * pixels.size.width + x)];
      const Bgr from = pixels.row(y)[x];
      p[0] = from.r, p[1] = from.g, p[2] = from.b;
    }
  const auto append = [](void* to, void* data, int count) {
    auto& all = *static_cast<std::vector<unsigned char>*>(to);
    all.insert(all.end(), static_cast<unsigned char*>(data),
               static_cast<unsigned char*>(data) + count);
  };
  const auto [w, h] = pixels.size;
  const int done = file.extension() == ".png"
                       ? stbi_write_png_to_func(append, &bytes, w, h, 3, rgb.data(), 3 * w)
                       : stbi_write_jpg_to_func(append, &bytes, w, h, 3, rgb.data(), 95);
  if (!done) throw OutputError(fmt::format("{}: the picture cannot be encoded", file.string()));
  write_file(file, bytes);
}

std::string codec_name() {
  return "stb_image";
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> extensions{".jpg", ".jpeg", ".jpe", ".png",
                                                        ".bmp", ".pgm",  ".ppm", ".pnm"};
  return extensions;
}

}  // namespace facesat::app
