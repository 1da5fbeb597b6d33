// BMP files.
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread, also of files that use the format in unusual ways. Throws
// InputError for a file that cv::imread does not read, ends early, or has too many pixels;
// MemoryError; and Stopped.
Picture read_bmp(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
