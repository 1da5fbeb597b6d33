// facesat bench micro: measures the properties of a GPU from which models predict the times of SAT
// (summed area table) algorithms.
#pragma once

#include <string>

namespace facesat::app {

struct BenchMicroCommand {
  int device = 0;
  std::string json;  // a file; empty: none
};

// Returns the exit status. Throws UsageError.
int run_bench_micro(const BenchMicroCommand& command);

}  // namespace facesat::app
