// TIFF files by libtiff.
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The first page, with the same pixels as cv::imread: rotated by its orientation, as far as OpenCV
// does that. Damaged data are decoded as far as libtiff can, with a warning. Throws InputError for
// a file that libtiff does not decode to 8-bit colour, or that has too many pixels; MemoryError;
// and Stopped.
Picture read_tiff(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
