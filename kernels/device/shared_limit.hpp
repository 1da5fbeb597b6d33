// How much dynamic shared memory a kernel may be launched with.
#pragma once

#include <map>
#include <mutex>
#include <utility>

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Lets the kernel have this much on the current device. The limit is the kernel's, whichever thread
// launches it, so it never falls: another thread may be about to launch it with more.
inline void allow_shared_bytes(const void* kernel, int bytes) {
  if (bytes == 0) return;
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> limits;  // by device and kernel
  int device = 0;
  FACESAT_CUDA(cudaGetDevice(&device));
  const std::scoped_lock lock(mutex);
  int& limit = limits[{device, kernel}];
  if (bytes <= limit) return;
  FACESAT_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  limit = bytes;
}

}  // namespace facesat::gpu
