#include "media/codec.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "media/codec_formats.hpp"
#include "media/input_file.hpp"
#include "media/stamp.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

using namespace std::string_view_literals;
using Reader = Picture(const InputFile& file, const DecodeLimits& limits, Reading reading);

Picture read_jpeg_file(const InputFile& file, const DecodeLimits& limits, Reading reading) {
  return read_jpeg(file.read(), limits, reading);
}

// A reader of whole files that has only one way of reading.
template <Picture read(std::span<const unsigned char>, const DecodeLimits&)>
Picture read_file(const InputFile& file, const DecodeLimits& limits, Reading) {
  return read(file.read(), limits);
}

constexpr bool has_heif = FACESAT_HEIF, has_tiff = FACESAT_TIFF, has_webp = FACESAT_WEBP;
constexpr Reader* left_to_opencv = nullptr;  // if there is one, and it reads the format
#if FACESAT_HEIF
constexpr Reader* heif = read_file<read_heif>;
#else
constexpr Reader* heif = left_to_opencv;
#endif
#if FACESAT_TIFF
constexpr Reader* tiff = read_file<read_tiff>;
#else
constexpr Reader* tiff = left_to_opencv;
#endif
#if FACESAT_WEBP
constexpr Reader* webp = read_file<read_webp>;
#else
constexpr Reader* webp = left_to_opencv;
#endif

// Formats by the beginning of their files, where '?' stands for any byte. The first one that
// matches is used.
struct Format {
  std::string_view name, beginning;
  Reader* read;
};
constexpr Format formats[] = {
    {"JPEG", "\xFF\xD8\xFF", read_jpeg_file},
    {"PNG", "\x89PNG", read_file<read_png>},
    {"BMP", "BM", read_file<read_bmp>},
    {"PNM", "P1", read_file<read_pnm>},
    {"PNM", "P2", read_file<read_pnm>},
    {"PNM", "P3", read_file<read_pnm>},
    {"PNM", "P4", read_file<read_pnm>},
    {"PNM", "P5", read_file<read_pnm>},
    {"PNM", "P6", read_file<read_pnm>},
    {"WebP", "RIFF????WEBP", webp},
    {"TIFF", "II*\0"sv, tiff},
    {"TIFF", "MM\0*"sv, tiff},
    {"TIFF", "II+\0"sv, tiff},
    {"TIFF", "MM\0+"sv, tiff},
    {"AVIF", "????ftypavi", heif},
    {"HEIF", "????ftyphe", heif},
    {"HEIF", "????ftypmif", heif},
    {"HEIF", "????ftypmsf", heif},
    {"GIF", "GIF8", left_to_opencv},
    {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n"sv, left_to_opencv},
    {"JPEG 2000", "\xFF\x4F\xFF\x51", left_to_opencv},
    {"JPEG XL", "\0\0\0\x0CJXL \r\n\x87\n"sv, left_to_opencv},
    {"JPEG XL", "\xFF\x0A", left_to_opencv},
    {"JPEG XR", "II\xBC\x01", left_to_opencv},
    {"OpenEXR", "\x76\x2F\x31\x01", left_to_opencv},
    {"Radiance HDR", "#?R", left_to_opencv},
    {"PAM", "P7", left_to_opencv},
    {"PFM", "Pf", left_to_opencv},
    {"PFM", "PF", left_to_opencv},
    {"Sun raster", "\x59\xA6\x6A\x95", left_to_opencv},
    {"PSD", "8BPS", left_to_opencv},
    {"ICO", "\0\0\1\0"sv, left_to_opencv},
    {"CUR", "\0\0\2\0"sv, left_to_opencv},
    {"XCF", "gimp xcf", left_to_opencv},
    {"DDS", "DDS ", left_to_opencv},
    {"QOI", "qoif", left_to_opencv},
    {"BPG", "BPG\xFB", left_to_opencv},
    {"SVG", "<svg", left_to_opencv},
    {"Canon CR3", "????ftypcrx", left_to_opencv},
    {"Fujifilm RAF", "FUJIFILMCCD-RAW", left_to_opencv},
};

bool matches(std::string_view file, std::string_view beginning) {
  return file.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), file.begin(),
                    [](char expected, char c) { return expected == '?' || expected == c; });
}

// Null if the format is not known.
const Format* format_of(const InputFile& file) {
  const auto format = std::find_if(std::begin(formats), std::end(formats), [&](const Format& one) {
    return matches(file.beginning(), one.beginning);
  });
  return format == std::end(formats) ? nullptr : format;
}

// A format that nothing reads is named.
Picture read_other(const InputFile& file, const DecodeLimits& limits, const Format* format) {
  try {
    return read_other_picture(file, limits);
  } catch (const InputError& error) {
    if (!format || error.kind != "decode") throw;
    throw InputError(
        "decode",
        fmt::format("this is a {} picture, which this build cannot decode{}", format->name,
                    other_codec_name().empty() ? "" : ", or which is damaged"));
  }
}

}  // namespace

ImageView image_view(const Picture& picture) {
  return picture.luma.data ? image_view(picture.luma) : image_view(picture.pixels);
}

Picture in_colour(Picture picture) {
  if (!picture.luma.data) return picture;
  const NewFrame<Bgr> colour = new_frame<Bgr>(picture.luma.size);
  for (int y = 0; y < picture.luma.size.height; ++y)
    std::transform(picture.luma.row(y), picture.luma.row(y) + picture.luma.size.width,
                   colour.pixels.row(y), [](std::uint8_t v) {
                     return Bgr{v, v, v};
                   });
  return {colour.pixels, colour.owner, std::move(picture.warning)};
}

Picture read_picture(const InputFile& file, const DecodeLimits& limits, Reading reading) {
  const Format* const format = format_of(file);
  try {
    return format && format->read ? format->read(file, limits, reading)
                                  : read_other(file, limits, format);
  } catch (const MemoryError&) {
    throw InputError("memory", "there is not enough memory for this picture");
  }
}

Picture read_picture(const std::filesystem::path& file, const DecodeLimits& limits,
                     Reading reading) {
  return read_picture(InputFile(file), limits, reading);
}

std::vector<unsigned char> try_encode(View<const Bgr> pixels, const std::string& extension) {
  const std::filesystem::path file = "picture" + extension;
  if (has_extension(file, {".jpg", ".jpeg"})) return to_jpeg(pixels);
  if (has_extension(file, {".png"})) return to_png(pixels);
  return {};
}

std::vector<unsigned char> encode_picture(View<const Bgr> pixels, const std::string& extension) {
  std::vector<unsigned char> bytes = try_encode(pixels, extension);
  if (bytes.empty())
    throw InputError("write", fmt::format("a picture of {}x{} pixels cannot be written as \"{}\"",
                                          pixels.size.width, pixels.size.height, extension));
  return bytes;
}

void write_picture(const std::filesystem::path& file, View<const Bgr> pixels) {
  try {
    std::vector<unsigned char> bytes = encode_picture(pixels, file.extension().string());
    stamp(bytes);
    write_file(file, bytes);
  } catch (const InputError& error) {
    throw OutputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

std::string codec_name() {
  return fmt::format("libjpeg-turbo, libpng{}{}{}{}", has_webp ? ", libwebp" : "",
                     has_tiff ? ", libtiff" : "", has_heif ? ", libheif" : "", other_codec_name());
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> extensions{".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png",
                                             ".bmp", ".dib",  ".pbm", ".pgm",  ".ppm", ".pnm"};
    const auto add = [&](std::initializer_list<std::string_view> more) {
      extensions.insert(extensions.end(), more);
    };
    if (has_webp) add({".webp"});
    if (has_tiff) add({".tif", ".tiff"});
    if (has_heif) add({".heic", ".heif", ".avif"});
    for (const std::string_view other : other_picture_extensions())
      if (std::ranges::find(extensions, other) == extensions.end()) extensions.push_back(other);
    return extensions;
  }();
  return all;
}

}  // namespace facesat
