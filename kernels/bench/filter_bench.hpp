// Measures filters and their peers, for `facesat bench filter`, without CUDA headers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/filter/mask.hpp"
#include "core/image.hpp"
#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {

// What is measured. `convolution` has a mask that is not separable.
enum class BenchFilter { box, gaussian, sobel, stencil, convolution, variance, adaptive_threshold };
inline constexpr std::array<std::string_view, 7> bench_filter_names{
    "box", "gaussian", "sobel", "stencil", "convolution", "variance", "adaptive-threshold"};

// A stencil is the sum of a window along rows. Sobel's derivative is that along x. Pictures have 8
// bits; results have 8, but for sobel and stencil they are 32s, and for variance 32f.
struct FilterBenchTask {
  BenchFilter filter = BenchFilter::box;
  View<const std::uint8_t> picture;  // in the host's memory
  int radius = 1;
  Border border = Border::reflect101;
  std::vector<std::string> ids;  // from filter_bench_ids(); others are ignored
  int device = 0;
  int runs = 31;
};

struct FilterBenchRow {
  std::string id;            // "floor", or the algorithm's
  std::vector<double> us{};  // time of each run, sorted
  double bytes = 0;          // of the picture once and of the result once
  double reads = 0;          // FilterAlgorithm::reads; 0: not known
  int launches = 1;          // 0: not known
  bool is_compared = false;  // with the CPU's result
  bool checked = false;      // and every element was right
  std::string failure{};     // why it was not measured
  bool is_absent = false;    // not measured because it cannot do this task, or is not installed
};

// The mask of a filter; for variance and adaptive_threshold, that of their windows. Throws
// ArgumentError for a radius that the filter does not take.
Mask<std::int32_t> bench_mask(BenchFilter filter, int radius);

// The offset of adaptive_threshold.
inline constexpr int bench_offset = 5;

// The ids of all rows that a filter can have on a GPU, also in builds without CUDA: those of the
// registry, then for variance and adaptive_threshold "integral_statistics" and "direct_statistics",
// for gaussian "three_boxes" (an approximation, compared with the CPU's), and "peer_npp".
std::vector<std::string> filter_bench_ids(BenchFilter filter);

// Calls `report` for the floor (a kernel that only reads each pixel and writes each element of the
// result, in the same types), and for each chosen algorithm. Buffers rotate over more memory than
// the L2 cache holds; each run is timed between two events in the stream; results are compared with
// those of the CPU. NPP replicates borders, whatever the task's, has a rounding of its own, and is
// not compared. Throws DeviceError or MemoryError where not even the floor can be measured.
void bench_filters(const FilterBenchTask& task,
                   const std::function<void(const FilterBenchRow&)>& report);

}  // namespace facesat::gpu
