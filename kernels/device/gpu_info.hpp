// The GPUs of this machine, without CUDA headers: for `facesat info` and the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facesat/types.hpp"

namespace facesat::gpu {

// Whether this program was built with CUDA.
bool is_built_in();

// The devices that can be used; `why_none` says in a sentence why the list is empty.
std::vector<DeviceInfo> devices(std::string* why_none = nullptr);

// Bytes per second.
struct CopySpeed {
  double memory = 0;  // within device memory: bytes read plus bytes written
  double upload = 0;  // from page-locked host memory to the device
};

// Each call measures anew, for some hundredths of a second. Throws DeviceError or MemoryError.
CopySpeed copy_speed(int device);

}  // namespace facesat::gpu
