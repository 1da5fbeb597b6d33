#include "kernels/device/gpu_info.hpp"

#include <fmt/format.h>

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
namespace {

// CUDA's version numbers are 1000 * major + 10 * minor.
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
    cudaGetLastError();  // clears the error, which is reported here
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

CopySpeed copy_speed(int device) {
  FACESAT_CUDA(cudaSetDevice(device));
  constexpr std::size_t bytes = 256 << 20, upload_bytes = 16 << 20;
  const Buffer<char> from(bytes), to(bytes);
  const PinnedBuffer<char> host(upload_bytes);
  const Stream stream = make_stream();
  const Event begin = make_event(), end = make_event();
  const auto seconds = [&](auto copy) {
    float best = 0;
    for (int run = 0; run < 6; ++run) {
      FACESAT_CUDA(cudaEventRecord(begin.get(), stream.get()));
      copy();
      FACESAT_CUDA(cudaEventRecord(end.get(), stream.get()));
      FACESAT_CUDA(cudaStreamSynchronize(stream.get()));
      float ms = 0;
      FACESAT_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (run == 1 || (run > 1 && ms < best)) best = ms;  // the first warms up
    }
    return best / 1000.0;
  };
  const auto within = [&] {
    FACESAT_CUDA(
        cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()));
  };
  const auto upload = [&] {
    FACESAT_CUDA(cudaMemcpyAsync(to.data(), host.data(), upload_bytes, cudaMemcpyHostToDevice,
                                 stream.get()));
  };
  return {2.0 * bytes / seconds(within), upload_bytes / seconds(upload)};
}

}  // namespace facesat::gpu
