// Pictures and tables in device memory.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// A picture or table in device memory. Rows start on 128-byte boundaries; there is room past their
// ends up to the next such boundary, and for at least 128 more bytes after the last row. A border,
// if there is one, is a zero row above and zero elements to the left. All other contents are
// undefined.
template <class T>
class DeviceImage {
 public:
  enum class Border { none, zeros };

  // Makes room for `size` elements, reusing the allocation if it is large enough.
  void resize(Size size, Border border, cudaStream_t stream) {
    constexpr int line = sizeof(T) == 3 ? 128 : 128 / sizeof(T);  // elements of whole lines
    const int left = border == Border::zeros ? line : 0;
    const std::ptrdiff_t pitch = (size.width + left + line - 1) / line * line;
    const int rows = size.height + (left > 0 ? 1 : 0);
    view_ = {};  // if there is too little memory
    elements_ = static_cast<std::size_t>(pitch) * rows + line;
    reserve(memory_, elements_);
    view_ = {memory_.data() + (left > 0 ? pitch + left : 0), size, pitch};
    if (left == 0) return;
    FACESAT_CUDA(cudaMemsetAsync(memory_.data(), 0, pitch * sizeof(T), stream));
    FACESAT_CUDA(cudaMemset2DAsync(memory_.data() + pitch, pitch * sizeof(T), 0, left * sizeof(T),
                                   size.height, stream));
  }

  // Zeros everything, also past the ends of rows. Kernels may read there; results do not depend on
  // what it is, but it must have been written.
  void clear(cudaStream_t stream) {
    FACESAT_CUDA(cudaMemsetAsync(memory_.data(), 0, elements_ * sizeof(T), stream));
  }

  // The same allocation, seen as a smaller picture of the same pitch.
  View<T> view(Size size) const { return {view_.data, size, view_.pitch}; }
  View<T> view() const { return view_; }

 private:
  Buffer<T> memory_;
  std::size_t elements_ = 0;  // of the memory, in use
  View<T> view_;
};

}  // namespace facesat::gpu
