// facesat bench tasks: measures the ways to run task arrays (kernels/tasks) on the problems of
// Funasaka et al. 2017: the 0-1 knapsack problem, error diffusion, and integral images (SATs).
// Without a GPU, only the CPU's rows are measured.
#pragma once

#include <string>
#include <vector>

#include "kernels/tasks/error_diffusion.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct BenchTasksCommand {
  std::vector<std::string> problems, schedules, sizes;
  gpu::HalftoneRule rule = gpu::HalftoneRule::real;
  std::string image, output;  // a picture for error diffusion, and its halftone; empty: none
  int device = 0, runs = 31;
  std::string json, report;  // files; empty: none
  std::string line;          // the command line, as it could be typed
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_bench_tasks(CLI::App& bench, BenchTasksCommand& command);

// Returns the exit status: 1 if a result is wrong or a row could not be measured. Throws
// UsageError.
int run_bench_tasks(const BenchTasksCommand& command);

}  // namespace facesat::app
