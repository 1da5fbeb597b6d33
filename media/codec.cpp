#include "media/codec.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "media/codec_formats.hpp"
#include "media/opencv.hpp"
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

// A beginning of files, where '?' stands for any byte. Where a name says that the file is a
// picture, it tells the format.
struct Signature {
  std::string_view beginning;
  // Where no name does, it makes the file a picture if that many numbers follow. Text, such as a
  // list of paths, must not be taken for one.
  int numbers = 0;
};
constexpr int needs_name = -1;  // as Signature::numbers: never

struct Format {
  std::string_view name;  // with its article
  Reader* read;
  std::vector<std::string_view> extensions;  // of what is read: here, or by OpenCV if it is there
  std::vector<Signature> signatures;
};

// The first format with a signature that matches is used. After "BM" comes the size of the file,
// and the header of a BMP has one of seven lengths. Never destroyed: threads may still read
// pictures when the program ends.
const std::vector<Format>& formats() {
  using Extensions = std::vector<std::string_view>;
  static const auto& all = *new std::vector<Format>{
      {"a JPEG", read_jpeg_file, {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"}, {{"\xFF\xD8\xFF"}}},
      {"a PNG", read_file<read_png>, {".png"}, {{"\x89PNG"}}},
      {"a BMP",
       read_file<read_bmp>,
       {".bmp", ".dib"},
       {{"BM????\0\0\0\0????\x0C\0\0\0"sv},
        {"BM????\0\0\0\0????\x28\0\0\0"sv},
        {"BM????\0\0\0\0????\x34\0\0\0"sv},
        {"BM????\0\0\0\0????\x38\0\0\0"sv},
        {"BM????\0\0\0\0????\x40\0\0\0"sv},
        {"BM????\0\0\0\0????\x6C\0\0\0"sv},
        {"BM????\0\0\0\0????\x7C\0\0\0"sv},
        {"BM", needs_name}}},
      // Width and height and, unless pixels are bits, the largest value.
      {"a PNM",
       read_file<read_pnm>,
       {".pbm", ".pgm", ".ppm", ".pnm", ".pxm"},
       {{"P1", 2}, {"P2", 3}, {"P3", 3}, {"P4", 2}, {"P5", 3}, {"P6", 3}}},
      {"a WebP", webp, {".webp"}, {{"RIFF????WEBP"}}},
      // The last two are those of BigTIFF.
      {"a TIFF", tiff, {".tif", ".tiff"}, {{"II*\0"sv}, {"MM\0*"sv}, {"II+\0"sv}, {"MM\0+"sv}}},
      {"a HEIF",
       heif,
       has_heif ? Extensions{".heic", ".heif"} : Extensions(),
       {{"????ftyphe"}, {"????ftypmif"}, {"????ftypmsf"}}},
      {"an AVIF", heif, has_heif ? Extensions{".avif"} : Extensions(), {{"????ftypavi"}}},
      // The second one is that of a code stream alone.
      {"a JPEG 2000",
       left_to_opencv,
       {".jp2"},
       {{"\0\0\0\x0CjP  \r\n\x87\n"sv}, {"\xFF\x4F\xFF\x51"}}},
      {"a PFM", left_to_opencv, {".pfm"}, {{"Pf", 2}, {"PF", 2}}},
      {"a Sun raster", left_to_opencv, {".sr", ".ras"}, {{"\x59\xA6\x6A\x95"}}},
      {"an OpenEXR", left_to_opencv, {".exr"}, {{"\x76\x2F\x31\x01"}}},
      {"a Radiance HDR",
       left_to_opencv,
       {".hdr", ".pic"},
       {{"#?RADIANCE\n"}, {"#?RGBE\n"}, {"#?R", needs_name}}},
      {"a GIF", left_to_opencv, {".gif"}, {{"GIF87a"}, {"GIF89a"}, {"GIF8", needs_name}}},
      {"a JPEG XL", left_to_opencv, {}, {{"\0\0\0\x0CJXL \r\n\x87\n"sv}, {"\xFF\x0A"}}},
      {"a JPEG XR", left_to_opencv, {}, {{"II\xBC\x01", needs_name}}},
      {"a PAM", left_to_opencv, {}, {{"P7", needs_name}}},
      {"a PSD", left_to_opencv, {}, {{"8BPS", needs_name}}},
      {"an ICO", left_to_opencv, {}, {{"\0\0\1\0"sv, needs_name}}},
      {"a CUR", left_to_opencv, {}, {{"\0\0\2\0"sv, needs_name}}},
      {"an XCF", left_to_opencv, {}, {{"gimp xcf", needs_name}}},
      {"a DDS", left_to_opencv, {}, {{"DDS ", needs_name}}},
      {"a QOI", left_to_opencv, {}, {{"qoif", needs_name}}},
      {"a BPG", left_to_opencv, {}, {{"BPG\xFB", needs_name}}},
      {"an SVG", left_to_opencv, {}, {{"<svg", needs_name}}},
      {"a Canon CR3", left_to_opencv, {}, {{"????ftypcrx", needs_name}}},
      {"a Fujifilm RAF", left_to_opencv, {}, {{"FUJIFILMCCD-RAW", needs_name}}},
  };
  return all;
}

Match match_beginning(std::string_view beginning, std::string_view file) {
  const std::size_t common = std::min(beginning.size(), file.size());
  for (std::size_t i = 0; i < common; ++i)
    if (beginning[i] != '?' && beginning[i] != file[i]) return Match::no;
  return common == beginning.size() ? Match::yes : Match::unknown;
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// White space and comments stand in front of each number, and white space after the last one.
Match match_numbers(int count, std::string_view text) {
  std::size_t at = 0;
  for (int left = count; left > 0; --left) {
    const std::size_t before = at;
    while (at < text.size() && (is_space(text[at]) || text[at] == '#'))
      at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
    if (at == text.size()) return Match::unknown;
    if (at == before || !is_digit(text[at])) return Match::no;
    while (at < text.size() && is_digit(text[at])) ++at;
  }
  return at == text.size() ? Match::unknown : is_space(text[at]) ? Match::yes : Match::no;
}

Match match_nameless(const Signature& signature, std::string_view file) {
  if (signature.numbers == needs_name) return Match::no;
  const Match match = match_beginning(signature.beginning, file);
  if (match != Match::yes || signature.numbers == 0) return match;
  return match_numbers(signature.numbers, file.substr(signature.beginning.size()));
}

// Null if the format is not known.
const Format* format_of(const InputFile& file) {
  for (const Format& format : formats())
    for (const Signature& signature : format.signatures)
      if (match_beginning(signature.beginning, file.beginning()) == Match::yes) return &format;
  return nullptr;
}

// Reads a file of a format that has no reader here.
Picture read_by_opencv(const InputFile& file, const DecodeLimits& limits) {
  if (!has_opencv()) throw InputError("decode", "this is not a picture that can be decoded");
  Picture picture = opencv().read_picture(file.name());
  check_size(picture.size(), limits);
  return picture;
}

// A format that nothing reads is named.
Picture read_other(const InputFile& file, const DecodeLimits& limits, const Format* format) {
  try {
    return read_by_opencv(file, limits);
  } catch (const InputError& error) {
    if (!format || error.kind != "decode") throw;
    throw InputError(
        "decode", fmt::format("this is {} picture, which this build cannot decode{}", format->name,
                              has_opencv() ? ", or which is damaged" : ""));
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

// OpenCV reads this variable when it is loaded, which happens later: see opencv().
void prepare_codecs(const DecodeLimits& limits) {
  ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(limits.max_pixels).c_str(), 1);
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

std::optional<PixelsInFile> pixels_in_file(const InputFile& file, const DecodeLimits& limits) {
  const std::string_view beginning = file.beginning();
  if (!beginning.starts_with("P5") && !beginning.starts_with("P6")) return std::nullopt;
  try {
    FileBytes bytes = file.read();
    std::optional<PixelsInFile> found = pixels_in_pnm(bytes, limits);
    if (found) found->owner = std::move(bytes.owner);
    return found;
  } catch (const MemoryError&) {
    throw InputError("memory", "there is not enough memory for this picture");
  }
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
                     has_tiff ? ", libtiff" : "", has_heif ? ", libheif" : "",
                     has_opencv() ? ", OpenCV " + opencv().version() : "");
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> extensions;
    for (const Format& format : formats())
      if (format.read || has_opencv())
        extensions.insert(extensions.end(), format.extensions.begin(), format.extensions.end());
    return extensions;
  }();
  return all;
}

Match match_picture(std::string_view beginning) {
  Match best = Match::no;
  for (const Format& format : formats())
    for (const Signature& signature : format.signatures) {
      const Match one = match_nameless(signature, beginning);
      if (one == Match::yes) return one;
      if (one == Match::unknown) best = one;
    }
  return best;
}

}  // namespace facesat
