// Pictures of whole levels, for tests and debug views. (The CPU backend itself works tile by tile.)
#pragma once

#include <cstdint>

#include "core/backend.hpp"

namespace facesat::cpu {

// A copy of the picture with 32 bits per pixel.
Image<std::uint32_t> widened(View<const std::uint8_t> picture);

// Backend::snapshot() of `level`, `sum`, `squared_sum` or `tilted_sum`. Throws MemoryError.
Image<std::uint32_t> level_snapshot(View<const std::uint8_t> gray, const Level& level,
                                    Snapshot picture);

}  // namespace facesat::cpu
