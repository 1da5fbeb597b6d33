// facesat bench filter: measures convolutions and other filters of grey pictures, on a GPU
// (kernels/filter) and on the CPU. Without a GPU, only the CPU's rows are measured.
#pragma once

#include <string>
#include <vector>

#include "core/filter/border.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct BenchFilterCommand {
  std::vector<std::string> algorithms, filters, sizes;
  std::vector<int> radii;  // empty: standard_radii() of each filter
  Border border = Border::reflect101;
  int device = 0, runs = 31;
  std::string json, report;  // files; empty: none
  std::string line;          // the command line, as it could be typed
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_bench_filter(CLI::App& bench, BenchFilterCommand& command);

// Returns the exit status: 1 if a result is wrong or a row could not be measured. Throws
// UsageError.
int run_bench_filter(const BenchFilterCommand& command);

}  // namespace facesat::app
