// For builds without CUDA.
#include "kernels/filter/cuda_picture_filter.hpp"

namespace facesat::gpu {

std::unique_ptr<PictureFilter> make_cuda_picture_filter(int) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
