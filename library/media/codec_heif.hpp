// HEIF files (HEIC, AVIF) by libheif, which is in a library of its own (heif_module/): it depends
// on decoders and encoders of video, and loading those takes several milliseconds.
#pragma once

#include <span>

#include "library/media/codec.hpp"

namespace facesat {

// The functions of that library.
struct Heif {
  Picture (*read)(std::span<const unsigned char> file, const DecodeLimits& limits);
};

// The primary picture as libheif converts it to 8-bit colour, with the rotations and crops of the
// file applied. Loads the library on the first call. Throws InputError for a file that is damaged,
// has too many pixels, or a codec that libheif was built without, and if the library is missing;
// and MemoryError.
Picture read_heif(std::span<const unsigned char> file, const DecodeLimits& limits = {});

}  // namespace facesat
