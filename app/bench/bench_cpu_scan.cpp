#include "app/bench/bench_cpu_scan.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include <tbb/task_arena.h>

#include "app/bench/cpu_scans.hpp"
#include "core/memory.hpp"
#include "kernels/bench/scan_data.hpp"
#include "library/facesat.hpp"

namespace facesat::app {
namespace {

using gpu::ScanBenchRow;
using gpu::ScanBenchTask;
using gpu::ScanOperator;

constexpr std::string_view id_serial = "cpu_serial", id_threads = "cpu_threads";
constexpr std::uint32_t data_seed = 1;

// Calls visit(std::integral_constant<ScanOperator, op>), so that loops know the operator.
template <class Visit>
void visit_operator(ScanOperator op, Visit visit) {
  switch (op) {
    case ScanOperator::sum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::sum>());
    case ScanOperator::product:
      return visit(std::integral_constant<ScanOperator, ScanOperator::product>());
    case ScanOperator::minimum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::minimum>());
    case ScanOperator::maximum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::maximum>());
  }
}

// The number of timed runs: bench_cpu_scan.hpp has the rule.
int runs_of(const ScanBenchTask& task) {
  const double size = static_cast<double>(task.n) / (1 << 24);
  if (size <= 1) return task.runs;
  return std::max(static_cast<int>(task.runs / size), std::min(task.runs, 3));
}

// Measures algorithms on one array.
template <class T>
class ScanBench {
 public:
  explicit ScanBench(const ScanBenchTask& task)
      : task_(task),
        input_(std::make_unique_for_overwrite<T[]>(size())),
        output_(std::make_unique_for_overwrite<T[]>(size())) {
    tbb::parallel_for(
        0, task.n, [&](int i) { input_[i] = gpu::scan_input<T>(task.op, task.n, i, data_seed); });
  }

  ScanBenchRow row(std::string_view id) {
    using Clock = std::chrono::steady_clock;
    std::memset(output_.get(), 0xEE, bytes());
    ScanBenchRow row{.id = std::string(id)};
    // Run -1 is not timed.
    for (int i = -1, runs = runs_of(task_); i < runs; ++i) {
      if (task_.in_place) std::memcpy(output_.get(), input_.get(), bytes());
      const auto begin = Clock::now();
      run(id);
      const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
      if (i >= 0) row.us.push_back(taken.count());
    }
    std::sort(row.us.begin(), row.us.end());
    row.checked = is_right();
    return row;
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(task_.n); }
  std::size_t bytes() const { return size() * sizeof(T); }

  void run(std::string_view id) {
    const std::span<const T> input(task_.in_place ? output_.get() : input_.get(), size());
    visit_operator(task_.op, [&]<ScanOperator op>(std::integral_constant<ScanOperator, op>) {
      if (id == id_serial)
        scan_serially<op, T>(input, output_.get(), task_.is_inclusive, gpu::identity_of<T>(op));
      else
        scan_in_parts<op, T>(input, output_.get(), task_.is_inclusive,
                             static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
    });
  }

  bool is_right() const {
    const gpu::ScanTask task = gpu::to_scan_task(task_, {});
    for (int i = 0; i < task.n; ++i)
      if (output_[i] != gpu::scan_expected<T>(task, i, i > 0 ? output_[i - 1] : T{}, data_seed))
        return false;
    return true;
  }

  const ScanBenchTask& task_;
  std::unique_ptr<T[]> input_, output_;
};

}  // namespace

std::vector<std::string> cpu_scan_ids() {
  return {std::string(id_serial), std::string(id_threads)};
}

void bench_cpu_scans(const ScanBenchTask& task,
                     const std::function<void(const ScanBenchRow&)>& report) {
  std::vector<std::string> ids;
  for (const std::string& id : cpu_scan_ids())
    if (std::any_of(task.contenders.begin(), task.contenders.end(),
                    [&](const gpu::ScanContender& contender) { return contender.id == id; }))
      ids.push_back(id);
  if (ids.empty()) return;
  try {
    require_memory(2 * static_cast<std::uint64_t>(task.n) * gpu::info_of(task.type).bytes,
                   "The array");
    gpu::visit_type(task.type, [&]<class T>(T) {
      ScanBench<T> bench(task);
      for (const std::string& id : ids) report(bench.row(id));
    });
  } catch (const MemoryError& error) {
    for (const std::string& id : ids) report({.id = id, .failure = error.what()});
  }
}

}  // namespace facesat::app
