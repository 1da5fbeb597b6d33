// facesat bench scan: measures every prefix scan of kernels/scan on arrays whose scans are exact.
// They are compared with the floor (a kernel that only copies the array), CUB and the CPU. Without
// a GPU, only the CPU's algorithms run.
#pragma once

#include <string>
#include <vector>

#include "kernels/scan/types.hpp"

namespace CLI {
class App;
}

namespace facesat::app {

struct BenchScanCommand {
  std::vector<std::string> algorithms, types, sizes;
  gpu::ScanOperator op = gpu::ScanOperator::sum;
  bool is_exclusive = false, in_place = false;
  // Find the fastest settings of each algorithm; show the times that the model predicts, too.
  bool search = false, model = false;
  int device = 0, runs = 31;
  std::string json, report;  // files; empty: none
  std::string line;          // the command line, as it could be typed
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_bench_scan(CLI::App& bench, BenchScanCommand& command);

// Returns the exit status: 1 if a scan is wrong or could not be measured. Throws UsageError.
int run_bench_scan(const BenchScanCommand& command);

}  // namespace facesat::app
