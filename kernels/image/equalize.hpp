// Equalises the histogram of the grey image, on the device.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

// Words of device memory that equalising needs: must be zero before the first use, and are zero
// again after each.
constexpr int equalize_workspace_words = 257;  // the histogram, and a count of finished blocks

// OpenCV's equalizeHist (see core/cpu/gray.hpp), in place.
void enqueue_equalize(View<std::uint8_t> gray, std::uint32_t* workspace, StreamHandle stream);

}  // namespace facesat::gpu
