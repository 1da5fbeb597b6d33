#include "kernels/gpu_info.hpp"

#include <fmt/format.h>

#include "kernels/cuda.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string why_no_device(cudaError_t status) {
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver is installed";
  if (status == cudaErrorInsufficientDriver)
    return fmt::format("the NVIDIA driver is too old: it supports CUDA {}, this program needs {}",
                       version_text(driver), version_text(runtime));
  return fmt::format("no usable CUDA device: {}", cudaGetErrorString(status));
}

}  // namespace

bool is_built_in() {
  return true;
}

std::vector<DeviceInfo> devices(std::string* why_none) {
  std::vector<DeviceInfo> found;
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    if (why_none) *why_none = why_no_device(status);
    return found;
  }
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp properties{};
    FACESAT_CUDA(cudaGetDeviceProperties(&properties, id));
    found.push_back({id, properties.name, fmt::format("{}.{}", properties.major, properties.minor),
                     properties.totalGlobalMem});
  }
  return found;
}

std::vector<SatInfo> sat_infos() {
  std::vector<SatInfo> infos;
  for (const SatAlgorithm* a : sat_algorithms())
    infos.push_back(
        {a->id, a->title, a->paper, a->year, a->launches, {"8u32u"}, a->reads, a->writes});
  return infos;
}

}  // namespace facesat::gpu
