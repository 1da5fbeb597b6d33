#include <cstdlib>

#include <fmt/format.h>

#include "library/media/codec.hpp"
#include "library/media/opencv.hpp"

namespace facesat {

// OpenCV reads this variable when it is loaded, which happens later: see opencv().
void prepare_codecs(const DecodeLimits& limits) {
  ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(limits.max_pixels).c_str(), 1);
}

Picture read_other_picture(const InputFile& file, const DecodeLimits& limits, Reading reading) {
  Picture picture = opencv().read_picture(file.name(), reading);
  if (picture.size().area() > limits.max_pixels) throw too_large(picture.size(), limits);
  return picture;
}

std::vector<unsigned char> try_encode(View<const Bgr> pixels, const std::string& extension) {
  return opencv().encode(pixels, extension);
}

std::string codec_name() {
  return fmt::format("libjpeg-turbo, libpng, OpenCV {}", opencv().version());
}

const std::vector<std::string_view>& picture_extensions() {
  static const std::vector<std::string_view> extensions{
      ".jpg", ".jpeg", ".jpe",  ".jfif", ".jp2", ".png", ".bmp", ".dib",
      ".pbm", ".pgm",  ".ppm",  ".pxm",  ".pnm", ".pfm", ".sr",  ".ras",
      ".tif", ".tiff", ".webp", ".exr",  ".hdr", ".pic", ".gif"};
  return extensions;
}

}  // namespace facesat
