// The 0-1 knapsack problem: every solver gives the table of the definition, bit for bit.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/tasks/knapsack.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

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
    DeviceArray<std::byte> workspace(std::vector<std::byte>(solver.workspace_bytes(task)));
    for (int run = 0; run < 2; ++run) {
      SCOPED_TRACE(std::string(solver.id) + ": " + std::to_string(task.items) +
                   " items, capacity " + std::to_string(task.capacity) + ", run " +
                   std::to_string(run));
      best.upload(poisoned<float>(expected.best.size()));
      taken.upload(poisoned<std::uint32_t>(expected.taken.size()));
      chosen.upload(poisoned<std::uint8_t>(problem.values.size()));
      solver.enqueue(task, workspace.data(), test_stream());
      gpu::enqueue_choice(task, chosen.data(), test_stream());
      EXPECT_TRUE(without_guard(best.download()) == expected.best);
      EXPECT_TRUE(without_guard(taken.download()) == expected.taken);
      EXPECT_TRUE(without_guard(chosen.download()) == expected_choice);
      EXPECT_TRUE(is_untouched(best.download()) && is_untouched(taken.download()) &&
                  is_untouched(chosen.download()));
    }
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

}  // namespace
}  // namespace facesat::test
