#include "app/bench/bench_cpu_sat.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <type_traits>
#include <utility>

#include "app/common/cpu_sats.hpp"
#include "core/cpu/integral.hpp"
#include "core/memory.hpp"

namespace facesat::app {
namespace {

using gpu::SatBenchRow;
using gpu::SatBenchTask;

// An integral image with its borders, in the layout of core/table.hpp.
template <class Out>
class BorderedTable {
 public:
  explicit BorderedTable(Size size) : size_(size), memory_({size.width + border, size.height + 1}) {
    for (int y = 0; y <= size.height; ++y) std::fill_n(memory_.row(y), memory_.size().width, Out{});
  }
  View<Out> view() { return {memory_.row(1) + border, size_, memory_.view().pitch}; }

  // Overwrites the table, so that the result of an earlier run is not mistaken for a new one.
  void poison() {
    for (int y = 0; y < size_.height; ++y)
      std::fill_n(view().row(y), size_.width, static_cast<Out>(0xEEEEEEEEu));
  }

 private:
  static constexpr int border = 64 / sizeof(Out);  // elements on the left: 64 bytes
  Size size_;
  Image<Out> memory_;
};

// Noise: random integers over the full range. For floating-point tables one pixel in 128 is 1 and
// the rest are 0, so that every sum is exact in any order and needs no tolerance.
template <class In, class Out>
Image<In> make_noise(Size size) {
  Image<In> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto bits = static_cast<std::uint32_t>(random()) * 0x9E3779B1u;
      picture.row(y)[x] =
          static_cast<In>(std::is_floating_point_v<Out> ? bits >> 25 == 0 : bits ^ bits >> 16);
    }
  return picture;
}

// Is every element the pixel's value (or square) plus the elements to the left and above, minus the
// element above on the left?
template <Summed summed, class In, class Out>
bool is_correct(View<const In> picture, View<const Out> table) {
  for (int y = 0; y < picture.size.height; ++y) {
    const Out *const row = table.row(y), *const above = table.row(y - 1);
    for (int x = 0; x < picture.size.width; ++x)
      if (row[x] !=
          summand<summed, Out>(picture.row(y)[x]) + (row[x - 1] + (above[x] - above[x - 1])))
        return false;
  }
  return true;
}

// The number of timed runs: bench_cpu_sat.hpp has the rule.
int runs_of(const SatBenchTask& task) {
  const double size = static_cast<double>(task.size.area()) / (4096.0 * 4096.0);
  if (size <= 1) return task.runs;
  return std::max(static_cast<int>(task.runs / size), std::min(task.runs, 3));
}

// Measures algorithms on one picture and its integral images.
template <class In, class Out>
class Bench {
 public:
  // Throws MemoryError.
  Bench(const SatBenchTask& task, bool has_squares)
      : task_(task),
        squares_(task.squares && sizeof(In) == 1),
        picture_(make_noise<In, Out>(task.size)),
        sum_(task.size),
        squared_sum_(has_squares ? task.size : Size{}) {}

  SatBenchRow row(const std::string& id) {
    const View<const In> picture = std::as_const(picture_).view();
    const View<Out> sum = sum_.view(), squared_sum = squared_sum_.view();
    if (id == id_2r2w)
      return measure(id, squares_, [&] {
        cpu_2r2w<Summed::values>(picture, sum);
        if (squares_) cpu_2r2w<Summed::squares>(picture, squared_sum);
      });
    if (id == id_4r1w)
      return measure(id, squares_, [&] {
        cpu_4r1w<Summed::values>(picture, sum);
        if (squares_) cpu_4r1w<Summed::squares>(picture, squared_sum);
      });
    if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>)
      return measure(id, true, [&] { cpu::integral(picture, sum, squared_sum); });
    return {.id = id,
            .failure = "the CPU backend makes tables of 8u32s and 8u32u only",
            .is_absent = true};
  }

 private:
  template <class Run>
  SatBenchRow measure(const std::string& id, bool squares, Run run) {
    using Clock = std::chrono::steady_clock;
    sum_.poison();
    if (squares) squared_sum_.poison();
    std::vector<double> us;
    // Run -1 is not timed.
    for (int i = -1, runs = runs_of(task_); i < runs; ++i) {
      const auto begin = Clock::now();
      run();
      const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
      if (i >= 0) us.push_back(taken.count());
    }
    const double bytes = static_cast<double>(task_.size.area()) *
                         static_cast<double>(sizeof(In) + sizeof(Out) * (squares ? 2 : 1));
    std::sort(us.begin(), us.end());
    SatBenchRow row{.id = id, .us = std::move(us), .bytes = bytes};
    const View<const In> picture = std::as_const(picture_).view();
    row.checked =
        is_correct<Summed::values>(picture, View<const Out>(sum_.view())) &&
        (!squares || is_correct<Summed::squares>(picture, View<const Out>(squared_sum_.view())));
    return row;
  }

  const SatBenchTask& task_;
  bool squares_;
  Image<In> picture_;
  BorderedTable<Out> sum_, squared_sum_;
};

}  // namespace

std::vector<std::string> cpu_sat_ids() {
  return {id_2r2w, id_4r1w, id_backend};
}

void bench_cpu_sats(const SatBenchTask& task,
                    const std::function<void(const SatBenchRow&)>& report) {
  std::vector<std::string> ids;
  for (const std::string& id : cpu_sat_ids())
    if (std::find(task.ids.begin(), task.ids.end(), id) != task.ids.end()) ids.push_back(id);
  if (ids.empty()) return;
  const auto [unused, name, input_bytes, table_bytes] = gpu::info_of(task.type);
  // The CPU backend, always last, makes both tables even if the squares were not requested.
  const bool has_squares = input_bytes == 1 && (task.squares || ids.back() == id_backend);
  try {
    require_memory(task.size.area() * (input_bytes + table_bytes * (has_squares ? 2 : 1)),
                   "The picture");
    gpu::visit_types(task.type, [&]<class In, class Out>(In, Out) {
      Bench<In, Out> bench(task, has_squares);
      for (const std::string& id : ids) report(bench.row(id));
    });
  } catch (const MemoryError& error) {
    for (const std::string& id : ids) report({.id = id, .failure = error.what()});
  }
}

}  // namespace facesat::app
