// Frames that are in the memory of a device already.
#pragma once

#include "core/image.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// The device in whose memory the data are. Throws ArgumentError if they are in none.
int device_of(const void* data);

// Makes `stream`, of the current device, wait for all work that the frame's own stream has been
// given.
void wait_for(const ImageView& frame, cudaStream_t stream);

// Enqueues a copy of the frame, whose size is that of `to` in bytes. Either may be in the memory of
// any device, or in that of the host.
template <class Pixel>
void copy_frame(const ImageView& frame, View<Pixel> to, cudaStream_t stream) {
  const std::size_t row = static_cast<std::size_t>(to.size.width) * sizeof(Pixel);
  const std::size_t pitch = frame.size.height > 1 ? static_cast<std::size_t>(frame.pitch) : row;
  FACESAT_CUDA(cudaMemcpy2DAsync(to.data, to.pitch * sizeof(Pixel), frame.pixels, pitch, row,
                                 to.size.height, cudaMemcpyDefault, stream));
}

}  // namespace facesat::gpu
