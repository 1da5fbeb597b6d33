// For builds without OpenCV: reads PNM; BMP, and JPEGs that codec_jpeg.cpp does not handle, through
// stb_image; and writes JPEG and PNG, through stb_image_write.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "library/media/codec.hpp"
#include "library/media/exif.hpp"
#include "library/media/upright.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace facesat {
namespace {

constexpr std::uint64_t most_in_pnm = 1 << 24;  // no side is longer

// What the header of a PNM file says. The last digits of larger numbers than `most_in_pnm` may be
// missing.
struct PnmHeader {
  std::uint64_t channels, width, height, maximum;
  std::size_t begin;  // of the pixels

  std::uint64_t bytes_per_sample() const { return maximum > 255 ? 2 : 1; }
  std::uint64_t bytes() const { return width * height * channels * bytes_per_sample(); }
};

// nullopt if it is no PNM file of a kind that is read here.
std::optional<PnmHeader> pnm_header(const std::vector<unsigned char>& bytes) {
  if (bytes.size() < 2 || bytes[0] != 'P' || (bytes[1] != '5' && bytes[1] != '6'))
    return std::nullopt;
  std::size_t at = 2;
  const auto number = [&]() -> std::uint64_t {
    while (at < bytes.size() && (std::isspace(bytes[at]) || bytes[at] == '#'))
      if (bytes[at++] == '#')
        while (at < bytes.size() && bytes[at] != '\n') ++at;
    std::uint64_t value = 0;
    while (at < bytes.size() && std::isdigit(bytes[at]) && value <= most_in_pnm)
      value = 10 * value + bytes[at++] - '0';
    return value;
  };
  PnmHeader header{bytes[1] == '6' ? 3u : 1u, number(), number(), number(), 0};
  header.begin = at + 1;  // one byte of space comes before the pixels
  return header;
}

// Does the file miss pixels, or have a size or a maximum value that is not allowed?
bool is_broken(const PnmHeader& header, std::size_t file_bytes) {
  return header.width == 0 || header.width > most_in_pnm || header.height == 0 ||
         header.height > most_in_pnm || header.maximum == 0 || header.maximum > UINT16_MAX ||
         header.begin > file_bytes || file_bytes - header.begin < header.bytes();
}

// Samples of 16 bits, big end first, are reduced to 8 as cv::imread does it: to the first byte.
template <int channels, int bytes_per_sample>
void copy_pnm(const unsigned char* from, View<Bgr> to) {
  constexpr int green = channels == 3 ? bytes_per_sample : 0, blue = 2 * green;
  for (int y = 0; y < to.size.height; ++y) {
    Bgr* const row = to.row(y);
    for (int x = 0; x < to.size.width; ++x, from += channels * bytes_per_sample)
      row[x] = {from[blue], from[green], from[0]};
  }
}

Picture read_pnm(const PnmHeader& header, const std::vector<unsigned char>& bytes) {
  const NewFrame<Bgr> frame =
      new_frame<Bgr>({static_cast<int>(header.width), static_cast<int>(header.height)});
  const bool is_wide = header.bytes_per_sample() == 2;
  const auto copy = header.channels == 3 ? (is_wide ? copy_pnm<3, 2> : copy_pnm<3, 1>)
                                         : (is_wide ? copy_pnm<1, 2> : copy_pnm<1, 1>);
  copy(bytes.data() + header.begin, frame.pixels);
  return to_picture(frame);
}

void swap_red_and_blue(unsigned char* pixels, Size size) {
  for (std::size_t i = 0; i < size.area(); ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
}

}  // namespace

void prepare_codecs(const DecodeLimits&) {}  // each call below gets its limits

// The JPEGs that come here are in CMYK or unusual, and are read in colour in any case.
Picture read_other_picture(const InputFile& file, const DecodeLimits& limits, Reading) {
  const std::vector<unsigned char> bytes = file.read();
  Size size;
  int channels = 0;
  if (bytes.size() > INT32_MAX) throw InputError("decode", "the file is larger than 2 GiB");
  if (const std::optional<PnmHeader> pnm = pnm_header(bytes)) {
    if (is_broken(*pnm, bytes.size()))
      throw InputError("decode", "the header is damaged, or pixels are missing");
    if (pnm->width * pnm->height > limits.max_pixels)
      throw too_large({static_cast<int>(pnm->width), static_cast<int>(pnm->height)}, limits);
    return read_pnm(*pnm, bytes);
  }
  const int length = static_cast<int>(bytes.size());
  if (stbi_info_from_memory(bytes.data(), length, &size.width, &size.height, &channels) != 0 &&
      size.area() > limits.max_pixels)
    throw too_large(size, limits);
  const std::shared_ptr<unsigned char> decoded(
      stbi_load_from_memory(bytes.data(), length, &size.width, &size.height, &channels, 3),
      stbi_image_free);
  const char* const failure_reason = stbi_failure_reason();  // null if it fails without a reason
  const std::string_view reason = failure_reason ? failure_reason : "damaged";
  if (!decoded && reason == "outofmem")
    throw InputError("memory", "there is not enough memory for this picture");
  if (!decoded)
    throw InputError("decode",
                     fmt::format("this is not a picture that can be decoded ({})", reason));
  swap_red_and_blue(decoded.get(), size);
  const View<const Bgr> pixels{reinterpret_cast<const Bgr*>(decoded.get()), size, size.width};
  return upright({pixels, decoded, {}, {}}, exif_orientation(exif_in_jpeg(bytes)));
}

std::vector<unsigned char> try_encode(View<const Bgr> pixels, const std::string& extension) {
  constexpr int most_in_jpeg = 65535;
  const bool is_png = extension == ".png";
  const auto [w, h] = pixels.size;
  const bool fits = is_png || std::max(w, h) <= most_in_jpeg;
  if (!fits || (!is_png && extension != ".jpg" && extension != ".jpeg")) return {};
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
  // 95: the JPEG quality that OpenCV uses, too.
  const int done = is_png ? stbi_write_png_to_func(append, &bytes, w, h, 3, rgb.data(), 3 * w)
                          : stbi_write_jpg_to_func(append, &bytes, w, h, 3, rgb.data(), 95);
  if (!done) bytes.clear();
  return bytes;
}

std::string codec_name() {
  return "libjpeg-turbo, libpng, stb_image";
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> extensions{".jpg", ".jpeg", ".jpe", ".jfif", ".png",
                                                        ".bmp", ".pgm",  ".ppm", ".pnm"};
  return extensions;
}

}  // namespace facesat
