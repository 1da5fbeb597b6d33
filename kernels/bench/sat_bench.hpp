// Measures SAT (integral image) algorithms and their peers, for `facesat bench sat`, without CUDA
// headers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/device/figures.hpp"
#include "kernels/sat/types.hpp"

namespace facesat::gpu {

struct SatBenchTask {
  SatType type = SatType::u8_s32;
  Size size;
  bool squares = false;  // also the squared integral image, for 8-bit input
  // From sat_bench_ids(), or "id:value" for an algorithm with a parameter; others are ignored.
  std::vector<std::string> ids;
  int device = 0;
  int runs = 31;
  bool launches = false;  // also SatBenchRow::launches
};

// A launch of an algorithm. Of an algorithm with one launch per anti-diagonal: all launches of a
// kernel, with the largest of their grids and without times.
struct SatBenchLaunch {
  LaunchFigures figures;
  int count = 1;
  std::vector<double> us{};  // time of each run, sorted
};

struct SatBenchRow {
  std::string id;            // "floor", "memcpy", or the algorithm's
  std::vector<double> us{};  // time of each run, sorted
  double bytes = 0;          // of the input once and of each table once
  bool checked = false;      // every element was compared
  std::string failure{};     // why it was not measured
  bool is_absent = false;    // not measured because not installed, or unable to make such tables
  // In their order. Those of other libraries' kernels are not known. They are timed in runs of
  // their own, because the events between them take time.
  std::vector<SatBenchLaunch> launches{};
};

// The ids of the registry's algorithms and of their peers, also in builds without CUDA.
inline std::vector<std::string> sat_bench_ids() {
  return {
#define FACESAT_SAT(id) #id,
#include "kernels/sat/registry.def"
#undef FACESAT_SAT
      "peer_cub", "peer_npp"};
}

// Calls `report` for the floor (a kernel that only reads the picture and writes the tables), for a
// copy of as many bytes, and for each algorithm. Buffers rotate over more memory than the L2 cache
// holds; each run is timed between two events in the stream. Throws DeviceError or MemoryError
// where not even the floor can be measured.
void bench_sats(const SatBenchTask& task, const std::function<void(const SatBenchRow&)>& report);

}  // namespace facesat::gpu
