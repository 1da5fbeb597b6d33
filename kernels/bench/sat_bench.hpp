// Measures SAT algorithms and their peers, without a word of CUDA: for `facesat bench sat`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::gpu {

struct SatBenchTask {
  SatType type = SatType::u8_s32;
  Size size;
  bool squares = false;          // the table of squares, too, where the input has 8 bits
  std::vector<std::string> ids;  // as sat_bench_ids() has them; others are passed over
  int device = 0;
  int runs = 31;
};

struct SatBenchRow {
  std::string id;            // "floor", "memcpy", or the algorithm's
  std::vector<double> us{};  // of each run, sorted
  double bytes = 0;          // of the input once and of each table once
  bool checked = false;      // every element was compared
  std::string failure{};     // why it was not measured
  bool is_absent = false;    // because it is not there, or does not make such tables
};

// The ids of the registry's algorithms and of their peers, in builds without CUDA too.
inline std::vector<std::string> sat_bench_ids() {
  return {
#define FACESAT_SAT(id) #id,
#include "kernels/sat/registry.def"
#undef FACESAT_SAT
      "peer_cub", "peer_npp"};
}

// Calls `report` for the floor, for a copy of as many bytes, and for each algorithm. Buffers rotate
// over more memory than the second level's cache has; the time is that between two events of the
// stream around one run. Throws DeviceError or MemoryError where not even the floor can be
// measured.
void bench_sats(const SatBenchTask& task, const std::function<void(const SatBenchRow&)>& report);

}  // namespace facesat::gpu
