#include <atomic>

#include "core/frame_memory.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/device/cuda.hpp"

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

void use_for_frame_memory(int device) {
  device_of_frames = device;
  allocate_frames_with({allocate, free_frame});
}

}  // namespace facesat::gpu
