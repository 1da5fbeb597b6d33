// For builds without CUDA.
#include "kernels/device/gpu_info.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {

bool is_built_in() {
  return false;
}

std::vector<DeviceInfo> devices(std::string* why_none) {
  if (why_none) *why_none = "this program was built without CUDA";
  return {};
}

CopySpeed copy_speed(int) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
