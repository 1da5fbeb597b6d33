// WebP files by libwebp.
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread, which does not rotate by EXIF data; of an animation, the first
// frame, which cv::imread of OpenCV 4.6 does not read. Throws InputError for a file that is no
// WebP, is damaged in any way, or has too many pixels; and MemoryError.
Picture read_webp(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
