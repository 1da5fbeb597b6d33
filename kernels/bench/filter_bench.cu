#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "core/cpu/filter.hpp"
#include "kernels/bench/filter_bench.hpp"
#include "kernels/bench/filter_peer.hpp"
#include "kernels/bench/sat_floor.hpp"
#include "kernels/bench/sat_peer.hpp"
#include "kernels/bench/stream_wait.cuh"
#include "kernels/device/device_image.hpp"
#include "kernels/filter/pass.cuh"
#include "kernels/filter/statistics.hpp"
#include "kernels/filter/uploaded_mask.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t rotated_bytes = 240 << 20;  // of all copies; far more than the L2 cache holds
constexpr int block_width = 32, block_height = 8;
constexpr double most_products = 0x1p37;  // of a run; more would take seconds
constexpr const char* too_much = "it would take too long";

// Reads and writes 16 bytes at a time.
__global__ void copy_kernel(View<const uint4> from, View<uint4> to) {
  const auto [x, y] = place_of_thread();
  if (x < to.size.width && y < to.size.height) to.row(y)[x] = from.row(y)[x];
}

// Counts the elements of a part of the result that differ.
template <class T>
__global__ void count_wrong_kernel(View<const T> result, View<const T> expected, unsigned* wrong) {
  const auto [x, y] = place_of_thread();
  if (x < result.size.width && y < result.size.height && result.row(y)[x] != expected.row(y)[x])
    atomicAdd(wrong, 1u);
}

template <class Out>
constexpr FilterType filter_type = sizeof(Out) == 1 ? FilterType::u8_u8 : FilterType::u8_s32;

// What the CPU computes.
template <class Out>
Image<Out> expected_result(const FilterBenchTask& task, const Mask<std::int32_t>& mask) {
  Image<Out> result(task.picture.size);
  const View<Out> to = result.view();
  cpu::IntegralImages tables;
  const auto build = [&](cpu::Powers powers) -> const cpu::IntegralImages& {
    tables.build(task.picture, powers, mask.radius);
    return tables;
  };
  if constexpr (std::is_same_v<Out, float>) {
    cpu::variance(build(cpu::Powers::squares), mask.radius, task.border, to);
  } else if (task.filter == BenchFilter::convolution) {
    cpu::convolve_direct(task.picture, mask, task.border, to);
  } else if constexpr (sizeof(Out) > 1) {
    cpu::convolve_separable(task.picture, mask, task.border, to);
  } else if (task.filter == BenchFilter::box) {
    cpu::box_mean(build(cpu::Powers::pixels), mask.radius, task.border, to);
  } else if (task.filter == BenchFilter::adaptive_threshold) {
    cpu::adaptive_threshold(build(cpu::Powers::pixels), task.picture, mask.radius, task.border,
                            bench_offset, to);
  } else {
    cpu::convolve_separable(task.picture, mask, task.border, to);
  }
  return result;
}

template <class Out>
class Bench {
 public:
  explicit Bench(const FilterBenchTask& task)
      : task_(task),
        size_(task.picture.size),
        stream_(make_stream()),
        mask_(bench_mask(task.filter, task.radius), stream_.get()),
        wrong_(1) {
    bytes_ = static_cast<double>(size_.area()) * (1 + sizeof(Out));
    const auto copies = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::ceil(static_cast<double>(rotated_bytes) / bytes_)), 2, 64);
    for (std::size_t i = 0; i < copies; ++i) {
      copies_.push_back(std::make_unique<Copy>());
      copies_.back()->input.resize(size_, DeviceImage<std::uint8_t>::Border::none, stream_.get());
      copies_.back()->output.resize(size_, DeviceImage<Out>::Border::none, stream_.get());
      put(task.picture, copies_.back()->input.view());
    }
    // Of a convolution with too many weights, nothing is measured.
    if (task.filter == BenchFilter::convolution && is_too_much()) return;
    put(std::as_const(expected(mask_.on_host())).view(), expected_view_);
  }

  FilterBenchRow floor() {
    return measure({.id = "floor", .launches = 1}, [&](const Copy& copy) {
      const View<std::uint8_t> in = copy.input.view();
      const View<Out> out = copy.output.view();
      if constexpr (sizeof(Out) == 1) {
        const Size vectors{divide_up(size_.width, 16), size_.height};
        copy_kernel<<<grid_of(vectors, block_width, block_height), dim3(block_width, block_height),
                      0, stream_.get()>>>(
            {reinterpret_cast<const uint4*>(in.data), vectors, in.pitch / 16},
            {reinterpret_cast<uint4*>(out.data), vectors, out.pitch / 16});
      } else {
        const SatTask task{.type = SatType::u8_u32,
                           .size = size_,
                           .input = in.data,
                           .input_pitch = in.pitch,
                           .sum = out.data,
                           .sum_pitch = out.pitch};
        enqueue_floor(task, stream_.get());
      }
    });
  }

  // Nothing if the id is not known.
  std::optional<FilterBenchRow> row(const std::string& id) {
    if (id == "peer_npp") return npp();
    if (id == "integral_statistics" || id == "direct_statistics" || id == "three_boxes")
      return statistics(id);
    if constexpr (!std::is_same_v<Out, float>)
      if (const FilterAlgorithm* const algorithm = find_filter(id)) return filter(*algorithm);
    return std::nullopt;
  }

 private:
  struct Copy {
    DeviceImage<std::uint8_t> input;
    DeviceImage<Out> output;
  };

  // Whether a filter that reads whole windows would take too long.
  bool is_too_much() const {
    return static_cast<double>(mask_.on_host().radius.area()) * static_cast<double>(size_.area()) >
           most_products;
  }

  FilterTask task_of(const Copy& copy) const {
    return {.type = filter_type<Out>,
            .size = size_,
            .input = copy.input.view().data,
            .input_pitch = copy.input.view().pitch,
            .output = copy.output.view().data,
            .output_pitch = copy.output.view().pitch,
            .border = task_.border,
            .mask = mask_.mask()};
  }

  FilterBenchRow filter(const FilterAlgorithm& algorithm) {
    const FilterTask first = task_of(*copies_.front());
    const std::string id(algorithm.id);
    std::string why = why_not(algorithm, first);
    if (why.empty() && algorithm.takes == MaskKind::any && is_too_much()) why = too_much;
    if (!why.empty()) return {.id = id, .failure = why, .is_absent = true};
    const Buffer<std::byte> workspace = zeroed(algorithm.workspace_bytes(first));
    const Radius valid = algorithm.is_valid_part ? mask_.on_host().radius : Radius{};
    return checked({.id = id, .reads = algorithm.reads(first), .launches = algorithm.launches},
                   valid, [&](const Copy& copy) {
                     algorithm.enqueue(task_of(copy), workspace.data(), stream_.get());
                   });
  }

  FilterBenchRow statistics(const std::string& id) {
    const auto statistic_of = [&](const Copy& copy) {
      return StatisticTask{
          .statistic = std::is_same_v<Out, float> ? Statistic::variance : Statistic::threshold,
          .picture = copy.input.view(),
          .output = copy.output.view().data,
          .output_pitch = copy.output.view().pitch,
          .radius = mask_.on_host().radius,
          .border = task_.border,
          .offset = bench_offset};
    };
    const StatisticTask first = statistic_of(*copies_.front());
    if (id == "direct_statistics" && is_too_much())
      return {.id = id, .failure = too_much, .is_absent = true};
    if (id == "direct_statistics")
      return checked(
          {.id = id, .reads = static_cast<double>(first.radius.area()), .launches = 1}, {},
          [&](const Copy& copy) { enqueue_direct_statistic(statistic_of(copy), stream_.get()); });
    if constexpr (sizeof(Out) == 1)
      if (id == "three_boxes") return approximation(statistic_of);
    const Buffer<std::byte> workspace = zeroed(statistic_workspace_bytes(first));
    return checked({.id = id, .launches = 2}, {}, [&](const Copy& copy) {
      enqueue_statistic(statistic_of(copy), workspace.data(), stream_.get());
    });
  }

  template <class StatisticOf>
  FilterBenchRow approximation(StatisticOf statistic_of) {
    if (task_.radius < 1)
      return {.id = "three_boxes", .failure = "radii from 1 on", .is_absent = true};
    const double sigma = sigma_of(task_.radius);
    Image<Out> own(size_);
    cpu::IntegralImages tables;
    cpu::three_box_means(task_.picture, sigma, task_.border, own.view(), tables);
    const Buffer<std::byte> workspace =
        zeroed(three_boxes_workspace_bytes(statistic_of(*copies_.front())));
    put(std::as_const(own).view(), expected_view_);
    FilterBenchRow row = checked({.id = "three_boxes", .launches = 6}, {}, [&](const Copy& copy) {
      enqueue_three_boxes(statistic_of(copy), three_boxes(sigma), copy.output.view(),
                          workspace.data(), stream_.get());
    });
    put(std::as_const(expected_).view(), expected_view_);
    return row;
  }

  FilterBenchRow npp() {
    const NppFilter filter(task_.filter, mask_.on_host());
    if (!filter.why_not().empty())
      return {.id = "peer_npp", .failure = filter.why_not(), .is_absent = true};
    return measure({.id = "peer_npp", .launches = 0},
                   [&](const Copy& copy) { filter.enqueue(task_of(copy), stream_.get()); });
  }

  // Runs take the copies in turn.
  template <class Enqueue>
  FilterBenchRow measure(FilterBenchRow row, Enqueue enqueue) {
    const Event begin = make_event(), end = make_event();
    const int warm_up = static_cast<int>(std::max<std::size_t>(copies_.size(), 3));
    for (int i = 0; i < warm_up + task_.runs; ++i) {
      enqueue_wait(std::max(row.launches, 4), stream_.get());
      FACESAT_CUDA(cudaEventRecord(begin.get(), stream_.get()));
      enqueue(*copies_[static_cast<std::size_t>(i) % copies_.size()]);
      FACESAT_CUDA(cudaEventRecord(end.get(), stream_.get()));
      FACESAT_CUDA(cudaEventSynchronize(end.get()));
      float ms = 0;
      FACESAT_CUDA(cudaEventElapsedTime(&ms, begin.get(), end.get()));
      if (i >= warm_up) row.us.push_back(1000.0 * static_cast<double>(ms));
    }
    std::sort(row.us.begin(), row.us.end());
    row.bytes = bytes_;
    return row;
  }

  // The same, with a check of all results, whose outermost `valid` pixels are not looked at.
  template <class Enqueue>
  FilterBenchRow checked(FilterBenchRow row, Radius valid, Enqueue enqueue) {
    for (const auto& copy : copies_) {
      const View<Out> all = copy->output.view();
      FACESAT_CUDA(cudaMemset2DAsync(all.data, static_cast<std::size_t>(all.pitch) * sizeof(Out),
                                     0xEE, static_cast<std::size_t>(size_.width) * sizeof(Out),
                                     static_cast<std::size_t>(size_.height), stream_.get()));
    }
    row = measure(std::move(row), enqueue);
    row.is_compared = true;
    row.checked = is_right(valid);
    return row;
  }

  bool is_right(Radius valid) {
    const Rect part{valid.x, valid.y, size_.width - 2 * valid.x, size_.height - 2 * valid.y};
    if (part.width < 1 || part.height < 1) return true;
    unsigned wrong = 0;
    FACESAT_CUDA(cudaMemsetAsync(wrong_.data(), 0, sizeof wrong, stream_.get()));
    for (const auto& copy : copies_)
      count_wrong_kernel<Out><<<grid_of({part.width, part.height}, block_width, block_height),
                                dim3(block_width, block_height), 0, stream_.get()>>>(
          copy->output.view().sub(part), expected_view_.view().sub(part), wrong_.data());
    check(cudaGetLastError(), "launch of count_wrong_kernel");
    FACESAT_CUDA(cudaMemcpyAsync(&wrong, wrong_.data(), sizeof wrong, cudaMemcpyDeviceToHost,
                                 stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return wrong == 0;
  }

  const Image<Out>& expected(const Mask<std::int32_t>& mask) {
    expected_ = expected_result<Out>(task_, mask);
    return expected_;
  }
  template <class T>
  void put(View<const T> from, View<T> to) {
    FACESAT_CUDA(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.pitch) * sizeof(T),
                                   from.data, static_cast<std::size_t>(from.pitch) * sizeof(T),
                                   static_cast<std::size_t>(size_.width) * sizeof(T),
                                   static_cast<std::size_t>(size_.height), cudaMemcpyHostToDevice,
                                   stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
  }
  template <class T>
  void put(View<const T> from, DeviceImage<T>& to) {
    to.resize(size_, DeviceImage<T>::Border::none, stream_.get());
    put(from, to.view());
  }
  Buffer<std::byte> zeroed(std::size_t bytes) {
    Buffer<std::byte> memory(bytes);
    if (bytes > 0) FACESAT_CUDA(cudaMemsetAsync(memory.data(), 0, bytes, stream_.get()));
    return memory;
  }

  const FilterBenchTask& task_;
  Size size_;
  Stream stream_;
  UploadedMask<std::int32_t> mask_;
  Buffer<unsigned> wrong_;  // one number: how many elements are wrong
  double bytes_ = 0;
  std::vector<std::unique_ptr<Copy>> copies_;
  Image<Out> expected_;
  DeviceImage<Out> expected_view_;
};

template <class Out>
void bench(const FilterBenchTask& task, const std::function<void(const FilterBenchRow&)>& report) {
  Bench<Out> bench(task);
  report(bench.floor());
  for (const std::string& id : task.ids) try {
      if (const auto row = bench.row(id)) report(*row);
    } catch (const MemoryError& error) {
      report({.id = id, .failure = error.what()});
    } catch (const NppError& error) {
      report({.id = id, .failure = error.what()});
    }
}

}  // namespace

void bench_filters(const FilterBenchTask& task,
                   const std::function<void(const FilterBenchRow&)>& report) {
  FACESAT_CUDA(cudaSetDevice(task.device));
  switch (task.filter) {
    case BenchFilter::sobel:
    case BenchFilter::stencil:
      return bench<std::int32_t>(task, report);
    case BenchFilter::variance:
      return bench<float>(task, report);
    default:
      return bench<std::uint8_t>(task, report);
  }
}

}  // namespace facesat::gpu
