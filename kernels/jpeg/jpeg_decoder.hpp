// Decodes JPEGs on a device, one at a time; without CUDA headers.
#pragma once

#include <memory>

#include "facesat/types.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"

namespace facesat::gpu {

class JpegDecoder {
 public:
  virtual ~JpegDecoder() = default;

  // Begins to decode a JPEG, and returns the picture that there will be in the device's memory: in
  // colour or, with `luma`, grey, and turned upright from this EXIF orientation (1 .. 8, 0: as it
  // is). It is valid until the next call; `jpeg` must not change until has_failed() has returned.
  // The work is enqueued in `stream`, a cudaStream_t of the device, which must exist as long as the
  // picture is used, and at least until has_failed() has returned or the decoder is destroyed;
  // null: in one of its own. Throws MemoryError, DeviceError.
  virtual ImageView decode(const JpegStream& jpeg, bool luma, int orientation,
                           void* stream = nullptr) = 0;

  // Waits for decode(). If it has failed, the picture is not what libjpeg-turbo makes of the file,
  // and counts for nothing: bits are damaged, or cannot be decoded in parallel. Throws DeviceError.
  virtual bool has_failed() = 0;
};

// Throws DeviceError if the device does not exist.
std::unique_ptr<JpegDecoder> make_jpeg_decoder(int device);

}  // namespace facesat::gpu
