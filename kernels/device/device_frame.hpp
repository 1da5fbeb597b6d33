// Frames that are in the memory of a device already, and copies of pictures and tables from there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// The device in whose memory the data are. Throws ArgumentError if they are in none.
int device_of(const void* data);

// Lets a stream wait for those that frames come from.
class FrameWait {
 public:
  // Makes `stream`, of the current device, wait for all work that the frame's own stream has been
  // given.
  void wait(const ImageView& frame, cudaStream_t stream);

 private:
  int device_ = -1;  // of the last frame
  Event end_;        // of that device
};

// Enqueues a copy of the frame, whose size is that of `to` in bytes. Either may be in the memory of
// any device, or in that of the host.
template <class Pixel>
void copy_frame(const ImageView& frame, View<Pixel> to, cudaStream_t stream) {
  const std::size_t row = static_cast<std::size_t>(to.size.width) * sizeof(Pixel);
  const std::size_t pitch = frame.size.height > 1 ? static_cast<std::size_t>(frame.pitch) : row;
  FACESAT_CUDA(cudaMemcpy2DAsync(to.data, to.pitch * sizeof(Pixel), frame.pixels, pitch, row,
                                 to.size.height, cudaMemcpyDefault, stream));
}

// ---- for snapshots; each copy waits for the device

// A picture in device memory, widened to 32 bits.
template <class T>
Image<std::uint32_t> downloaded(View<const T> from) {
  Image<T> picture(from.size);
  FACESAT_CUDA(cudaMemcpy2D(picture.view().data, picture.view().pitch * sizeof(T), from.data,
                            from.pitch * sizeof(T), from.size.width * sizeof(T), from.size.height,
                            cudaMemcpyDeviceToHost));
  Image<std::uint32_t> widened(from.size);
  for (int y = 0; y < from.size.height; ++y)
    std::copy_n(picture.row(y), from.size.width, widened.row(y));
  return widened;
}

// The integral image of one level alone, from that of the atlas: the sums left of `place` and above
// it are subtracted. `table` has a row and a column of readable elements before its first.
Image<std::uint32_t> downloaded_part(View<const std::uint32_t> table, const Rect& place);

}  // namespace facesat::gpu
