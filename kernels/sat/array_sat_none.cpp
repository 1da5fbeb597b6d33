// For builds without CUDA.
#include "kernels/sat/array_sat.hpp"

namespace facesat::gpu {

void enqueue_array_sat(const ConstArrayView&, const ArrayView&, const SatOptions&) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
