// The benchmarks of the program itself. Their exit status is 1 if detectors or backends disagree,
// else 0.
#pragma once

#include <string>
#include <vector>

#include "core/pyramid.hpp"
#include "library/detect/backends.hpp"

namespace facesat::app {

// What `facesat bench detect` and `cascade` have in common.
struct SceneCommand {
  std::string image;
  std::vector<std::string> cascades, sizes;
  DetectOptions detect;
  BackendOptions backend;
  std::string json;  // a file; empty: none
};

// facesat bench detect: measures every detector of this build on the same picture. They take turns
// in one run.
struct BenchDetectCommand : SceneCommand {
  std::vector<int> threads;
  double seconds = 2;  // per row, at least
};
// Throws UsageError, CascadeError, InputError, OutputError.
int run_bench_detect(const BenchDetectCommand& command);

// facesat bench cascade: measures the evaluation of a cascade alone, on both backends.
struct BenchCascadeCommand : SceneCommand {
  std::vector<std::string> late;  // divisions of the stages on a GPU: see late_division.hpp
  int runs = 31;
};
// Throws UsageError, CascadeError, OutputError.
int run_bench_cascade(const BenchCascadeCommand& command);

// facesat bench micro: measures the properties of a GPU from which models predict the times of SAT
// (summed area table) algorithms.
struct BenchMicroCommand {
  int device = 0;
  std::string json;  // a file; empty: none
};
// Throws UsageError.
int run_bench_micro(const BenchMicroCommand& command);

}  // namespace facesat::app
