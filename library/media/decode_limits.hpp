// What decoding a picture may cost; small files can ask for a lot.
#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "core/stop.hpp"
#include "library/support/errors.hpp"

namespace facesat {

constexpr std::size_t default_max_pixels = 250'000'000;

struct DecodeLimits {
  std::size_t max_pixels = default_max_pixels;
  ShouldStop should_stop = nullptr;  // asked while JPEG and PNG files are decoded
};

// For a picture of more pixels than may be decoded.
InputError too_large(Size size, const DecodeLimits& limits);

}  // namespace facesat
