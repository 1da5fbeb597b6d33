// JPEG files by libjpeg-turbo.
#pragma once

#include <span>
#include <vector>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread in the same reading, rotated upright as it does; also of damaged
// files, with a warning. Throws InputError for a file that libjpeg-turbo does not decode, that has
// too many pixels, or so many scans that decoding it would take minutes; MemoryError; and Stopped.
Picture read_jpeg(std::span<const unsigned char> file, const DecodeLimits& limits = {},
                  Reading reading = Reading::colour);

// Encodes with a quality of 95, as cv::imencode does. No bytes if a side has more than 65500
// pixels.
std::vector<unsigned char> to_jpeg(View<const Bgr> pixels);

}  // namespace facesat
