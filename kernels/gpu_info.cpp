#include "kernels/gpu_info.hpp"

#include <fmt/format.h>

#include "kernels/cuda.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

bool is_built_in() {
  return true;
}

std::vector<DeviceInfo> devices(std::string* why_none) {
  std::vector<DeviceInfo> found;
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    cudaGetLastError();
    if (why_none) *why_none = fmt::format("no usable CUDA device: {}", cudaGetErrorString(status));
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
