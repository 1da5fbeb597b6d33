// A JPEG that devices decode, so that its pixels are never in host memory.
#pragma once

#include <functional>

#include "facesat.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"

namespace facesat {

struct EncodedImage {
  const gpu::JpegStream& jpeg;
  bool luma = false;    // search its luma instead of its colours
  int orientation = 0;  // EXIF; 0: unknown. The image is turned upright.
  // Decodes it where no device does: called at most once, and what it throws is the caller's.
  std::function<ImageView()> decode;
};

}  // namespace facesat
