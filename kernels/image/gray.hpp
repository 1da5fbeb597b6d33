// Converts a colour frame to a grey image and equalises its histogram, on the device.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

// OpenCV's COLOR_BGR2GRAY for 8 bits (see core/cpu/gray.hpp). Both views lie in device memory, have
// the same size, start on 16-byte boundaries and have pitches that are multiples of 16: what lies
// past a row's end is overwritten up to the next multiple of 4.
void enqueue_gray(View<const Bgr> frame, View<std::uint8_t> gray, StreamHandle stream);
void enqueue_gray(View<const Bgra> frame, View<std::uint8_t> gray, StreamHandle stream);

// Words of device memory that equalising needs: must be zero before the first use, and are zero
// again after each.
constexpr int equalize_workspace_words = 257;  // the histogram, and a count of finished blocks

// OpenCV's equalizeHist (see core/cpu/gray.hpp), in place.
void enqueue_equalize(View<std::uint8_t> gray, std::uint32_t* workspace, StreamHandle stream);

}  // namespace facesat::gpu
