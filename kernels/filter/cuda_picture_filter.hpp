// PictureFilter on a GPU, without CUDA headers.
#pragma once

#include <memory>

#include "filters/picture_filter.hpp"

namespace facesat::gpu {

// Steps are the upload, the filter under its algorithm's id, and the download. Throws DeviceError
// if there is no such device.
std::unique_ptr<PictureFilter> make_cuda_picture_filter(int device);

}  // namespace facesat::gpu
