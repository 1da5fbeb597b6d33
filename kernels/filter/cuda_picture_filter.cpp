#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "filters/mask.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/filter/algorithm.hpp"
#include "kernels/filter/statistics.hpp"
#include "kernels/filter/uploaded_mask.hpp"
#include "kernels/tasks/problems.hpp"

namespace facesat::gpu {
namespace {

constexpr std::string_view from_integral = "integral", direct = "direct",
                           from_three_boxes = "three_boxes";

// Windows beyond this radius are not read whole: that would take a large part of a second.
constexpr int greatest_direct_radius = 50;

bool is_convolution(FilterKind kind) {
  return kind == FilterKind::box || kind == FilterKind::gaussian || kind == FilterKind::sobel;
}

// Of Sobel's derivatives, that along x.
Mask<std::int32_t> mask_of(FilterKind kind, int radius) {
  switch (kind) {
    case FilterKind::gaussian:
      return gaussian_mask<std::int32_t>(radius);
    case FilterKind::sobel:
      return sobel_mask<std::int32_t>(radius, true);
    default:
      return box_mask<std::int32_t>({radius, radius});
  }
}

FilterType type_of(FilterKind kind) {
  return kind == FilterKind::sobel ? FilterType::u8_s32 : FilterType::u8_u8;
}

class CudaPictureFilter : public PictureFilter {
 public:
  explicit CudaPictureFilter(int device) : device_(device) {
    FACESAT_CUDA(cudaSetDevice(device));
    stream_ = make_stream();
    for (Event& event : events_) event = make_event();
  }

  std::vector<std::string> algorithms(FilterKind kind, int radius) const override {
    std::vector<std::string> ids;
    if (kind == FilterKind::halftone) {
      for (const HalftoneSolver& solver : halftone_solvers()) ids.emplace_back(solver.id);
      return ids;
    }
    const bool is_direct = radius <= greatest_direct_radius;
    if (!is_convolution(kind)) {
      ids.emplace_back(from_integral);
      if (is_direct) ids.emplace_back(direct);
      return ids;
    }
    const Mask<std::int32_t> mask = mask_of(kind, radius);
    const FilterTask task{.type = type_of(kind), .size = {1, 1}, .mask = described(mask)};
    for (const FilterAlgorithm* algorithm : filter_algorithms())
      if (!algorithm->is_1d && !algorithm->is_valid_part &&
          (is_direct || algorithm->takes != MaskKind::any) && why_not(*algorithm, task).empty())
        ids.emplace_back(algorithm->id);
    if (kind == FilterKind::gaussian && radius > 0) ids.emplace_back(from_three_boxes);
    return ids;
  }

  void apply(View<const std::uint8_t> gray, const PictureFilterSettings& settings,
             View<std::uint8_t> result, std::vector<FilterTime>& times) override {
    const std::string algorithm = chosen(settings);
    FACESAT_CUDA(cudaSetDevice(device_));
    prepare(gray.size, settings, algorithm);
    record(0);
    const View<std::uint8_t> input = gray_.view(gray.size), output = result_.view(gray.size);
    copy(gray.data, gray.pitch, input.data, input.pitch, gray.size, cudaMemcpyHostToDevice);
    record(1);
    enqueue(settings, algorithm, input, output);
    record(2);
    copy(output.data, output.pitch, result.data, result.pitch, gray.size, cudaMemcpyDeviceToHost);
    record(3);
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    times = {{"upload", between(0)}, {algorithm, between(1)}, {"download", between(2)}};
  }

 private:
  std::string chosen(const PictureFilterSettings& settings) const {
    const auto name = filter_names[static_cast<std::size_t>(settings.kind)];
    check_filter_radius(settings.kind, settings.radius);
    const std::vector<std::string> known = algorithms(settings.kind, settings.radius);
    if (settings.algorithm.empty()) return known.front();
    if (std::find(known.begin(), known.end(), settings.algorithm) == known.end())
      throw ArgumentError(fmt::format("{} of radius {} has no algorithm {}", name, settings.radius,
                                      settings.algorithm));
    return settings.algorithm;
  }

  // Makes room, and zeros the workspace, when anything has changed that they depend on.
  void prepare(Size size, const PictureFilterSettings& settings, const std::string& algorithm) {
    PictureFilterSettings now = settings;
    now.algorithm = algorithm;
    if (size == size_ && prepared_ == now) return;
    prepared_.reset();
    size_ = size;
    gray_.resize(size, DeviceImage<std::uint8_t>::Border::none, stream_.get());
    gray_.clear(stream_.get());
    result_.resize(size, DeviceImage<std::uint8_t>::Border::none, stream_.get());
    mask_.reset();
    other_mask_.reset();
    if (is_convolution(now.kind)) {
      mask_.emplace(mask_of(now.kind, now.radius), stream_.get());
      if (now.kind == FilterKind::sobel) {
        other_mask_.emplace(sobel_mask<std::int32_t>(now.radius, false), stream_.get());
        dx_.resize(size, DeviceImage<std::int32_t>::Border::none, stream_.get());
        dy_.resize(size, DeviceImage<std::int32_t>::Border::none, stream_.get());
      }
      FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));  // the weights have been uploaded
    }
    reserve(workspace_, workspace_bytes(now));
    if (workspace_.size() > 0)
      FACESAT_CUDA(cudaMemsetAsync(workspace_.data(), 0, workspace_.bytes(), stream_.get()));
    prepared_ = now;
  }

  std::size_t workspace_bytes(const PictureFilterSettings& settings) const {
    const View<std::uint8_t> input = gray_.view(size_), output = result_.view(size_);
    if (settings.kind == FilterKind::halftone)
      return find_by_id(halftone_solvers(), settings.algorithm)
          ->workspace_bytes(halftone_task(input, output));
    if (settings.algorithm == from_three_boxes)
      return three_boxes_workspace_bytes(statistic_task(settings, input, output));
    if (is_convolution(settings.kind))
      return find_filter(settings.algorithm)
          ->workspace_bytes(filter_task(settings, *mask_, input, output.data, output.pitch));
    return settings.algorithm == direct
               ? 0
               : statistic_workspace_bytes(statistic_task(settings, input, output));
  }

  void enqueue(const PictureFilterSettings& settings, const std::string& algorithm,
               View<const std::uint8_t> input, View<std::uint8_t> output) {
    if (settings.kind == FilterKind::halftone)
      return find_by_id(halftone_solvers(), algorithm)
          ->enqueue(halftone_task(input, output), workspace_.data(), stream_.get());
    const StatisticTask statistic = statistic_task(settings, input, output);
    if (algorithm == from_three_boxes)
      return enqueue_three_boxes(statistic, three_boxes(sigma_of(settings.radius)), output,
                                 workspace_.data(), stream_.get());
    if (!is_convolution(settings.kind))
      return algorithm == direct ? enqueue_direct_statistic(statistic, stream_.get())
                                 : enqueue_statistic(statistic, workspace_.data(), stream_.get());
    const FilterAlgorithm& filter = *find_filter(algorithm);
    const auto convolve = [&](const UploadedMask<std::int32_t>& mask, auto result) {
      filter.enqueue(filter_task(settings, mask, input, result.data, result.pitch),
                     workspace_.data(), stream_.get());
    };
    if (settings.kind != FilterKind::sobel) return convolve(*mask_, output);
    const View<std::int32_t> dx = dx_.view(size_), dy = dy_.view(size_);
    convolve(*mask_, dx);
    convolve(*other_mask_, dy);
    enqueue_gradient(dx, dy, settings.radius, output, stream_.get());
  }

  static HalftoneTask halftone_task(View<const std::uint8_t> input, View<std::uint8_t> output) {
    return {HalftoneRule::integer, input.size, input.data, input.pitch, output.data, output.pitch};
  }
  static StatisticTask statistic_task(const PictureFilterSettings& settings,
                                      View<const std::uint8_t> input, View<std::uint8_t> output) {
    return {.statistic = settings.kind == FilterKind::deviation  ? Statistic::deviation
                         : settings.kind == FilterKind::skewness ? Statistic::skewness_pixel
                                                                 : Statistic::threshold,
            .picture = input,
            .output = output.data,
            .output_pitch = output.pitch,
            .radius = {settings.radius, settings.radius},
            .border = settings.border,
            .offset = settings.offset};
  }
  FilterTask filter_task(const PictureFilterSettings& settings,
                         const UploadedMask<std::int32_t>& mask, View<const std::uint8_t> input,
                         void* output, std::ptrdiff_t output_pitch) const {
    return {.type = type_of(settings.kind),
            .size = input.size,
            .input = input.data,
            .input_pitch = input.pitch,
            .output = output,
            .output_pitch = output_pitch,
            .border = settings.border,
            .mask = mask.mask()};
  }

  void copy(const std::uint8_t* from, std::ptrdiff_t from_pitch, std::uint8_t* to,
            std::ptrdiff_t to_pitch, Size size, cudaMemcpyKind kind) {
    FACESAT_CUDA(cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_pitch), from,
                                   static_cast<std::size_t>(from_pitch),
                                   static_cast<std::size_t>(size.width),
                                   static_cast<std::size_t>(size.height), kind, stream_.get()));
  }
  void record(std::size_t i) { FACESAT_CUDA(cudaEventRecord(events_[i].get(), stream_.get())); }
  double between(std::size_t i) const {
    float ms = 0;
    FACESAT_CUDA(cudaEventElapsedTime(&ms, events_[i].get(), events_[i + 1].get()));
    return 1000.0 * static_cast<double>(ms);
  }

  int device_;
  Stream stream_;
  std::array<Event, 4> events_;
  Size size_;
  std::optional<PictureFilterSettings> prepared_;  // what the workspace is ready for
  DeviceImage<std::uint8_t> gray_, result_;
  DeviceImage<std::int32_t> dx_, dy_;
  std::optional<UploadedMask<std::int32_t>> mask_, other_mask_;
  Buffer<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<PictureFilter> make_cuda_picture_filter(int device) {
  return std::make_unique<CudaPictureFilter>(device);
}

}  // namespace facesat::gpu
