#include <fmt/format.h>

#include "app/errors.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"
#include "app/opencv/opencv.hpp"

namespace facesat::app {

Picture read_other_picture(const std::filesystem::path& file) {
  return opencv().read_picture(file);
}

void write_picture(const std::filesystem::path& file, View<const Bgr> pixels) {
  std::vector<unsigned char> bytes;
  try {
    bytes = opencv().encode(pixels, file.extension().string());
  } catch (const InputError& error) {
    throw OutputError(fmt::format("{}: {}", file.string(), error.what()));
  }
  if (bytes.empty())
    throw OutputError(fmt::format("{}: the picture cannot be encoded", file.string()));
  write_file(file, bytes);
}

std::string codec_name() {
  return fmt::format("libjpeg-turbo, libpng, OpenCV {}", opencv().version());
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> extensions{
      ".jpg", ".jpeg", ".jpe", ".jp2", ".png", ".bmp",  ".dib",  ".pbm", ".pgm", ".ppm", ".pxm",
      ".pnm", ".pfm",  ".sr",  ".ras", ".tif", ".tiff", ".webp", ".exr", ".hdr", ".pic", ".gif"};
  return extensions;
}

}  // namespace facesat::app
