#include "app/bench/bench_cpu_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "app/bench/bench_cpu_sat.hpp"
#include "app/bench/sat_ids.hpp"
#include "core/memory.hpp"

namespace facesat::app {
namespace {

// The times of `run`, sorted.
template <class Run>
std::vector<double> times_of(int runs, Run run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  double total = 0;
  do {
    const auto begin = Clock::now();
    run();
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    total += us.back();
  } while (static_cast<int>(us.size()) < runs && total < 1e6);
  std::sort(us.begin(), us.end());
  return us;
}

// The table, with the capacities of each item divided among all threads, in whole words of bits.
gpu::KnapsackTable solve_in_parallel(const KnapsackProblem& problem) {
  const std::size_t words = gpu::taken_words(problem.capacity);
  const auto size = static_cast<std::size_t>(problem.capacity) + 1;
  gpu::KnapsackTable table{std::vector<float>(size),
                           std::vector<std::uint32_t>(problem.values.size() * words)};
  std::vector<float> before(size);
  for (std::size_t j = 0; j < problem.values.size(); ++j) {
    before.swap(table.best);
    const auto weight = static_cast<std::size_t>(problem.weights[j]);
    std::uint32_t* const taken = table.taken.data() + j * words;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, words, 256), [&](const auto& part) {
      for (std::size_t word = part.begin(); word < part.end(); ++word) {
        std::uint32_t bits = 0;
        for (std::size_t c = 32 * word; c < std::min(32 * word + 32, size); ++c) {
          float own = before[c];
          if (c >= weight && before[c - weight] + problem.values[j] > own) {
            own = before[c - weight] + problem.values[j];
            bits |= 1u << c % 32;
          }
          table.best[c] = own;
        }
        taken[word] = bits;
      }
    });
  }
  return table;
}

// Do the items that the table chooses fit, and have the value that it promises? Values are whole
// numbers, whose sums are exact.
bool is_consistent(const KnapsackProblem& problem) {
  const auto chosen =
      gpu::knapsack_choice(problem.expected.taken, problem.weights, problem.capacity);
  std::int64_t weight = 0;
  float value = 0;
  for (std::size_t j = 0; j < chosen.size(); ++j)
    if (chosen[j]) {
      weight += problem.weights[j];
      value += problem.values[j];
    }
  return weight <= problem.capacity && value == problem.expected.best.back();
}

bool are_equal(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
  for (int y = 0; y < a.size().height; ++y)
    if (!std::equal(a.row(y), a.row(y) + a.size().width, b.row(y))) return false;
  return true;
}

}  // namespace

KnapsackProblem make_knapsack(int items, int capacity) {
  const std::size_t words = gpu::taken_words(capacity);
  require_memory(static_cast<std::uint64_t>(items) * words * 8 +
                     12 * (static_cast<std::uint64_t>(capacity) + 1),
                 "The table of choices");
  KnapsackProblem problem;
  problem.capacity = capacity;
  std::mt19937 random(1);
  const auto most = static_cast<unsigned>(
      std::max<std::int64_t>(4 * static_cast<std::int64_t>(capacity) / items, 1));
  for (int j = 0; j < items; ++j) {
    problem.values.push_back(static_cast<float>(random() % 4096));
    problem.weights.push_back(1 + static_cast<int>(random() % most));
  }
  return problem;
}

Image<std::uint8_t> halftone_ramp(Size size) {
  require_memory(3 * static_cast<std::uint64_t>(size.area()), "The picture");
  Image<std::uint8_t> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const std::int64_t ramp = 256 * static_cast<std::int64_t>(x) / size.width;
      const auto grey = static_cast<int>(ramp) + static_cast<int>(random() >> 8 & 7) - 3;
      picture.row(y)[x] = static_cast<std::uint8_t>(std::clamp(grey, 0, 255));
    }
  return picture;
}

std::vector<gpu::TaskBenchRow> solve(KnapsackProblem& problem, const std::vector<std::string>& ids,
                                     int runs) {
  std::vector<gpu::TaskBenchRow> rows;
  const bool is_timed = contains(ids, "cpu_serial");
  gpu::TaskBenchRow serial{.id = "cpu_serial"};
  serial.us = times_of(is_timed ? runs : 1, [&] {
    problem.expected = gpu::knapsack_table(problem.values, problem.weights, problem.capacity);
  });
  serial.checked = is_consistent(problem);
  if (is_timed) rows.push_back(serial);
  if (contains(ids, "cpu_threads")) {
    gpu::TaskBenchRow threads{.id = "cpu_threads"};
    gpu::KnapsackTable table;
    threads.us = times_of(runs, [&] { table = solve_in_parallel(problem); });
    threads.checked = table.best == problem.expected.best && table.taken == problem.expected.taken;
    rows.push_back(threads);
  }
  return rows;
}

std::vector<gpu::TaskBenchRow> solve(HalftoneProblem& problem, const std::vector<std::string>& ids,
                                     int runs) {
  const Size size = problem.picture.size();
  const View<const std::uint8_t> picture = problem.picture.view();
  problem.expected = Image<std::uint8_t>(size);
  Image<std::uint8_t> diffused(size);
  gpu::TaskBenchRow collection{.id = "cpu_collection"}, diffusion{.id = "cpu_diffusion"};
  const auto runs_of = [&](const gpu::TaskBenchRow& row) {
    return contains(ids, row.id) ? runs : 1;
  };
  gpu::visit_rule(problem.rule, [&]<class Rule>(Rule) {
    collection.us = times_of(runs_of(collection),
                             [&] { gpu::collect_errors<Rule>(picture, problem.expected.view()); });
    diffusion.us =
        times_of(runs_of(diffusion), [&] { gpu::diffuse_errors<Rule>(picture, diffused.view()); });
  });
  collection.checked = diffusion.checked = are_equal(problem.expected, diffused);
  std::vector<gpu::TaskBenchRow> rows;
  for (const gpu::TaskBenchRow& row : {collection, diffusion})
    if (contains(ids, row.id)) rows.push_back(row);
  return rows;
}

std::vector<gpu::TaskBenchRow> solve_sat(Size size, const std::vector<std::string>& ids, int runs) {
  std::vector<gpu::TaskBenchRow> rows;
  gpu::SatBenchTask task;
  task.type = gpu::SatType::f32_f32;
  task.size = size;
  task.runs = std::min(runs, 7);
  if (contains(ids, "cpu_4r1w")) task.ids = {"cpu_4r1w"};
  bench_cpu_sats(task, [&](const gpu::SatBenchRow& row) {
    rows.push_back({.id = row.id, .us = row.us, .checked = row.checked, .failure = row.failure});
  });
  return rows;
}

}  // namespace facesat::app
