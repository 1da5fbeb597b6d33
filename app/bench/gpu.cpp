#include "app/bench/gpu.hpp"

#include <fmt/format.h>

#include "kernels/device/gpu_info.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {

std::string why_no_gpu(int device) {
  std::string why_none;
  const auto devices = gpu::devices(&why_none);
  if (devices.empty()) return why_none;
  if (device >= static_cast<int>(devices.size()))
    throw UsageError(
        fmt::format("--device {}: there is no such device; 'facesat info' lists them", device));
  return "";
}

}  // namespace facesat::app
