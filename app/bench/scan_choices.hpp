// What `facesat bench scan` measures, from the words of the command line.
#pragma once

#include <string>
#include <vector>

#include "app/bench/bench_scan.hpp"
#include "kernels/bench/scan_bench.hpp"

namespace facesat::app {

struct ScanChoices {
  bool has_gpu = false;
  std::string left_out;  // why the GPU's algorithms are, although all were wanted; or empty
  std::vector<gpu::ScanContender> contenders;  // of the GPU and of the CPU
  std::vector<std::string> searched;           // the ids whose parameters are searched
  std::vector<gpu::ScanType> types;
  std::vector<int> lengths;
};

// Throws UsageError with a sentence.
ScanChoices scan_choices(const BenchScanCommand& command);

}  // namespace facesat::app
