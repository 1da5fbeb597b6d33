// facesat bench sat: measures every SAT algorithm (summed area table, also called integral image)
// on pictures of noise. They are compared with the floor (a kernel that only reads the picture and
// writes the table), NVIDIA's libraries and the CPU. Without a GPU, only the CPU's algorithms run.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace facesat::app {

struct BenchSatCommand {
  std::vector<std::string> algorithms, types, sizes;
  // Sum the squares, too; show the times that models predict, and each algorithm's kernels, too;
  // measure algorithms that have a parameter for many values of it.
  bool squares = false, model = false, kernels = false, search = false;
  int device = 0, runs = 31;
  std::string json, report;  // files; empty: none
  std::string line;          // the command line, as it could be typed
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_bench_sat(CLI::App& bench, BenchSatCommand& command);

// Returns the exit status: 1 if a table is wrong or could not be measured. Throws UsageError.
int run_bench_sat(const BenchSatCommand& command);

}  // namespace facesat::app
