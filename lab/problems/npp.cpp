// NPP, NVIDIA's closed library of image primitives: its integral image and its filters.
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "facesat/types.hpp"
#include "kernels/device/cuda.hpp"
#include "lab/problems/filter.hpp"
#include "lab/problems/nvidia_library.hpp"
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
    NvidiaLibrary library("NPP", "libnppist");
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
template <class T>
using Box = int(const T* input, int input_step, NppiSize size, NppiPoint offset, T* output,
                int output_step, NppiSize region, NppiSize mask, NppiPoint anchor, int border,
                NppStreamContext context);
template <class T>
using Gaussian = int(const T* input, int input_step, NppiSize size, NppiPoint offset, T* output,
                     int output_step, NppiSize region, int taps, const float* weights, int border,
                     NppStreamContext context);
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

// Of real numbers.
using RealSobel = int(const float* input, int input_step, NppiSize size, NppiPoint offset,
                      float* output, int output_step, NppiSize region, int border,
                      NppStreamContext context);
using RealConvolution = int(const float* input, int input_step, NppiSize size, NppiPoint offset,
                            float* output, int output_step, NppiSize region, const float* weights,
                            NppiSize mask, NppiPoint anchor, int border, NppStreamContext context);
using RealRows = int(const float* input, int input_step, NppiSize size, NppiPoint offset,
                     float* output, int output_step, NppiSize region, const float* weights,
                     int taps, int anchor, int border, NppStreamContext context);

struct FilterNpp {
  Box<std::uint8_t>* box = nullptr;
  Gaussian<std::uint8_t>* gaussian = nullptr;
  Sobel* sobel = nullptr;
  Convolution* convolution = nullptr;
  Threshold* threshold = nullptr;
  Box<float>* real_box = nullptr;
  Gaussian<float>* real_gaussian = nullptr;
  RealSobel* real_sobel = nullptr;
  RealConvolution* real_convolution = nullptr;
  RealRows* real_rows = nullptr;
  std::string why_none;

  FilterNpp() {
    NvidiaLibrary library("NPP", "libnppif");
    library.find("nppiFilterBoxBorder_8u_C1R_Ctx", box);
    library.find("nppiFilterGaussAdvancedBorder_8u_C1R_Ctx", gaussian);
    library.find("nppiFilterSobelVertBorder_8u16s_C1R_Ctx", sobel);
    library.find("nppiFilterBorder_8u_C1R_Ctx", convolution);
    library.find("nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx", threshold);
    library.find("nppiFilterBoxBorder_32f_C1R_Ctx", real_box);
    library.find("nppiFilterGaussAdvancedBorder_32f_C1R_Ctx", real_gaussian);
    library.find("nppiFilterSobelVertBorder_32f_C1R_Ctx", real_sobel);
    library.find("nppiFilterBorder_32f_C1R_Ctx", real_convolution);
    library.find("nppiFilterRowBorder_32f_C1R_Ctx", real_rows);
    why_none = library.why_none();
  }
};

const FilterNpp& filter_npp() {
  static const FilterNpp loaded;
  return loaded;
}

// The weights of a mask, in device memory; none for filters that take no mask. NPP's Gaussian has
// real weights, and its filters of real numbers have no divisor.
struct Weights {
  Buffer<float> real{};
  Buffer<std::int32_t> whole{};
};

template <class T>
Buffer<T> uploaded(const std::vector<std::int32_t>& weights, int divisor) {
  std::vector<T> divided;
  for (const std::int32_t weight : weights) divided.push_back(static_cast<T>(weight) / divisor);
  Buffer<T> memory(divided.size());
  FACESAT_CUDA(cudaMemcpy(memory.data(), divided.data(), memory.bytes(), cudaMemcpyHostToDevice));
  return memory;
}

Weights weights_for(const FilterCase& one, const Mask<std::int32_t>& mask) {
  if (one.filter == BenchFilter::gaussian) return {.real = uploaded<float>(mask.row, 256)};
  if (one.filter == BenchFilter::convolution_rows) return {.real = uploaded<float>(mask.row, 1)};
  if (one.filter != BenchFilter::convolution) return {};
  if (one.type == PictureType::u8) return {.whole = uploaded<std::int32_t>(mask.weights, 1)};
  return {.real = uploaded<float>(mask.weights, mask.divisor)};
}

// Calls a function, whose last two arguments are the border and the context. `rest`: those after
// the pictures.
template <class In, class Out, class Function, class... Rest>
void call(const char* name, Function* function, const FilterTask& task, StreamHandle stream,
          Rest... rest) {
  const auto [type, type_name, input_bytes, output_bytes] = info_of(task.type);
  const NppiSize size{task.size.width, task.size.height};
  check_npp(function(static_cast<const In*>(task.input),
                     static_cast<int>(task.input_pitch) * static_cast<int>(input_bytes), size,
                     {0, 0}, static_cast<Out*>(task.output),
                     static_cast<int>(task.output_pitch) * static_cast<int>(output_bytes), size,
                     rest..., replicate, npp_context(stream)),
            name);
}

void filter_bytes(BenchFilter filter, Radius radius, int divisor, const Weights& weights,
                  const FilterTask& task, StreamHandle stream) {
  using Byte = std::uint8_t;
  const FilterNpp& npp = filter_npp();
  const NppiSize mask{radius.columns(), radius.rows()};
  const NppiPoint anchor{radius.x, radius.y};
  if (filter == BenchFilter::box)
    call<Byte, Byte>("nppiFilterBoxBorder", npp.box, task, stream, mask, anchor);
  if (filter == BenchFilter::gaussian)
    call<Byte, Byte>("nppiFilterGaussAdvancedBorder", npp.gaussian, task, stream, mask.width,
                     weights.real.data());
  if (filter == BenchFilter::sobel)
    call<Byte, std::int16_t>("nppiFilterSobelVertBorder", npp.sobel, task, stream,
                             radius.x == 1 ? mask_3x3 : mask_5x5);
  if (filter == BenchFilter::convolution)
    call<Byte, Byte>("nppiFilterBorder", npp.convolution, task, stream, weights.whole.data(), mask,
                     anchor, divisor);
  if (filter == BenchFilter::adaptive_threshold)
    call<Byte, Byte>("nppiFilterThresholdAdaptiveBoxBorder", npp.threshold, task, stream, mask,
                     5.0F, Byte{255}, Byte{0});
}

void filter_reals(BenchFilter filter, Radius radius, const Weights& weights, const FilterTask& task,
                  StreamHandle stream) {
  const FilterNpp& npp = filter_npp();
  const NppiSize mask{radius.columns(), radius.rows()};
  const NppiPoint anchor{radius.x, radius.y};
  if (filter == BenchFilter::box)
    call<float, float>("nppiFilterBoxBorder", npp.real_box, task, stream, mask, anchor);
  if (filter == BenchFilter::gaussian)
    call<float, float>("nppiFilterGaussAdvancedBorder", npp.real_gaussian, task, stream, mask.width,
                       weights.real.data());
  if (filter == BenchFilter::sobel)
    call<float, float>("nppiFilterSobelVertBorder", npp.real_sobel, task, stream);
  if (filter == BenchFilter::convolution)
    call<float, float>("nppiFilterBorder", npp.real_convolution, task, stream, weights.real.data(),
                       mask, anchor);
  if (filter == BenchFilter::convolution_rows)
    call<float, float>("nppiFilterRowBorder", npp.real_rows, task, stream, weights.real.data(),
                       mask.width, anchor.x);
}

}  // namespace

NppFilter npp_filter(const FilterCase& one) {
  const bool is_real = one.type == PictureType::f32;
  if (!is_measured_of_npp(one.filter, one.type)) return {"NPP is not measured for it"};
  if (one.filter == BenchFilter::sobel && one.radius > (is_real ? 1 : 2))
    return {is_real ? "NPP has Sobel's derivatives of 32f of radius 1"
                    : "NPP has Sobel's derivatives of radius 1 and 2"};
  if (!filter_npp().why_none.empty()) return {filter_npp().why_none};
  const Mask<std::int32_t> mask = one.mask<std::int32_t>();
  const auto weights = std::make_shared<Weights>(weights_for(one, mask));
  return {"", [=, filter = one.filter, radius = mask.radius, divisor = mask.divisor](
                  const FilterTask& task, StreamHandle stream) {
            if (is_real)
              filter_reals(filter, radius, *weights, task, stream);
            else
              filter_bytes(filter, radius, divisor, *weights, task, stream);
          }};
}

}  // namespace facesat::gpu
