// For builds without CUDA.
#include "library/facesat.hpp"
#include "kernels/bench/micro.hpp"

namespace facesat::gpu {

MicroFigures measure_micro(int) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
