// PNG files by libpng.
#pragma once

#include <span>
#include <vector>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread, rotated upright by the EXIF data. Throws InputError for a file
// that is not a PNG, is damaged in any way, or has too many pixels; MemoryError; and Stopped if
// limits.should_stop asked for it.
Picture read_png(std::span<const unsigned char> file, const DecodeLimits& limits = {});

// Encodes as cv::imencode does. No bytes if a side has more than a million pixels.
std::vector<unsigned char> to_png(View<const Bgr> pixels);

}  // namespace facesat
