// The integral image of NPP, NVIDIA's closed library of image primitives. The library is loaded at
// run time if it is installed; the build does not need it.
#include <type_traits>

#include <dlfcn.h>

#include "kernels/bench/sat_peer.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
namespace {

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

// The signature of nppiIntegral. Its table has (width + 1) x (height + 1) elements: `first` fills
// the first row and column, and element (x + 1, y + 1) is our element (x, y). Steps are the bytes
// from row to row. Returns 0 on success.
template <class T>
using Integral = int (*)(const std::uint8_t* input, int input_step, T* table, int table_step,
                         NppiSize size, T first, NppStreamContext context);

struct Npp {
  Integral<std::int32_t> to_s32 = nullptr;
  Integral<float> to_f32 = nullptr;
  std::string why_none;  // why NPP cannot be used; empty if it can

  Npp() {
    void* library = nullptr;
    for (const char* name : {"libnppist.so.13", "libnppist.so.12", "libnppist.so"})
      if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      to_s32 =
          reinterpret_cast<Integral<std::int32_t>>(dlsym(library, "nppiIntegral_8u32s_C1R_Ctx"));
      to_f32 = reinterpret_cast<Integral<float>>(dlsym(library, "nppiIntegral_8u32f_C1R_Ctx"));
    }
    if (!to_s32 || !to_f32) {
      const char* const reason = dlerror();
      why_none = std::string("NPP cannot be used: ") + (reason ? reason : "unknown");
    }
  }
};

const Npp& npp() {
  static const Npp loaded;
  return loaded;
}

NppStreamContext context_of(cudaStream_t stream) {
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

template <class T>
void call(Integral<T> integral, const SatTask& task, cudaStream_t stream) {
  // Our element (-1, -1), so that NPP's extra row and column lie outside our table.
  T* const corner = static_cast<T*>(task.sum) - task.sum_pitch - 1;
  const int status =
      integral(static_cast<const std::uint8_t*>(task.input), static_cast<int>(task.input_pitch),
               corner, static_cast<int>(task.sum_pitch * std::ptrdiff_t{sizeof(T)}),
               {task.size.width, task.size.height}, T{}, context_of(stream));
  if (status != 0) throw NppError("NPP: nppiIntegral returned " + std::to_string(status));
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  if (task.type == SatType::u8_s32)
    call(npp().to_s32, task, stream);
  else
    call(npp().to_f32, task, stream);
}

}  // namespace

std::string why_no_npp(SatType type, bool squares) {
  if ((type != SatType::u8_s32 && type != SatType::u8_f32) || squares)
    return "NPP has this table for 8u32s and 8u32f only, and without squares";
  return npp().why_none;
}

const SatAlgorithm peer_npp{
    .id = "peer_npp",
    .title = "NPP's nppiIntegral",
    .paper = "NVIDIA Performance Primitives",
    .year = 2025,
    .launches = 4,  // an upper bound: the library is closed
    .reads = 2,
    .writes = 2,
    .workspace_bytes = [](SatType, Size) -> std::size_t { return 0; },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
