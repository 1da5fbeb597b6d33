// Schedules whose rows wait for each other must finish however few blocks are resident, and
// whatever else runs on the device.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/tasks/problems.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/held_half.cuh"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

// A problem with its right result, a workspace and a stream of its own.
class KnapsackWork {
 public:
  using Solver = gpu::KnapsackSolver;
  // Twelve times as many rows of 32 capacities as an H200 has warps.
  static constexpr int items = 40, capacity = 3'300'000, capacity_of_two = 500'000;

  KnapsackWork(const Solver& solver, int most)
      : solver_(solver), values_(random_values()), weights_(random_weights(most)) {
    const std::vector<float> values = values_.download();
    const std::vector<int> weights = weights_.download();
    expected_ = gpu::knapsack_table(values, weights, most);
    best_ = gpu::Buffer<float>(expected_.best.size());
    taken_ = gpu::Buffer<std::uint32_t>(expected_.taken.size());
    task_ = {items, most, values_.data(), weights_.data(), best_.data(), taken_.data()};
    workspace_ = gpu::Buffer<std::byte>(solver.workspace_bytes(task_));
    FACESAT_CUDA(cudaMemset(workspace_.data(), 0, workspace_.bytes()));
    FACESAT_CUDA(cudaDeviceSynchronize());
  }
  void enqueue() {
    FACESAT_CUDA(cudaMemsetAsync(taken_.data(), 0xEE, taken_.bytes(), stream_.get()));
    solver_.enqueue(task_, workspace_.data(), stream_.get());
  }
  bool is_right() {
    std::vector<std::uint32_t> taken(taken_.size());
    FACESAT_CUDA(cudaMemcpyAsync(taken.data(), taken_.data(), taken_.bytes(),
                                 cudaMemcpyDeviceToHost, stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return taken == expected_.taken;
  }

 private:
  static std::vector<float> random_values() {
    std::mt19937 random(1);
    std::vector<float> values(items);
    for (float& value : values) value = static_cast<float>(random() % 4096);
    return values;
  }
  static std::vector<int> random_weights(int most) {
    std::mt19937 random(2);
    std::vector<int> weights(items);
    for (int& weight : weights)
      weight = 1 + static_cast<int>(random() % static_cast<unsigned>(most / 10));
    return weights;
  }

  const Solver& solver_;
  DeviceArray<float> values_;
  DeviceArray<int> weights_;
  gpu::KnapsackTable expected_;
  gpu::Buffer<float> best_;
  gpu::Buffer<std::uint32_t> taken_;
  gpu::KnapsackTask task_;
  gpu::Buffer<std::byte> workspace_;
  gpu::Stream stream_ = gpu::make_stream();
};

class HalftoneWork {
 public:
  using Solver = gpu::HalftoneSolver;

  HalftoneWork(const Solver& solver, Size size)
      : solver_(solver),
        pitch_((size.width + 15) / 16 * 16),
        expected_(size, pitch_),
        picture_(static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(size.height)),
        halftone_(picture_.size()) {
    const Image<std::uint8_t> picture = noise(size, 5);
    gpu::collect_errors<gpu::RealHalftone>(picture.view(), expected_.view());
    FACESAT_CUDA(cudaMemcpy2D(picture_.data(), static_cast<std::size_t>(pitch_), picture.row(0),
                              static_cast<std::size_t>(picture.view().pitch),
                              static_cast<std::size_t>(size.width),
                              static_cast<std::size_t>(size.height), cudaMemcpyHostToDevice));
    task_ = {gpu::HalftoneRule::real, size, picture_.data(), pitch_, halftone_.data(), pitch_};
    workspace_ = gpu::Buffer<std::byte>(solver.workspace_bytes(task_));
    FACESAT_CUDA(cudaMemset(workspace_.data(), 0, workspace_.bytes()));
    FACESAT_CUDA(cudaDeviceSynchronize());
  }
  void enqueue() {
    FACESAT_CUDA(cudaMemsetAsync(halftone_.data(), 0xEE, halftone_.bytes(), stream_.get()));
    solver_.enqueue(task_, workspace_.data(), stream_.get());
  }
  bool is_right() {
    std::vector<std::uint8_t> halftone(halftone_.size());
    FACESAT_CUDA(cudaMemcpyAsync(halftone.data(), halftone_.data(), halftone_.bytes(),
                                 cudaMemcpyDeviceToHost, stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return static_cast<bool>(
        same(View<const std::uint8_t>{halftone.data(), task_.size, pitch_}, expected_.view()));
  }

 private:
  const Solver& solver_;
  std::ptrdiff_t pitch_;
  Image<std::uint8_t> expected_;
  gpu::Buffer<std::uint8_t> picture_, halftone_;
  gpu::HalftoneTask task_;
  gpu::Buffer<std::byte> workspace_;
  gpu::Stream stream_ = gpu::make_stream();
};

// Schedules with one launch: those with a launch per step have no rows that wait.
template <class Solver>
bool waits(const Solver& solver) {
  return !solver.id.starts_with("steps");
}

// `first`: more rows than fit on the device; `one` and `other`: two problems at once.
template <class Work, class Problem>
void check(const typename Work::Solver& solver, Problem first, Problem one, Problem other) {
  const Watchdog watchdog(std::string(solver.id));
  {
    Work work(solver, first);
    work.enqueue();  // loads the kernels: loading may wait for a running kernel
    ASSERT_TRUE(work.is_right()) << solver.id;
    const HeldHalf half;
    for (int round = 0; round < 2; ++round) work.enqueue();
    EXPECT_TRUE(work.is_right()) << solver.id << " on half of the device";
    EXPECT_TRUE(half.is_held()) << "it finished only when the device was free again";
  }
  Work a(solver, one), b(solver, other);
  const auto go = [&] {
    for (int round = 0; round < 10; ++round) {
      a.enqueue();
      b.enqueue();
    }
    EXPECT_TRUE(a.is_right() && b.is_right()) << solver.id << ", two at once";
  };
  go();
  const HeldHalf half;
  go();
  EXPECT_TRUE(half.is_held()) << "they finished only when the device was free again";
}

TEST(TaskConcurrency, KnapsackFinishesWhateverElseRuns) {
  for (const gpu::KnapsackSolver& solver : gpu::knapsack_solvers())
    if (waits(solver))
      check<KnapsackWork>(solver, KnapsackWork::capacity, KnapsackWork::capacity_of_two,
                          KnapsackWork::capacity_of_two + 77);
}

TEST(TaskConcurrency, ErrorDiffusionFinishesWhateverElseRuns) {
  for (const gpu::HalftoneSolver& solver : gpu::halftone_solvers())
    if (waits(solver))
      check<HalftoneWork>(solver, Size{64, 300'000}, Size{1920, 1080}, Size{1283, 2049});
}

}  // namespace
}  // namespace facesat::test
