#include "kernels/cuda_backend.hpp"

namespace facesat::gpu {

std::unique_ptr<Backend> make_cuda_backend(int, std::string_view, const CudaSettings&) {
  throw DeviceError("this build has no CUDA backend");
}

std::string why_not(int, const Cascade&) {
  return "this build has no CUDA backend";
}

void download(const ImageView&, View<std::uint8_t>) {
  throw DeviceError("this build has no CUDA backend");
}

void use_for_frame_memory(int) {}

KeptDevice::KeptDevice() = default;
KeptDevice::~KeptDevice() = default;

}  // namespace facesat::gpu
