// facesat bench cascade: measures the evaluation of a cascade alone, on both backends.
#pragma once

#include <string>
#include <vector>

#include "core/pyramid.hpp"
#include "library/detect/backends.hpp"

namespace facesat::app {

struct BenchCascadeCommand {
  std::string image;
  std::vector<std::string> cascades, sizes;
  DetectOptions detect;
  BackendOptions backend;
  std::vector<std::string> late;  // divisions of the stages on a GPU: see late_division.hpp
  int runs = 31;
  std::string json;  // a file; empty: none
};

// Returns the exit status: 1 if the backends disagree, else 0. Throws UsageError, CascadeError,
// OutputError.
int run_bench_cascade(const BenchCascadeCommand& command);

}  // namespace facesat::app
