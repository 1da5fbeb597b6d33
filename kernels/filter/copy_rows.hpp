// Copies a picture within device memory, from rows of one pitch to rows of another.
#pragma once

#include "kernels/device/platform.hpp"

#if defined(FACESAT_SIMT)
#include <cstring>
#endif

namespace facesat::gpu {

// Enqueues the copy; pitches and `row_bytes` are in bytes. Throws CudaError.
inline void enqueue_copy_of_rows(void* to, std::size_t to_pitch, const void* from,
                                 std::size_t from_pitch, std::size_t row_bytes, int rows,
                                 StreamHandle stream) {
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  for (int y = 0; y < rows; ++y)
    std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(y) * to_pitch,
                static_cast<const std::byte*>(from) + static_cast<std::size_t>(y) * from_pitch,
                row_bytes);
#else
  FACESAT_CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes,
                                 static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
#endif
}

}  // namespace facesat::gpu
