#include "app/bench/bench_cpu_filter.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "app/bench/sat_ids.hpp"
#include "core/cpu/filter.hpp"
#include "core/filter/definition.hpp"
#include "core/memory.hpp"

namespace facesat::app {
namespace {

using gpu::BenchFilter;
using gpu::FilterBenchRow;
using gpu::FilterBenchTask;

constexpr double enough_us = 1e6;  // in all, after which no run begins
constexpr int fewest_runs = 3;
constexpr std::int64_t most_operations = std::int64_t{1} << 36;     // of a run
constexpr std::int64_t checked_operations = std::int64_t{1} << 26;  // of the definition

// The multiplications or additions of a run, as far as their number depends on the radius.
std::int64_t operations(const std::string& id, const FilterBenchTask& task, Radius radius) {
  const std::int64_t per_pixel = id == "cpu_direct"      ? radius.area()
                                 : id == "cpu_separable" ? radius.columns() + radius.rows()
                                                         : 0;
  return per_pixel * static_cast<std::int64_t>(task.picture.size.area());
}

// The times of the runs that bench_cpu_filter.hpp describes, sorted.
template <class Run>
std::vector<double> filter_times(int runs, Run run) {
  run();
  std::vector<double> us;
  for (double total = 0; static_cast<int>(us.size()) < runs &&
                         (static_cast<int>(us.size()) < fewest_runs || total < enough_us);
       total += us.back()) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    us.push_back(taken.count());
  }
  std::sort(us.begin(), us.end());
  return us;
}

// Measures algorithms on one picture. Out: the type of the results.
template <class Out>
class CpuFilterBench {
 public:
  // Throws MemoryError.
  CpuFilterBench(const FilterBenchTask& task, const Mask<std::int32_t>& mask)
      : task_(task), mask_(mask), result_(task.picture.size), earlier_(task.picture.size) {
    set_samples();
  }

  FilterBenchRow row(const std::string& id) {
    const Size size = task_.picture.size;
    const auto area = static_cast<double>(size.area());
    FilterBenchRow row{
        .id = id, .bytes = area * (1 + sizeof(Out)), .launches = 0, .is_compared = true};
    for (int y = 0; y < size.height; ++y) std::memset(result_.row(y), 0xEE, row_bytes());
    row.us = filter_times(task_.runs, [&] { run(id); });
    row.checked = agrees_with_definition() && agrees_with_earlier();
    if (row.checked && !has_earlier_) {
      std::swap(result_, earlier_);
      has_earlier_ = true;
    }
    return row;
  }

 private:
  struct Sample {
    int x = 0, y = 0;
    Out value{};
  };

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(task_.picture.size.width) * sizeof(Out);
  }

  void run(const std::string& id) {
    const View<const std::uint8_t> picture = task_.picture;
    const View<Out> result = result_.view();
    const Radius radius = mask_.radius;
    const Border border = task_.border;
    const bool is_integral = id == "cpu_integral", is_separable = id == "cpu_separable";
    if (is_integral)
      tables_.build(
          picture, std::is_same_v<Out, float> ? cpu::Powers::squares : cpu::Powers::pixels, radius);
    if constexpr (std::is_same_v<Out, float>) {
      is_integral ? cpu::variance(tables_, radius, border, result)
                  : cpu::direct_variance(picture, radius, border, result);
      return;
    } else if constexpr (std::is_same_v<Out, std::uint8_t>) {
      if (task_.filter == BenchFilter::adaptive_threshold) {
        is_integral
            ? cpu::adaptive_threshold(tables_, picture, radius, border, gpu::bench_offset, result)
            : cpu::direct_adaptive_threshold(picture, radius, border, gpu::bench_offset, result);
        return;
      }
      if (task_.filter == BenchFilter::box) {
        is_integral    ? cpu::box_mean(tables_, radius, border, result)
        : is_separable ? cpu::separable_box_mean(picture, radius, border, result)
                       : cpu::direct_box_mean(picture, radius, border, result);
        return;
      }
    }
    if constexpr (std::is_integral_v<Out>)
      is_separable ? cpu::convolve_separable(picture, mask_, border, result)
                   : cpu::convolve_direct(picture, mask_, border, result);
  }

  // By the definition.
  Out defined_at(int x, int y) const {
    const auto sums = [&] { return window_at(task_.picture, x, y, mask_.radius, task_.border); };
    switch (task_.filter) {
      case BenchFilter::variance:
        return static_cast<Out>(variance_of(sums()));
      case BenchFilter::adaptive_threshold:
        return threshold_pixel(task_.picture.row(y)[x], sums(), gpu::bench_offset);
      case BenchFilter::box:
        return rounded_pixel(sums().sum, mask_.divisor);
      default:
        return convolved_at(x, y);
    }
  }
  Out convolved_at(int x, int y) const {
    const auto [rx, ry] = mask_.radius;
    std::int64_t sum = 0;
    const std::int32_t* weight = mask_.weights.data();
    for (int j = 0; j < mask_.radius.rows(); ++j)
      for (int i = 0; i < mask_.radius.columns(); ++i)
        sum +=
            std::int64_t{*weight++} * pixel_at(task_.picture, x + rx - i, y + ry - j, task_.border);
    return static_cast<Out>(sizeof(Out) == 1 ? rounded_pixel(sum, mask_.divisor) : sum);
  }

  // All pixels, or some that are spread over the picture.
  void set_samples() {
    const auto area = static_cast<std::uint64_t>(task_.picture.size.area());
    const auto width = static_cast<std::uint64_t>(task_.picture.size.width);
    const auto most = static_cast<std::uint64_t>(checked_operations / mask_.radius.area() + 16);
    samples_.resize(static_cast<std::size_t>(std::min(area, most)));
    tbb::parallel_for(std::size_t{0}, samples_.size(), [&](std::size_t i) {
      const std::uint64_t place = area <= most ? i : i * 0x9E3779B97F4A7C15u % area;
      const auto x = static_cast<int>(place % width), y = static_cast<int>(place / width);
      samples_[i] = {x, y, defined_at(x, y)};
    });
  }

  bool agrees_with_definition() const {
    return std::all_of(samples_.begin(), samples_.end(), [&](const Sample& sample) {
      return result_.row(sample.y)[sample.x] == sample.value;
    });
  }

  bool agrees_with_earlier() const {
    if (!has_earlier_) return true;
    for (int y = 0; y < task_.picture.size.height; ++y)
      if (std::memcmp(result_.row(y), earlier_.row(y), row_bytes()) != 0) return false;
    return true;
  }

  const FilterBenchTask& task_;
  const Mask<std::int32_t>& mask_;
  Image<Out> result_, earlier_;  // earlier_: of the first algorithm that was right
  bool has_earlier_ = false;
  std::vector<Sample> samples_;
  cpu::IntegralImages tables_;
};

template <class Visit>
void visit_result_type(BenchFilter filter, Visit visit) {
  if (filter == BenchFilter::sobel || filter == BenchFilter::stencil)
    visit(std::int32_t{});
  else if (filter == BenchFilter::variance)
    visit(float{});
  else
    visit(std::uint8_t{});
}

}  // namespace

std::vector<std::string> cpu_filter_ids(BenchFilter filter) {
  switch (filter) {
    case BenchFilter::box:
      return {"cpu_integral", "cpu_separable", "cpu_direct"};
    case BenchFilter::gaussian:
    case BenchFilter::sobel:
    case BenchFilter::stencil:
      return {"cpu_separable", "cpu_direct"};
    case BenchFilter::convolution:
      return {"cpu_direct"};
    case BenchFilter::variance:
    case BenchFilter::adaptive_threshold:
      return {"cpu_integral", "cpu_direct"};
  }
  return {};
}

Image<std::uint8_t> noise_picture(Size size) {
  require_memory(static_cast<std::uint64_t>(size.area()), "The picture");
  Image<std::uint8_t> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    std::generate_n(picture.row(y), size.width,
                    [&] { return static_cast<std::uint8_t>(random() >> 16); });
  return picture;
}

void bench_cpu_filters(const FilterBenchTask& task,
                       const std::function<void(const FilterBenchRow&)>& report) {
  const Mask<std::int32_t> mask = gpu::bench_mask(task.filter, task.radius);
  std::vector<std::string> ids;
  for (const std::string& id : cpu_filter_ids(task.filter)) {
    if (!contains(task.ids, id)) continue;
    if (operations(id, task, mask.radius) <= most_operations)
      ids.push_back(id);
    else
      report({.id = id,
              .failure = fmt::format("a run has more than {} billion operations",
                                     most_operations / 1'000'000'000),
              .is_absent = true});
  }
  if (ids.empty()) return;
  visit_result_type(task.filter, [&]<class Out>(Out) {
    // The result twice, and integral images of up to 12 bytes per pixel.
    require_memory(static_cast<std::uint64_t>(task.picture.size.area()) * (2 * sizeof(Out) + 12),
                   "The result");
    CpuFilterBench<Out> bench(task, mask);
    for (const std::string& id : ids) report(bench.row(id));
  });
}

}  // namespace facesat::app
