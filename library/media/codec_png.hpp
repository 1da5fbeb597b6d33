// PNG files by libpng.
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The pixels that cv::imread decodes, upright by its EXIF data. Throws InputError for what is no
// PNG, is damaged in any way, or has too many pixels; MemoryError, Stopped.
Picture read_png(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
