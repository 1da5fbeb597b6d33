// atlas -> tilted integral image, for cascades with tilted features.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

// The table of cpu::tilted_integral (core/cpu/integral.hpp): element (x, y) is the sum of the cone
// that opens upwards from pixel (x, y), for x from -1 on. Row -1 stays as it is and must be zero.
// Both views are in device memory and laid out as SatTask requires (kernels/sat/algorithm.hpp).
void enqueue_tilted(View<const std::uint8_t> picture, View<std::uint32_t> tilted_sum,
                    StreamHandle stream);

}  // namespace facesat::gpu
