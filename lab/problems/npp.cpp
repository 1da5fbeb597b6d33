// NPP, NVIDIA's closed library of image primitives: its integral image and its filters. It is
// loaded at run time if it is installed; the build does not need it.
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include "facesat/types.hpp"
#include "kernels/device/cuda.hpp"
#include "lab/problems/filter.hpp"
#include "lab/problems/sat.hpp"

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

// What functions take to enqueue their work in a stream of the current device.
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

// One of its libraries, which is never closed.
class NppLibrary {
 public:
  // For example "libnppist".
  explicit NppLibrary(const std::string& name) {
    for (const char* version : {".so.13", ".so.12", ".so"})
      if (!library_) library_ = dlopen((name + version).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) {
      const char* const reason = dlerror();
      why_none_ = std::string("NPP cannot be used: ") + (reason ? reason : "unknown");
    }
  }

  // Finds a function, or sets it to null.
  template <class Function>
  void find(const char* name, Function*& function) {
    void* const found = library_ ? dlsym(library_, name) : nullptr;
    if (!found && why_none_.empty())
      why_none_ = std::string("NPP cannot be used: it has no ") + name;
    function = reinterpret_cast<Function*>(found);
  }
  // Why it cannot be used; empty if all functions were found.
  const std::string& why_none() const { return why_none_; }

 private:
  void* library_ = nullptr;
  std::string why_none_;
};

// NPP refused a call.
struct NppError : DeviceError {
  using DeviceError::DeviceError;
};

// Throws NppError if a function's status is not 0, success.
void check_npp(int status, const char* function) {
  if (status != 0)
    throw NppError(std::string("NPP: ") + function + " returned " + std::to_string(status));
}

// ---- the integral image

// The signature of nppiIntegral. Its table has (width + 1) x (height + 1) elements: `first` fills
// the first row and column, and element (x + 1, y + 1) is our element (x, y). Steps are the bytes
// from row to row. Returns 0 on success.
template <class T>
using Integral = int(const std::uint8_t* input, int input_step, T* table, int table_step,
                     NppiSize size, T first, NppStreamContext context);

struct SatNpp {
  Integral<std::int32_t>* to_s32 = nullptr;
  Integral<float>* to_f32 = nullptr;
  std::string why_none;  // why NPP cannot be used; empty if it can

  SatNpp() {
    NppLibrary library("libnppist");
    library.find("nppiIntegral_8u32s_C1R_Ctx", to_s32);
    library.find("nppiIntegral_8u32f_C1R_Ctx", to_f32);
    why_none = library.why_none();
  }
};

const SatNpp& sat_npp() {
  static const SatNpp loaded;
  return loaded;
}

template <class T>
void call(Integral<T>* integral, const SatTask& task, cudaStream_t stream) {
  // Our element (-1, -1), so that NPP's extra row and column lie outside our table.
  T* const corner = static_cast<T*>(task.sum) - task.sum_pitch - 1;
  const int status =
      integral(static_cast<const std::uint8_t*>(task.input), static_cast<int>(task.input_pitch),
               corner, static_cast<int>(task.sum_pitch * std::ptrdiff_t{sizeof(T)}),
               {task.size.width, task.size.height}, T{}, npp_context(stream));
  check_npp(status, "nppiIntegral");
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  if (task.type == SatType::u8_s32)
    call(sat_npp().to_s32, task, stream);
  else
    call(sat_npp().to_f32, task, stream);
}

}  // namespace

std::string why_no_npp(SatType type, bool squares) {
  if ((type != SatType::u8_s32 && type != SatType::u8_f32) || squares)
    return "NPP has this table for 8u32s and 8u32f only, and without squares";
  return sat_npp().why_none;
}

const SatAlgorithm peer_npp{
    .id = "peer_npp",
    .title = "NPP's nppiIntegral",
    .source = "NVIDIA Performance Primitives",
    .year = 2025,
    .launches = 4,  // an upper bound: the library is closed
    .reads = 2,
    .writes = 2,
    .workspace_bytes = [](SatType, Size) -> std::size_t { return 0; },
    .enqueue = enqueue,
};

// ---- filters
namespace {

struct NppiPoint {
  int x, y;
};
constexpr int replicate = 2;                   // NppiBorderType
constexpr int mask_3x3 = 200, mask_5x5 = 201;  // NppiMaskSize

// Signatures. Steps are the bytes from row to row; masks are in device memory, and backwards.
using Box = int(const std::uint8_t* input, int input_step, NppiSize size, NppiPoint offset,
                std::uint8_t* output, int output_step, NppiSize region, NppiSize mask,
                NppiPoint anchor, int border, NppStreamContext context);
using Gaussian = int(const std::uint8_t* input, int input_step, NppiSize size, NppiPoint offset,
                     std::uint8_t* output, int output_step, NppiSize region, int taps,
                     const float* weights, int border, NppStreamContext context);
using Sobel = int(const std::uint8_t* input, int input_step, NppiSize size, NppiPoint offset,
                  std::int16_t* output, int output_step, NppiSize region, int mask, int border,
                  NppStreamContext context);
using Convolution = int(const std::uint8_t* input, int input_step, NppiSize size, NppiPoint offset,
                        std::uint8_t* output, int output_step, NppiSize region,
                        const std::int32_t* weights, NppiSize mask, NppiPoint anchor, int divisor,
                        int border, NppStreamContext context);
using Threshold = int(const std::uint8_t* input, int input_step, NppiSize size, NppiPoint offset,
                      std::uint8_t* output, int output_step, NppiSize region, NppiSize mask,
                      float delta, std::uint8_t above, std::uint8_t below, int border,
                      NppStreamContext context);

struct FilterNpp {
  Box* box = nullptr;
  Gaussian* gaussian = nullptr;
  Sobel* sobel = nullptr;
  Convolution* convolution = nullptr;
  Threshold* threshold = nullptr;
  std::string why_none;

  FilterNpp() {
    NppLibrary library("libnppif");
    library.find("nppiFilterBoxBorder_8u_C1R_Ctx", box);
    library.find("nppiFilterGaussAdvancedBorder_8u_C1R_Ctx", gaussian);
    library.find("nppiFilterSobelVertBorder_8u16s_C1R_Ctx", sobel);
    library.find("nppiFilterBorder_8u_C1R_Ctx", convolution);
    library.find("nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx", threshold);
    why_none = library.why_none();
  }
};

const FilterNpp& filter_npp() {
  static const FilterNpp loaded;
  return loaded;
}

// The weights of a mask, in device memory; none for filters that take no mask.
struct Weights {
  Buffer<float> row;
  Buffer<std::int32_t> all;
};

Weights weights_for(BenchFilter filter, const Mask<std::int32_t>& mask) {
  Weights weights;
  if (filter == BenchFilter::gaussian) {
    std::vector<float> row;
    for (const std::int32_t weight : mask.row) row.push_back(static_cast<float>(weight) / 256);
    weights.row = Buffer<float>(row.size());
    FACESAT_CUDA(
        cudaMemcpy(weights.row.data(), row.data(), weights.row.bytes(), cudaMemcpyHostToDevice));
  }
  if (filter == BenchFilter::convolution) {
    weights.all = Buffer<std::int32_t>(mask.weights.size());
    FACESAT_CUDA(cudaMemcpy(weights.all.data(), mask.weights.data(), weights.all.bytes(),
                            cudaMemcpyHostToDevice));
  }
  return weights;
}

void call(BenchFilter filter, Radius radius, int divisor, const Weights& weights,
          const FilterTask& task, StreamHandle stream) {
  const auto* const input = static_cast<const std::uint8_t*>(task.input);
  const auto input_step = static_cast<int>(task.input_pitch);
  const auto output_step =
      static_cast<int>(task.output_pitch) * static_cast<int>(info_of(task.type).output_bytes);
  auto* const output = static_cast<std::uint8_t*>(task.output);
  const NppiSize size{task.size.width, task.size.height};
  const NppiSize mask{radius.columns(), radius.rows()};
  const NppiPoint anchor{radius.x, radius.y};
  const NppStreamContext context = npp_context(stream);
  switch (filter) {
    case BenchFilter::box:
      return check_npp(filter_npp().box(input, input_step, size, {0, 0}, output, output_step, size,
                                        mask, anchor, replicate, context),
                       "nppiFilterBoxBorder");
    case BenchFilter::gaussian:
      return check_npp(
          filter_npp().gaussian(input, input_step, size, {0, 0}, output, output_step, size,
                                radius.columns(), weights.row.data(), replicate, context),
          "nppiFilterGaussAdvancedBorder");
    case BenchFilter::sobel:
      return check_npp(
          filter_npp().sobel(input, input_step, size, {0, 0},
                             static_cast<std::int16_t*>(task.output), output_step, size,
                             radius.x == 1 ? mask_3x3 : mask_5x5, replicate, context),
          "nppiFilterSobelVertBorder");
    case BenchFilter::convolution:
      return check_npp(
          filter_npp().convolution(input, input_step, size, {0, 0}, output, output_step, size,
                                   weights.all.data(), mask, anchor, divisor, replicate, context),
          "nppiFilterBorder");
    case BenchFilter::adaptive_threshold:
      return check_npp(filter_npp().threshold(input, input_step, size, {0, 0}, output, output_step,
                                              size, mask, 5, 255, 0, replicate, context),
                       "nppiFilterThresholdAdaptiveBoxBorder");
    case BenchFilter::sobel_y:
    case BenchFilter::stencil:
    case BenchFilter::convolution_rows:
    case BenchFilter::variance:
    case BenchFilter::skewness:
      return;  // not called for them
  }
}

}  // namespace

NppFilter npp_filter(BenchFilter filter, const Mask<std::int32_t>& mask) {
  if (!is_measured_of_npp(filter)) return {"NPP is not measured for it"};
  if (filter == BenchFilter::sobel && mask.radius.x > 2)
    return {"NPP has Sobel's derivatives of radius 1 and 2"};
  if (!filter_npp().why_none.empty()) return {filter_npp().why_none};
  const auto weights = std::make_shared<Weights>(weights_for(filter, mask));
  return {"", [=, radius = mask.radius, divisor = mask.divisor](const FilterTask& task,
                                                                StreamHandle stream) {
            call(filter, radius, divisor, *weights, task, stream);
          }};
}

}  // namespace facesat::gpu
