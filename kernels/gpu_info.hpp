// What the GPU side of this build offers, without a word of CUDA: for `facesat info` and the
// command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace facesat::gpu {

struct DeviceInfo {
  int id = 0;
  std::string name, compute_capability;  // "9.0"
  std::uint64_t memory_bytes = 0;
};

struct SatInfo {
  std::string id, title, paper;
  int year = 0;
  int launches = 0;  // 0: one for every anti-diagonal
  std::vector<std::string> types;
  double reads = 0, writes = 0;
};

// Was this program built with CUDA?
bool is_built_in();

// The devices that can be used; `why_none` says in a sentence why the list is empty.
std::vector<DeviceInfo> devices(std::string* why_none = nullptr);

std::vector<SatInfo> sat_infos();

// Bytes a second.
struct CopySpeed {
  double memory = 0;  // within a memory: bytes read and bytes written together
  double upload = 0;  // from page-locked host memory to the device
};

// Measured anew by each call, in some hundredths of a second. Throws DeviceError or MemoryError.
CopySpeed copy_speed(int device);

}  // namespace facesat::gpu
