// NPP, NVIDIA's closed library of image primitives. It is loaded at run time if it is installed;
// the build does not need it.
#pragma once

#include <string>

#include "facesat/types.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Types of NPP's ABI, from CUDA 11 to 13.
struct NppiSize {
  int width, height;
};
struct NppStreamContext {
  cudaStream_t stream;
  int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
  std::size_t shared_bytes_per_block;
  int capability_major, capability_minor;
  unsigned stream_flags;
  int reserved;
};
static_assert(sizeof(NppStreamContext) == 48 && std::is_trivially_copyable_v<NppStreamContext>);

// What functions take to enqueue their work in a stream of the current device.
NppStreamContext npp_context(cudaStream_t stream);

// One of its libraries, which is never closed.
class NppLibrary {
 public:
  // For example "libnppist".
  explicit NppLibrary(const std::string& name);

  // Finds a function, or sets it to null.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  // Why it cannot be used; empty if all functions were found.
  const std::string& why_none() const { return why_none_; }

 private:
  void* symbol(const char* name) const;

  void* library_ = nullptr;
  mutable std::string why_none_;
};

// NPP refused a call.
struct NppError : DeviceError {
  using DeviceError::DeviceError;
};

// Throws NppError if a function's status is not 0, success.
void check_npp(int status, const char* function);

}  // namespace facesat::gpu
