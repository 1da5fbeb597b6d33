// PNM files: PBM, PGM and PPM, as text (P1, P2, P3) and binary (P4, P5, P6).
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The same pixels as cv::imread. Throws InputError for a file that cv::imread does not read, ends
// early, or has too many pixels; MemoryError; and Stopped.
Picture read_pnm(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
