#include <cstdlib>

#include <fmt/format.h>

#include "media/codec.hpp"
#include "media/opencv.hpp"

namespace facesat {

// OpenCV reads this variable when it is loaded, which happens later: see opencv().
void prepare_codecs(const DecodeLimits& limits) {
  ::setenv("OPENCV_IO_MAX_IMAGE_PIXELS", std::to_string(limits.max_pixels).c_str(), 1);
}

Picture read_other_picture(const InputFile& file, const DecodeLimits& limits) {
  Picture picture = opencv().read_picture(file.name());
  if (picture.size().area() > limits.max_pixels) throw too_large(picture.size(), limits);
  return picture;
}

std::string other_codec_name() {
  return fmt::format(", OpenCV {}", opencv().version());
}

std::vector<std::string_view> other_picture_extensions() {
  return {".jp2",  ".pxm",  ".pfm", ".sr",  ".ras", ".tif",
          ".tiff", ".webp", ".exr", ".hdr", ".pic", ".gif"};
}

}  // namespace facesat
