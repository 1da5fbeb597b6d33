// Limits on decoding a picture, because small files can need a lot of memory and time.
#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "core/stop.hpp"
#include "support/errors.hpp"

namespace facesat {

constexpr std::size_t default_max_pixels = 250'000'000;  // 750 MB of 8-bit colour

struct DecodeLimits {
  std::size_t max_pixels = default_max_pixels;
  ShouldStop should_stop = nullptr;  // called between the rows or tiles of most formats
};

// The error for a picture with more pixels than the limit.
InputError too_large(Size size, const DecodeLimits& limits);

}  // namespace facesat
