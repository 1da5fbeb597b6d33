// Masks in device memory.
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/device/cuda.hpp"
#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {

// The mask without its weights on a device: enough for why_not(). Refers to `mask`.
template <class W>
DeviceMask described(const Mask<W>& mask) {
  DeviceMask described{.kind = mask.is_ones()        ? MaskKind::ones
                               : mask.is_separable() ? MaskKind::separable
                                                     : MaskKind::any,
                       .radius = mask.radius,
                       .host_weights = mask.weights.data(),
                       .divisor = static_cast<double>(mask.divisor)};
  if (mask.is_separable()) {
    described.host_row = mask.row.data();
    described.host_column = mask.column.data();
  }
  return described;
}

template <class W>
class UploadedMask {
 public:
  // Copies the weights to the current device. Throws CudaError or MemoryError.
  UploadedMask(Mask<W> mask, cudaStream_t stream)
      : mask_(std::move(mask)),
        memory_(mask_.weights.size() + mask_.row.size() + mask_.column.size()) {
    W* to = memory_.data();
    for (const auto* part : {&mask_.weights, &mask_.row, &mask_.column}) {
      upload(*part, to, stream);
      to += part->size();
    }
  }

  // Refers to this object.
  DeviceMask mask() const {
    DeviceMask mask = described(mask_);
    mask.weights = memory_.data();
    if (mask_.is_separable()) {
      mask.row = memory_.data() + mask_.weights.size();
      mask.column = memory_.data() + mask_.weights.size() + mask_.row.size();
    }
    return mask;
  }
  const Mask<W>& on_host() const { return mask_; }

 private:
  Mask<W> mask_;
  Buffer<W> memory_;
};

}  // namespace facesat::gpu
