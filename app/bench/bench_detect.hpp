// facesat bench detect: measures every detector of this build on the same picture. They take turns
// in one run.
#pragma once

#include <string>
#include <vector>

#include "core/pyramid.hpp"
#include "library/detect/backends.hpp"

namespace facesat::app {

struct BenchDetectCommand {
  std::string image;
  std::vector<std::string> cascades, sizes;
  std::vector<int> threads;
  DetectOptions detect;
  BackendOptions backend;
  double seconds = 2;  // per row, at least
  std::string json;    // a file; empty: none
};

// Returns the exit status: 1 if detectors disagree, else 0. Throws UsageError, CascadeError,
// InputError, OutputError.
int run_bench_detect(const BenchDetectCommand& command);

}  // namespace facesat::app
