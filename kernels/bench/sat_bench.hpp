// Measures SAT algorithms, without a word of CUDA: for `facesat bench sat`.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::gpu {

struct SatBenchTask {
  std::string type;  // as sat_type_names() has it
  Size size;
  bool squares = false;          // the table of squares, too, where the input has 8 bits
  std::vector<std::string> ids;  // of the registry
  int device = 0;
  int runs = 31;
};

struct SatBenchRow {
  std::string id;  // "floor", "memcpy", or the algorithm's
  double median_us = 0, min_us = 0, p95_us = 0;
  double bytes = 0;      // of the input once and of each table once
  bool checked = false;  // every element was compared
  std::string failure;   // why it was not measured
};

std::vector<std::string> sat_type_names();

// Calls `report` for the floor, for a copy of as many bytes, and for each algorithm. Buffers rotate
// over more memory than the second level's cache has; the time is that between two events of the
// stream around one run. Throws DeviceError or MemoryError where not even the floor can be
// measured.
void bench_sats(const SatBenchTask& task, const std::function<void(const SatBenchRow&)>& report);

}  // namespace facesat::gpu
