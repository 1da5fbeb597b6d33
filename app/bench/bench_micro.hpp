// facesat bench micro: measures the properties of a GPU from which models predict the times of SAT
// (summed area table) algorithms.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace facesat::app {

struct BenchMicroCommand {
  int device = 0;
  std::string json;  // a file; empty: none
};

// Adds the subcommand; parsing fills `command`, which must outlive the parser.
CLI::App* add_bench_micro(CLI::App& bench, BenchMicroCommand& command);

// Returns the exit status. Throws UsageError.
int run_bench_micro(const BenchMicroCommand& command);

}  // namespace facesat::app
