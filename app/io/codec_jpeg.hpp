// JPEG files by libjpeg-turbo.
#pragma once

#include <optional>
#include <span>

#include "app/io/codec.hpp"

namespace facesat::app {

// The pixels that cv::imread decodes, upright unless its EXIF data are broken. Nothing for what is
// no JPEG, whose pixels are damaged in any way, or whose colours libjpeg-turbo does not convert
// (CMYK). Throws MemoryError.
std::optional<Picture> read_jpeg(std::span<const unsigned char> file);

}  // namespace facesat::app
