// Measures prefix scans and their peers, for `facesat bench scan`, without CUDA headers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

// An algorithm, from scan_bench_ids(), with its settings.
struct ScanContender {
  std::string id;
  ScanSettings settings{};
};

struct ScanBenchTask {
  ScanType type = ScanType::f32;
  ScanOperator op = ScanOperator::sum;
  bool is_inclusive = true, in_place = false;
  int n = 0;
  std::vector<ScanContender> contenders;  // others than those of scan_bench_ids() are ignored
  int device = 0;
  int runs = 31;
};

struct ScanBenchRow {
  std::string id;  // "floor", "memcpy", or the algorithm's
  ScanSettings settings{};
  std::vector<double> us{};  // time of each run, sorted
  bool checked = false;      // every element of every run was right
  std::string failure{};     // why it was not measured
};

// The ids of the registry's algorithms and of their peers, also in builds without CUDA.
inline std::vector<std::string> scan_bench_ids() {
  return {
#define FACESAT_SCAN(id) #id,
#include "kernels/scan/registry.def"
#undef FACESAT_SCAN
      "peer_cub"};
}

// What an algorithm is to do; the arrays are null.
inline ScanTask to_scan_task(const ScanBenchTask& task, const ScanSettings& settings) {
  return {.type = task.type,
          .op = task.op,
          .is_inclusive = task.is_inclusive,
          .n = task.n,
          .settings = settings};
}

// Calls `report` for the floor (a kernel that only copies the array), for cudaMemcpy, and for each
// contender, in their order. They are measured in turn, one run each, on buffers that rotate over
// more memory than the L2 cache holds; each run is timed between two events in the stream. Throws
// DeviceError or MemoryError where there is no device or not even room for the arrays.
void bench_scans(const ScanBenchTask& task, const std::function<void(const ScanBenchRow&)>& report);

}  // namespace facesat::gpu
