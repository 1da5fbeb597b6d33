// The problems of `facesat bench tasks` with their right results, and the CPU's rows, which are the
// definitions in kernels/tasks and other ways to the same results.
#pragma once

#include <string>
#include <vector>

#include "kernels/bench/task_bench.hpp"

namespace facesat::app {

struct KnapsackProblem {
  std::vector<float> values;
  std::vector<int> weights;
  int capacity = 0;
  gpu::KnapsackTable expected;
};

struct HalftoneProblem {
  gpu::HalftoneRule rule = gpu::HalftoneRule::real;
  Image<std::uint8_t> picture, expected;
};

// Items as Funasaka et al. have them: values are whole numbers below 4096, weights at most
// 4 * capacity / items, so that about half of the items are taken.
KnapsackProblem make_knapsack(int items, int capacity);

// A ramp from black to white with some noise.
Image<std::uint8_t> halftone_ramp(Size size);

// Fill problem.expected, and measure those of the CPU's rows whose ids are given: up to `runs` runs
// each, fewer if they take longer than a second. Rows are sorted by time of run.
//   cpu_serial: the definition, one thread; checked: the items of the best choice weigh no more
//   than
//     the capacity, and have the value.
//   cpu_threads: the capacities of each item divided among all threads; compared with the
//   definition. cpu_collection, cpu_diffusion: compared with each other.
std::vector<gpu::TaskBenchRow> solve(KnapsackProblem& problem, const std::vector<std::string>& ids,
                                     int runs);
std::vector<gpu::TaskBenchRow> solve(HalftoneProblem& problem, const std::vector<std::string>& ids,
                                     int runs);
// cpu_4r1w of `facesat bench sat`, for type 32f32f.
std::vector<gpu::TaskBenchRow> solve_sat(Size size, const std::vector<std::string>& ids, int runs);

}  // namespace facesat::app
