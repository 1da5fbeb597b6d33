// What this machine and this build have.
#include "facesat.hpp"
#include "kernels/device/gpu_info.hpp"

namespace facesat {

std::vector<DeviceInfo> devices(std::string* why_none) {
  return gpu::devices(why_none);
}

std::string version() {
  return FACESAT_VERSION;
}

}  // namespace facesat
