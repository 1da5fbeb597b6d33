// PNG files by libpng.
#pragma once

#include <optional>
#include <span>

#include "app/io/codec.hpp"

namespace facesat::app {

// The pixels that cv::imread decodes. Nothing for what is no PNG, is damaged in any way, or has
// EXIF data. Throws MemoryError.
std::optional<Picture> read_png(std::span<const unsigned char> file);

}  // namespace facesat::app
