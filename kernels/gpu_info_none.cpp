// For builds without CUDA.
#include "kernels/gpu_info.hpp"

namespace facesat::gpu {

bool is_built_in() {
  return false;
}

std::vector<DeviceInfo> devices(std::string* why_none) {
  if (why_none) *why_none = "this program was built without CUDA";
  return {};
}

std::vector<SatInfo> sat_infos() {
  return {};
}

}  // namespace facesat::gpu
