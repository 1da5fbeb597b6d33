// For builds without CUDA.
#include "kernels/bench/micro.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {

MicroFigures measure_micro(int) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
