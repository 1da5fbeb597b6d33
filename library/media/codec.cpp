#include "library/media/codec.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "library/media/codec_jpeg.hpp"
#include "library/media/codec_png.hpp"
#include "library/media/input_file.hpp"
#include "library/media/stamp.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"

namespace facesat {
namespace {

std::string_view as_text(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Decoders accept damaged JPEGs, and fill missing parts with grey. A complete file has its end
// marker after the last start of a scan, because neither marker can occur inside a scan.
std::string warning_about_jpeg(const std::vector<unsigned char>& file, const std::string& damage) {
  const std::string_view bytes = as_text(file);
  const std::size_t scan = bytes.rfind("\xFF\xDA"), end = bytes.rfind("\xFF\xD9");
  const bool whole = end != bytes.npos && (scan == bytes.npos || end > scan);
  if (!whole) return "the file ends early, so the lower part of the picture is missing";
  return damage.empty() ? "" : fmt::format("the file is damaged ({})", damage);
}

// An animation has an acTL chunk before the image data (IDAT).
bool is_animated_png(const std::vector<unsigned char>& file) {
  const std::string_view bytes = as_text(file);
  return bytes.find("acTL") < bytes.find("IDAT");
}

Picture read_png_file(const InputFile& file, const DecodeLimits& limits, Reading) {
  const std::vector<unsigned char> bytes = file.read();
  Picture picture = read_png(bytes, limits);
  if (is_animated_png(bytes)) picture.warning = only_first_frame;
  return picture;
}

Picture read_jpeg_file(const InputFile& file, const DecodeLimits& limits, Reading reading) {
  const std::vector<unsigned char> bytes = file.read();
  std::string damage;
  if (std::optional<Picture> picture = read_jpeg(bytes, limits, reading, &damage))
    return std::move(*picture);
  require_jpeg_within_limits(bytes, limits);
  Picture picture = read_other_picture(file, limits, reading);
  picture.warning = warning_about_jpeg(bytes, damage);
  return picture;
}

Picture read_any_other_file(const InputFile& file, const DecodeLimits& limits, Reading) {
  return read_other_picture(file, limits, Reading::colour);
}

// The readers in the order in which they are tried: the first whose signature matches the beginning
// of the file is used.
struct Reader {
  std::string_view signature;
  Picture (*read)(const InputFile& file, const DecodeLimits& limits, Reading reading);
};
constexpr Reader readers[] = {
    {"\xFF\xD8", read_jpeg_file},
    {"\x89PNG", read_png_file},
    {"", read_any_other_file},
};

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
  const auto reader = std::find_if(std::begin(readers), std::end(readers), [&](const Reader& one) {
    return file.beginning().starts_with(one.signature);
  });
  try {
    return reader->read(file, limits, reading);
  } catch (const MemoryError&) {
    throw InputError("memory", "there is not enough memory for this picture");
  }
}

Picture read_picture(const std::filesystem::path& file, const DecodeLimits& limits,
                     Reading reading) {
  return read_picture(InputFile(file), limits, reading);
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

}  // namespace facesat
