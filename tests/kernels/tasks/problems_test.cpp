// The problems that are solved as task arrays: every solver gives the result of the definition, bit
// for bit.
#include "kernels/tasks/problems.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/kit/compare.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

// ---- the 0-1 knapsack problem

using gpu::KnapsackTask;

struct Problem {
  std::vector<float> values;
  std::vector<int> weights;
  int capacity = 0;
};

// `kind` 0: as the paper's, small weights, but with many equal values; 1: weights up to beyond the
// capacity, and 0; 2: values that are not whole numbers.
Problem random_problem(int items, int capacity, int kind, unsigned seed) {
  std::mt19937 random(seed);
  Problem problem{.capacity = capacity};
  const int most = kind == 1 ? capacity + capacity / 4 + 2 : std::max(4 * capacity / items, 1);
  for (int j = 0; j < items; ++j) {
    const auto value = static_cast<float>(random() % (kind == 0 ? 16 : 4096));
    problem.values.push_back(kind == 2 ? value / 7 : value);
    problem.weights.push_back(kind == 1 && random() % 4 == 0
                                  ? static_cast<int>(random() % 3)
                                  : 1 + static_cast<int>(random() % static_cast<unsigned>(most)));
  }
  return problem;
}

// The largest total value, by trying all subsets.
float best_by_trying(const Problem& problem) {
  float best = 0;
  for (unsigned subset = 0; subset < 1u << problem.values.size(); ++subset) {
    std::int64_t weight = 0;
    float value = 0;
    for (std::size_t j = 0; j < problem.values.size(); ++j)
      if (subset >> j & 1) {
        weight += problem.weights[j];
        value += problem.values[j];
      }
    if (weight <= problem.capacity) best = std::max(best, value);
  }
  return best;
}

float value_of(const Problem& problem, const std::vector<std::uint8_t>& chosen) {
  float value = 0;
  for (std::size_t j = 0; j < chosen.size(); ++j)
    if (chosen[j]) value += problem.values[j];
  return value;
}

TEST(Knapsack, DefinitionFindsTheBestSubset) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Problem problem =
        random_problem(1 + static_cast<int>(seed) % 11, static_cast<int>(seed) % 23, 1, seed);
    const gpu::KnapsackTable table =
        gpu::knapsack_table(problem.values, problem.weights, problem.capacity);
    EXPECT_EQ(table.best.back(), best_by_trying(problem)) << seed;
    const auto chosen = gpu::knapsack_choice(table.taken, problem.weights, problem.capacity);
    EXPECT_EQ(value_of(problem, chosen), table.best.back()) << seed;
  }
  // The items of the paper's figure 6, as values and weights.
  const Problem paper{{2, 2, 3, 4}, {4, 2, 3, 1}, 6};
  const gpu::KnapsackTable table = gpu::knapsack_table(paper.values, paper.weights, paper.capacity);
  EXPECT_EQ(table.best, (std::vector<float>{0, 4, 4, 6, 7, 7, 9}));
}

constexpr unsigned char poison = 0xA5;  // every byte
constexpr std::size_t guard = 16;       // elements

template <class T>
std::vector<T> poisoned(std::size_t size) {
  std::vector<T> all(size + guard);
  std::memset(all.data(), poison, all.size() * sizeof(T));
  return all;
}
template <class T>
bool is_untouched(const std::vector<T>& all) {
  const auto* const end = reinterpret_cast<const unsigned char*>(all.data() + all.size());
  return std::all_of(end - guard * sizeof(T), end,
                     [](unsigned char byte) { return byte == poison; });
}
template <class T>
std::vector<T> without_guard(std::vector<T> all) {
  all.resize(all.size() - guard);
  return all;
}

// Twice on one workspace, with poisoned results and guards past their ends.
void check(const Problem& problem) {
  const gpu::KnapsackTable expected =
      gpu::knapsack_table(problem.values, problem.weights, problem.capacity);
  const auto expected_choice =
      gpu::knapsack_choice(expected.taken, problem.weights, problem.capacity);
  DeviceArray<float> values(problem.values);
  DeviceArray<int> weights(problem.weights);
  DeviceArray<float> best(poisoned<float>(expected.best.size()));
  DeviceArray<std::uint32_t> taken(poisoned<std::uint32_t>(expected.taken.size()));
  DeviceArray<std::uint8_t> chosen(poisoned<std::uint8_t>(problem.values.size()));
  const KnapsackTask task{static_cast<int>(problem.values.size()),
                          problem.capacity,
                          values.data(),
                          weights.data(),
                          best.data(),
                          taken.data()};
  for (const gpu::KnapsackSolver& solver : gpu::knapsack_solvers()) {
    SCOPED_TRACE(std::string(solver.id) + ": " + std::to_string(task.items) + " items, capacity " +
                 std::to_string(task.capacity));
    twice_with_a_workspace(solver.workspace_bytes(task), [&](std::byte* workspace) {
      best.upload(poisoned<float>(expected.best.size()));
      taken.upload(poisoned<std::uint32_t>(expected.taken.size()));
      chosen.upload(poisoned<std::uint8_t>(problem.values.size()));
      solver.enqueue(task, workspace, test_stream());
      gpu::enqueue_choice(task, chosen.data(), test_stream());
      EXPECT_TRUE(without_guard(best.download()) == expected.best);
      EXPECT_TRUE(without_guard(taken.download()) == expected.taken);
      EXPECT_TRUE(without_guard(chosen.download()) == expected_choice);
      EXPECT_TRUE(is_untouched(best.download()) && is_untouched(taken.download()) &&
                  is_untouched(chosen.download()));
    });
  }
}

TEST(Knapsack, SolversGiveTheTableOfTheDefinition) {
  under_all_schedules([] {
    check(random_problem(1, 0, 0, 1));
    check(random_problem(3, 31, 1, 2));
    check(random_problem(17, 64, 2, 3));
    check(random_problem(33, 200, 0, 4));
  });
}

// More items than one launch of our own form takes, and more capacities than a block has.
TEST(Knapsack, LaunchesHandTheirValuesOn) {
  under_one_schedule([] {
    check(random_problem(97, on_gpu ? 1500 : 150, 0, 5));
    check(random_problem(45, on_gpu ? 1301 : 130, 1, 6));
  });
}

TEST(Knapsack, LargeTablesOnAGpu) {
  if (!on_gpu) GTEST_SKIP() << "too slow without a GPU";
  check(random_problem(1000, 16383, 0, 7));
  check(random_problem(300, 65536, 1, 8));
  check(random_problem(77, 300001, 0, 9));
  check(random_problem(70, 600001, 1, 10));
  check(random_problem(2000, 140000, 0, 11));
}

// ---- error diffusion

using gpu::HalftoneRule;
using gpu::HalftoneTask;

Image<std::uint8_t> collected(HalftoneRule rule, View<const std::uint8_t> picture) {
  Image<std::uint8_t> halftone(picture.size);
  gpu::visit_rule(rule,
                  [&]<class Rule>(Rule) { gpu::collect_errors<Rule>(picture, halftone.view()); });
  return halftone;
}
Image<std::uint8_t> diffused(HalftoneRule rule, View<const std::uint8_t> picture) {
  Image<std::uint8_t> halftone(picture.size);
  gpu::visit_rule(rule,
                  [&]<class Rule>(Rule) { gpu::diffuse_errors<Rule>(picture, halftone.view()); });
  return halftone;
}

TEST(ErrorDiffusion, ThresholdsAreThoseOfTheRules) {
  EXPECT_FALSE(gpu::RealHalftone::round(0.5f, 0.0f).is_white);
  EXPECT_TRUE(gpu::RealHalftone::round(0.50001f, 0.0f).is_white);
  EXPECT_EQ(gpu::RealHalftone::round(0.25f, 1.0f).error, 0.25f + 7.0f / 16 - 1);
  EXPECT_FALSE(gpu::IntegerHalftone::round({128, 15}, 0).is_white);  // 15/16 is lost
  EXPECT_TRUE(gpu::IntegerHalftone::round({128, 9}, 1).is_white);
  EXPECT_EQ(gpu::IntegerHalftone::round({250, 16 * 60}, 0).error, 0);  // at most 255
}

TEST(ErrorDiffusion, CollectionIsDiffusion) {
  for (std::uint32_t pixel = 0; pixel < 256; ++pixel)
    EXPECT_EQ(gpu::RealHalftone::intensity(gpu::pixel_bits + pixel),
              static_cast<float>(pixel) * (1.0f / 255));
  EXPECT_EQ(255 * (1.0f / 255), 1.0f);
  for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
    for (const Size size : {Size{1, 1}, {1, 40}, {40, 1}, {131, 97}, {640, 480}}) {
      const Image<std::uint8_t> picture = noise(size, 3);
      EXPECT_TRUE(
          same(diffused(rule, picture.view()).view(), collected(rule, picture.view()).view()));
    }
}

// Half of the pixels of a picture of grey 127 or 128 become white, about a quarter of one of 64.
TEST(ErrorDiffusion, KeepsTheBrightness) {
  for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
    for (const std::uint8_t grey : {0, 64, 127, 128, 200, 255}) {
      const Image<std::uint8_t> halftone = collected(rule, flat({200, 200}, grey).view());
      double sum = 0;
      for (int y = 0; y < 200; ++y)
        for (int x = 0; x < 200; ++x) sum += halftone.row(y)[x];
      EXPECT_NEAR(sum / (200 * 200), grey, 1.5);
    }
}

// Twice on one workspace, with a poisoned halftone and guards around it.
void check(HalftoneRule rule, Size size, unsigned seed) {
  const Image<std::uint8_t> picture = noise(size, seed);
  const Image<std::uint8_t> expected = collected(rule, picture.view());
  DevicePicture<std::uint8_t> input(size, 0), output(size, 0);
  input.upload(picture.view());
  const HalftoneTask task{
      rule, size, input.view().data, input.view().pitch, output.view().data, output.view().pitch};
  for (const gpu::HalftoneSolver& solver : gpu::halftone_solvers()) {
    twice_with_a_workspace(solver.workspace_bytes(task), [&](std::byte* workspace) {
      output.clear();
      solver.enqueue(task, workspace, test_stream());
      output.expect(expected.view(),
                    std::string(solver.id) + ", " + ::testing::PrintToString(size));
    });
  }
}

TEST(ErrorDiffusion, SolversGiveTheHalftoneOfTheDefinition) {
  under_all_schedules([] {
    unsigned seed = 1;
    for (const Size size : {Size{1, 1}, {31, 33}, {32, 32}, {65, 70}, {1, 140}, {130, 1}})
      check(HalftoneRule::real, size, seed++);
    for (const Size size : {Size{3, 2}, {70, 65}}) check(HalftoneRule::integer, size, seed++);
  });
}

TEST(ErrorDiffusion, StripsOfSeveralWarps) {
  under_one_schedule([] {
    check(HalftoneRule::real, {150, 270}, 7);
    check(HalftoneRule::integer, {97, 129}, 8);
  });
}

TEST(ErrorDiffusion, LargePicturesOnAGpu) {
  if (!on_gpu) GTEST_SKIP() << "too slow without a GPU";
  for (const Size size : {Size{1919, 1079}, {4096, 4096}, {257, 8191}, {10007, 129}})
    for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
      check(rule, size, static_cast<unsigned>(size.width));
}

// ---- integral images: the schedules that the registry of SATs does not test

// Small whole numbers, whose sums are exact in any order. Twice on one workspace, with a poisoned
// table and guards around it.
void check_sat(Size size) {
  std::mt19937 random(static_cast<unsigned>(size.width + size.height));
  const auto picture = formula<float>(size, [&](int, int) { return random() % 3; });
  const Image<float> expected = reference::sat<float>(picture.view());
  DevicePicture<float> input(size, 0), table(size, 0);
  input.upload(picture.view());
  const gpu::SatTask task{.type = gpu::SatType::f32_f32,
                          .size = size,
                          .input = input.view().data,
                          .input_pitch = input.view().pitch,
                          .sum = table.view().data,
                          .sum_pitch = table.view().pitch};
  for (const gpu::SatSolver& solver : gpu::sat_solvers()) {
    twice_with_a_workspace(solver.workspace_bytes(task), [&](std::byte* workspace) {
      table.clear();
      solver.enqueue(task, workspace, test_stream());
      table.expect(expected.view(), std::string(solver.id) + ", " + ::testing::PrintToString(size));
    });
  }
}

TEST(TaskSat, SchedulesGiveTheTableOfTheDefinition) {
  under_all_schedules([] {
    for (const Size size : {Size{1, 1}, {31, 33}, {32, 64}, {97, 65}, {200, 31}}) check_sat(size);
  });
  if (on_gpu) check_sat({1919, 1079});
}

}  // namespace
}  // namespace facesat::test
