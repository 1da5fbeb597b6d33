// What `facesat bench filter` measures, from the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "app/bench/bench_filter.hpp"
#include "core/image.hpp"
#include "kernels/bench/filter_bench.hpp"

namespace facesat::app {

struct FilterRadii {
  gpu::BenchFilter filter;
  std::vector<int> radii;
};

struct FilterChoices {
  bool has_gpu = false;
  std::string left_out;  // why the GPU's algorithms are, although all were wanted; or empty
  std::vector<FilterRadii> filters;
  std::vector<std::string> ids;  // of all filters' algorithms, of the GPU and of the CPU
  std::vector<Size> sizes;
};

// The radii that are measured where none are given.
std::vector<int> standard_radii(gpu::BenchFilter filter);

std::string name_of(gpu::BenchFilter filter);  // as on the command line

// Throws UsageError with a sentence.
FilterChoices filter_choices(const BenchFilterCommand& command);

}  // namespace facesat::app
