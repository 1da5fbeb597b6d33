// Picture files <-> pixels. Two implementations: codec_opencv.cpp, and codec_stb.cpp for builds
// without OpenCV.
#pragma once

#include <cstdint>
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
  std::shared_ptr<void> owner;
  std::string warning;  // a sentence, if the picture is not whole
};

// Decodes a picture to 8-bit colour as cv::imread does, or as close as stb_image comes: upright by
// its EXIF orientation, 16 bits reduced to 8, alpha dropped. Throws InputError.
Picture read_picture(const std::filesystem::path& file);

// Writes a picture; the format follows the extension (.jpg, .jpeg or .png). Throws OutputError.
void write_picture(const std::filesystem::path& file, View<const Bgr> pixels);

// "OpenCV 4.6.0", "stb_image".
std::string codec_name();

// File name extensions, in lower case with the dot, of what read_picture can read.
const std::vector<std::string_view>& picture_extensions();

}  // namespace facesat::app
