#include "lab/problems/npp.hpp"

#include <dlfcn.h>

namespace facesat::gpu {

NppStreamContext npp_context(cudaStream_t stream) {
  NppStreamContext context{};
  context.stream = stream;
  FACESAT_CUDA(cudaGetDevice(&context.device));
  const auto ask = [&](cudaDeviceAttr attribute) {
    int value = 0;
    FACESAT_CUDA(cudaDeviceGetAttribute(&value, attribute, context.device));
    return value;
  };
  context.multiprocessors = ask(cudaDevAttrMultiProcessorCount);
  context.threads_per_multiprocessor = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  context.threads_per_block = ask(cudaDevAttrMaxThreadsPerBlock);
  context.shared_bytes_per_block =
      static_cast<std::size_t>(ask(cudaDevAttrMaxSharedMemoryPerBlock));
  context.capability_major = ask(cudaDevAttrComputeCapabilityMajor);
  context.capability_minor = ask(cudaDevAttrComputeCapabilityMinor);
  FACESAT_CUDA(cudaStreamGetFlags(stream, &context.stream_flags));
  return context;
}

NppLibrary::NppLibrary(const std::string& name) {
  for (const char* version : {".so.13", ".so.12", ".so"})
    if (!library_) library_ = dlopen((name + version).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) {
    const char* const reason = dlerror();
    why_none_ = std::string("NPP cannot be used: ") + (reason ? reason : "unknown");
  }
}

void* NppLibrary::symbol(const char* name) const {
  void* const found = library_ ? dlsym(library_, name) : nullptr;
  if (!found && why_none_.empty()) why_none_ = std::string("NPP cannot be used: it has no ") + name;
  return found;
}

void check_npp(int status, const char* function) {
  if (status != 0)
    throw NppError(std::string("NPP: ") + function + " returned " + std::to_string(status));
}

}  // namespace facesat::gpu
