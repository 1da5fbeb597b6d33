// Picture files <-> pixels. JPEG and PNG files are read by codec_jpeg.cpp and codec_png.cpp; what
// those leave is read by OpenCV (codec_opencv.cpp) or, in builds without it, by stb_image
// (codec_stb.cpp).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace facesat::app {

// A decoded picture; `owner` keeps the pixels alive.
struct Picture {
  View<const Bgr> pixels;
  std::shared_ptr<const void> owner;
  std::string warning;  // a sentence, if the picture is not whole
};

// Larger ones are not decoded, like by cv::imread.
constexpr std::size_t max_picture_pixels = 1 << 30;

// Decodes a picture to 8-bit colour as cv::imread does: upright by its EXIF orientation, 16 bits
// reduced to 8, alpha dropped. Throws InputError.
Picture read_picture(const std::filesystem::path& file);

// Reads what is neither a sound JPEG nor a sound PNG; does not look for its end. Throws InputError.
Picture read_other_picture(const std::filesystem::path& file);

// Writes a picture; the format follows the extension (.jpg, .jpeg or .png). Throws OutputError.
void write_picture(const std::filesystem::path& file, View<const Bgr> pixels);

// The libraries that read pictures: "libjpeg-turbo, libpng, OpenCV 4.6.0".
std::string codec_name();

// File name extensions, in lower case with the dot, of what read_picture can read.
const std::vector<std::string_view>& picture_extensions();

}  // namespace facesat::app
