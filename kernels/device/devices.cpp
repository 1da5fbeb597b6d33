// What callers of the CUDA backend need besides it: whether a device suits a cascade, copies of
// images, page-locked memory of frames, and the thread's current device.
#include <atomic>

#include <fmt/format.h>

#include "core/frame_memory.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/device/device_frame.hpp"

namespace facesat::gpu {
namespace {

std::atomic<int> device_of_frames = 0;

// Null if the system has no more memory to be locked, or if the device has failed.
void* allocate(std::size_t bytes) {
  const KeptDevice kept;
  void* memory = nullptr;
  if (cudaSetDevice(device_of_frames) == cudaSuccess &&
      cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess)
    return memory;
  cudaGetLastError();  // forgets the error: ordinary memory will do
  return nullptr;
}

void free_frame(void* memory) {
  cudaFreeHost(memory);
}

}  // namespace

void download(const ImageView& on_device, View<std::uint8_t> to) {
  const KeptDevice kept;
  FACESAT_CUDA(cudaSetDevice(device_of(on_device.pixels)));
  const Stream stream = make_stream();
  wait_for(on_device, stream.get());
  copy_frame(on_device, to, stream.get());
  FACESAT_CUDA(cudaStreamSynchronize(stream.get()));
}

KeptDevice::KeptDevice() {
  if (cudaGetDevice(&device_) != cudaSuccess) device_ = -1;
}
KeptDevice::~KeptDevice() {
  if (device_ >= 0) cudaSetDevice(device_);
}

std::string why_not(int device, const Cascade& cascade) {
  FACESAT_CUDA(cudaSetDevice(device));
  if (!has_code())
    return fmt::format("this build has no code for device {}: see CMAKE_CUDA_ARCHITECTURES",
                       device);
  int most = 0;
  FACESAT_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int patch = min_shared_bytes(cascade);
  if (patch > max_patch_bytes)
    return fmt::format("the windows of {} ({}x{} pixels) are larger than the GPU's kernels allow",
                       cascade.name, cascade.window.width, cascade.window.height);
  const int needed = patch + evaluate_static_bytes;
  if (needed > most)
    return fmt::format(
        "the windows of {} ({}x{} pixels) need {} KiB of a GPU's shared memory, device {} has {}",
        cascade.name, cascade.window.width, cascade.window.height, needed >> 10, device,
        most >> 10);
  return "";
}

void use_for_frame_memory(int device) {
  device_of_frames = device;
  allocate_frames_with({allocate, free_frame});
}

}  // namespace facesat::gpu
