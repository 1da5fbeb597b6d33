// Integral images (summed area tables, SAT) of arrays that belong to a caller, in any layout,
// without CUDA headers.
#pragma once

#include "facesat/types.hpp"

namespace facesat::gpu {

// As facesat::sat() on a device. `input` and `table` have passed its checks, except that they must
// be in the memory of the same device: throws ArgumentError.
void enqueue_array_sat(const ConstArrayView& input, const ArrayView& table,
                       const SatOptions& options);

}  // namespace facesat::gpu
