#include <vector>

#include "kernels/device/device_image.hpp"
#include "lab/problems/filter.hpp"
#include "lab/problems/npp.hpp"

namespace facesat::gpu {
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

struct Npp {
  Box* box = nullptr;
  Gaussian* gaussian = nullptr;
  Sobel* sobel = nullptr;
  Convolution* convolution = nullptr;
  Threshold* threshold = nullptr;
  std::string why_none;

  Npp() {
    const NppLibrary library("libnppif");
    library.find("nppiFilterBoxBorder_8u_C1R_Ctx", box);
    library.find("nppiFilterGaussAdvancedBorder_8u_C1R_Ctx", gaussian);
    library.find("nppiFilterSobelVertBorder_8u16s_C1R_Ctx", sobel);
    library.find("nppiFilterBorder_8u_C1R_Ctx", convolution);
    library.find("nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx", threshold);
    why_none = library.why_none();
  }
};

const Npp& npp() {
  static const Npp loaded;
  return loaded;
}

}  // namespace

struct NppFilter::Weights {
  Buffer<float> row;
  Buffer<std::int32_t> all;
};

NppFilter::NppFilter(BenchFilter filter, const Mask<std::int32_t>& mask)
    : filter_(filter),
      radius_(mask.radius),
      divisor_(mask.divisor),
      weights_(std::make_unique<Weights>()) {
  const bool is_square = radius_.x == radius_.y;
  if (filter == BenchFilter::stencil || filter == BenchFilter::variance || !is_square)
    why_not_ = "NPP has no such filter";
  else if (filter == BenchFilter::sobel && radius_.x > 2)
    why_not_ = "NPP has Sobel's derivatives of radius 1 and 2";
  else
    why_not_ = npp().why_none;
  if (!why_not_.empty()) return;
  if (filter == BenchFilter::gaussian) {
    std::vector<float> row;
    for (const std::int32_t weight : mask.row) row.push_back(static_cast<float>(weight) / 256);
    weights_->row = Buffer<float>(row.size());
    FACESAT_CUDA(cudaMemcpy(weights_->row.data(), row.data(), weights_->row.bytes(),
                            cudaMemcpyHostToDevice));
  }
  if (filter == BenchFilter::convolution) {
    weights_->all = Buffer<std::int32_t>(mask.weights.size());
    FACESAT_CUDA(cudaMemcpy(weights_->all.data(), mask.weights.data(), weights_->all.bytes(),
                            cudaMemcpyHostToDevice));
  }
}

NppFilter::~NppFilter() = default;

void NppFilter::enqueue(const FilterTask& task, StreamHandle stream) const {
  const auto* const input = static_cast<const std::uint8_t*>(task.input);
  const auto input_step = static_cast<int>(task.input_pitch);
  const auto output_step =
      static_cast<int>(task.output_pitch) * static_cast<int>(info_of(task.type).output_bytes);
  auto* const output = static_cast<std::uint8_t*>(task.output);
  const NppiSize size{task.size.width, task.size.height};
  const NppiSize mask{radius_.columns(), radius_.rows()};
  const NppiPoint anchor{radius_.x, radius_.y};
  const NppStreamContext context = npp_context(stream);
  switch (filter_) {
    case BenchFilter::box:
      return check_npp(npp().box(input, input_step, size, {0, 0}, output, output_step, size, mask,
                                 anchor, replicate, context),
                       "nppiFilterBoxBorder");
    case BenchFilter::gaussian:
      return check_npp(npp().gaussian(input, input_step, size, {0, 0}, output, output_step, size,
                                      radius_.columns(), weights_->row.data(), replicate, context),
                       "nppiFilterGaussAdvancedBorder");
    case BenchFilter::sobel:
      return check_npp(
          npp().sobel(input, input_step, size, {0, 0}, static_cast<std::int16_t*>(task.output),
                      output_step, size, radius_.x == 1 ? mask_3x3 : mask_5x5, replicate, context),
          "nppiFilterSobelVertBorder");
    case BenchFilter::convolution:
      return check_npp(
          npp().convolution(input, input_step, size, {0, 0}, output, output_step, size,
                            weights_->all.data(), mask, anchor, divisor_, replicate, context),
          "nppiFilterBorder");
    case BenchFilter::adaptive_threshold:
      return check_npp(npp().threshold(input, input_step, size, {0, 0}, output, output_step, size,
                                       mask, 5, 255, 0, replicate, context),
                       "nppiFilterThresholdAdaptiveBoxBorder");
    case BenchFilter::stencil:
    case BenchFilter::variance:
      return;
  }
}

}  // namespace facesat::gpu
