// The CPU's rows of `facesat bench filter`.
#pragma once

#include "kernels/bench/filter_bench.hpp"

namespace facesat::app {

// Those of a filter, on all threads of the machine (core/cpu/filter.hpp):
//   cpu_integral: sums of windows from an integral image (summed area table), whose time counts;
//   cpu_separable: along rows, then along columns;
//   cpu_direct: every weight of the mask, or every pixel of the window.
std::vector<std::string> cpu_filter_ids(gpu::BenchFilter filter);

// Noise: random pixels, all values equally likely.
Image<std::uint8_t> noise_picture(Size size);

// Calls `report` for the CPU's algorithms among task.ids. After an untimed run there are task.runs
// runs, but none after a second has passed, except that there are at least 3 (or task.runs, if that
// is less). An algorithm is absent if a run has more than 2^36 additions or multiplications.
// Results are checked against each other in every element, and against the definitions
// (core/filter/definition.hpp) in all pixels of a small picture or some of a large one. Throws
// MemoryError.
void bench_cpu_filters(const gpu::FilterBenchTask& task,
                       const std::function<void(const gpu::FilterBenchRow&)>& report);

}  // namespace facesat::app
