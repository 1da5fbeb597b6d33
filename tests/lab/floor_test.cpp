// The kernels that fill inputs and check results for benchmarks, and that measure the floor (see
// docs/glossary.md).
#include <cmath>

#include <fmt/format.h>

#include "kernels/sat/pass.cuh"
#include "kernels/scan/operators.hpp"
#include "lab/problems/histogram.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/scan.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

using gpu::SatTask;

// The number of wrong elements that the check finds in the tables of the task.
unsigned count_wrong(const SatTask& task) {
  DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  gpu::enqueue_check(task, wrong.data(), test_stream());
  return wrong.download().front();
}

template <class In, class Out>
void check(gpu::SatType type, Size size) {
  DevicePicture<In> input(size, In{});
  DevicePicture<Out> sum(size, Out{}), squares(size, Out{});
  const bool has_squares = sizeof(In) == 1;
  const SatTask task{.type = type,
                     .size = size,
                     .input = input.view().data,
                     .input_pitch = input.view().pitch,
                     .sum = sum.view().data,
                     .sum_pitch = sum.view().pitch,
                     .squared_sum = has_squares ? squares.view().data : nullptr,
                     .squared_pitch = squares.view().pitch};
  gpu::enqueue_fill(task, 7, test_stream());  // 7: the seed
  const Image<In> pixels = input.inside();
  EXPECT_GT(
      std::count_if(pixels.row(0), pixels.row(0) + size.width, [](In v) { return v != In{}; }), 0);

  gpu::enqueue_floor(task, test_stream());
  const auto converted = formula<Out>(size, [&](int x, int y) { return pixels.row(y)[x]; });
  sum.expect(converted.view(), "floor");
  if (has_squares) squares.expect(converted.view(), "floor, second table");

  // Uploads a correct table, but adds `error` to its last element, which is then the only wrong
  // one.
  const auto upload = [&](DevicePicture<Out>& table, bool of_squares, Out error) {
    Image<Out> right = reference::sat<Out>(pixels.view(), of_squares);
    right.row(size.height - 1)[size.width - 1] += error;
    table.upload(right.view());
  };
  upload(sum, false, Out{});
  upload(squares, true, Out{});
  EXPECT_EQ(count_wrong(task), 0u);
  upload(sum, false, Out{1});
  EXPECT_EQ(count_wrong(task), 1u);
  if (!has_squares) return;
  upload(squares, true, Out{1});
  EXPECT_EQ(count_wrong(task), 2u);
}

TEST(SatFloor, FillsConvertsAndChecks) {
  for (const gpu::SatTypeInfo& info : gpu::sat_types)
    gpu::visit_types(info.type, [&]<class In, class Out>(In, Out) {
      check<In, Out>(info.type, {301, 19});
    });
}

// ---- integral histograms

TEST(HistogramFloor, WritesEveryElementAndChecks) {
  constexpr int bins = 3;
  for (const Size size : {Size{301, 5}, {256, 4}, {3, 2}}) {
    const Image<std::uint8_t> pixels = noise(size, 1);
    DevicePicture<std::uint8_t> picture(size, 0);
    picture.upload(pixels.view());
    std::vector<std::uint32_t> memory(gpu::integral_histogram_bytes(size, bins) / 4, 99);
    const gpu::IntegralHistogram on_host = gpu::integral_histogram_in(memory.data(), size, bins);
    DeviceArray<std::uint32_t> device(memory);
    const gpu::IntegralHistogram tables = gpu::integral_histogram_in(device.data(), size, bins);
    const auto is_in_bin = [&](int bin, int x, int y) {
      return bin_of(pixels.row(y)[x], bins) == bin;
    };
    const auto for_each_element = [&](auto visit) {
      for (int bin = 0; bin < bins; ++bin)
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) visit(bin, x, y);
    };
    gpu::enqueue_floor(picture.view(), tables, test_stream());
    for_each_element([&](int bin, int x, int y) { on_host.row(bin, y)[x] = is_in_bin(bin, x, y); });
    EXPECT_TRUE(device.download() == memory) << "nothing else was written";

    std::fill(memory.begin(), memory.end(), 0);
    for_each_element([&](int bin, int x, int y) {
      for (int j = 0; j <= y; ++j)
        for (int i = 0; i <= x; ++i) on_host.row(bin, y)[x] += is_in_bin(bin, i, j);
    });
    const auto count_wrong = [&] {
      device.upload(memory);
      DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
      gpu::enqueue_check(picture.view(), tables, wrong.data(), test_stream());
      return wrong.download().front();
    };
    EXPECT_EQ(count_wrong(), 0u);
    ++on_host.row(bins - 1, size.height - 1)[size.width - 1];
    EXPECT_EQ(count_wrong(), 1u);
    on_host.row(0, 0)[0] += 5;
    EXPECT_GT(count_wrong(), 1u);
  }
}

// ---- scans

using gpu::ScanOperator;
using gpu::ScanTask;

constexpr std::uint32_t data_seed = 7;

// The scan of `input`, by the definition.
template <class T>
std::vector<T> scan_of(const std::vector<T>& input, ScanTask task, bool is_inclusive) {
  std::vector<T> output(input.size());
  task.is_inclusive = is_inclusive;
  task.input = input.data();
  task.output = output.data();
  gpu::scan_reference(task);
  return output;
}

// The number of wrong elements that the check finds in `output`.
template <class T>
unsigned count_wrong(ScanTask task, const std::vector<T>& output) {
  const DeviceArray<T> array(output);
  DeviceArray<unsigned> wrong(std::vector<unsigned>{0});
  task.output = const_cast<DeviceArray<T>&>(array).data();
  gpu::enqueue_check(task, data_seed, wrong.data(), test_stream());
  return wrong.download().front();
}

template <class T>
std::vector<T> filled(ScanTask task) {
  DeviceArray<T> input(std::vector<T>(static_cast<std::size_t>(task.n)));
  task.input = input.data();
  gpu::enqueue_fill(task, data_seed, test_stream());
  return input.download();
}

constexpr ScanOperator operators[] = {ScanOperator::sum, ScanOperator::product,
                                      ScanOperator::minimum, ScanOperator::maximum,
                                      ScanOperator::compose};

template <class Body>
void for_all_tasks(int n, Body body) {
  for (const gpu::ScanTypeInfo& info : gpu::scan_types)
    for (const ScanOperator op : operators)
      for (const bool is_inclusive : {true, false})
        if (gpu::applies(op, info.type))
          gpu::visit_type(info.type, [&]<class T>(T zero) {
            SCOPED_TRACE(std::string(info.name) + " " + std::string(gpu::name_of(op)) +
                         (is_inclusive ? " inclusive" : " exclusive"));
            body(ScanTask{.type = info.type, .op = op, .is_inclusive = is_inclusive, .n = n}, zero);
          });
}

TEST(ScanFloor, FloorCopiesEveryElement) {
  for (const int n : {1, 3, 4, 5, 4095, 4096, 4099})
    gpu::visit_type(gpu::ScanType::f32, [&]<class T>(T) {
      ScanTask task{.type = gpu::ScanType::f32, .n = n};
      const std::vector<T> values = filled<T>(task);
      std::vector<T> guarded(values);
      guarded.push_back(T{99});
      DeviceArray<T> input(values), output(std::vector<T>(guarded.size(), T{99}));
      task.input = input.data();
      task.output = output.data();
      gpu::enqueue_floor(task, test_stream());
      EXPECT_EQ(output.download(), guarded) << n;
    });
}

TEST(ScanFloor, TheCheckAcceptsScansAndNothingElse) {
  for_all_tasks(700, []<class T>(const ScanTask& task, T) {
    const std::vector<T> right = scan_of(filled<T>(task), task, task.is_inclusive);
    EXPECT_EQ(count_wrong(task, right), 0u);
    for (const std::size_t i : {std::size_t{0}, std::size_t{333}, right.size() - 1}) {
      std::vector<T> wrong = right;
      wrong[i] = wrong[i] == T{5} ? T{6} : T{5};
      EXPECT_GE(count_wrong(task, wrong), 1u) << i;
    }
    EXPECT_GE(count_wrong(task, scan_of(filled<T>(task), task, !task.is_inclusive)), 1u);
  });
}

TEST(ScanFloor, TheCheckKnowsOrdersAndTuples) {
  for_all_tasks(700, []<class T>(ScanTask task, T) {
    for (const int order : {1, 2, 3, 8})
      for (const int tuple : {1, 2, 5}) {
        if (order > 1 && !(std::is_integral_v<T> && task.op == ScanOperator::sum)) continue;
        SCOPED_TRACE(fmt::format("order {}, tuples of {}", order, tuple));
        task.order = order;
        task.tuple = tuple;
        const std::vector<T> right = scan_of(filled<T>(task), task, task.is_inclusive);
        EXPECT_EQ(count_wrong(task, right), 0u);
        for (const std::size_t i : {std::size_t{0}, std::size_t{333}, right.size() - 1}) {
          std::vector<T> wrong = right;
          wrong[i] = wrong[i] == T{5} ? T{6} : T{5};
          EXPECT_GE(count_wrong(task, wrong), 1u) << i;
        }
        ScanTask other = task;
        other.tuple = tuple + 1;
        EXPECT_GE(count_wrong(other, right), 1u);
        if (!std::is_integral_v<T> || task.op != ScanOperator::sum) continue;
        other = task;
        other.order = order % 8 + 1;
        EXPECT_GE(count_wrong(other, right), 1u);
      }
  });
}

// A block that ignores what lies before it, and any order of operations, must be distinguishable:
// the first changes the results, the second does not.
TEST(ScanFloor, DataAreExactInAnyOrderAndShowErrors) {
  for_all_tasks(100000, []<class T>(const ScanTask& task, T) {
    const int n = task.n, block = 1000;
    if (!task.is_inclusive) return;
    std::vector<T> values;
    for (int i = 0; i < n; ++i) values.push_back(gpu::scan_input<T>(task.op, n, i, data_seed));
    const std::vector<T> right = scan_of(values, task, true);
    std::vector<T> reversed(values.rbegin(), values.rend());
    if (task.op == ScanOperator::compose)
      EXPECT_NE(scan_of(reversed, task, true).back(), right.back());  // operands in wrong places
    else
      EXPECT_EQ(scan_of(reversed, task, true).back(), right.back());
    int visible = 0;
    for (int begin = block; begin < n; begin += block)
      visible += gpu::combine(task.op, right[begin - 1], values[begin]) != values[begin];
    EXPECT_GT(visible, n / block / 4);
    if (task.op == ScanOperator::product) {
      EXPECT_NE(right.back(), T{});  // no bits were lost
    }
    if constexpr (std::is_floating_point_v<T>) {
      for (const T value : right) ASSERT_TRUE(std::isfinite(value));
    }
  });
}

}  // namespace
}  // namespace facesat::test
