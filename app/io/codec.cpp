#include "app/io/codec.hpp"

#include <fstream>

#include "app/errors.hpp"
#include "app/io/codec_jpeg.hpp"
#include "app/io/codec_png.hpp"
#include "app/io/files.hpp"

namespace facesat::app {
namespace {

constexpr std::string_view jpeg_signature = "\xFF\xD8", png_signature = "\x89PNG";

bool begins_with(const std::filesystem::path& file, std::string_view signature) {
  char bytes[4]{};
  std::ifstream(file, std::ios::binary).read(bytes, sizeof bytes);
  return std::string_view(bytes, sizeof bytes).starts_with(signature);
}

// Decoders take a JPEG without an end and fill in grey. A whole one has its end marker behind the
// last start of a scan: inside a scan neither marker can occur.
std::string warning_about(const std::filesystem::path& file) {
  if (!begins_with(file, jpeg_signature)) return "";
  const std::vector<unsigned char> data = read_file(file);
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
  const std::size_t scan = bytes.rfind("\xFF\xDA"), end = bytes.rfind("\xFF\xD9");
  const bool whole = end != bytes.npos && (scan == bytes.npos || end > scan);
  return whole ? "" : "the file ends early, so the lower part of the picture is missing";
}

}  // namespace

Picture read_picture(const std::filesystem::path& file) {
  require_readable(file);
  try {
    std::optional<Picture> picture;
    if (begins_with(file, jpeg_signature)) picture = read_jpeg(read_file(file));
    if (begins_with(file, png_signature)) picture = read_png(read_file(file));
    if (picture) return std::move(*picture);
    picture = read_other_picture(file);
    picture->warning = warning_about(file);
    return std::move(*picture);
  } catch (const MemoryError&) {
    throw InputError("memory", "there is not enough memory for this picture");
  }
}

}  // namespace facesat::app
