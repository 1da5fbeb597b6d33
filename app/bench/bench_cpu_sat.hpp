// The CPU's rows of `facesat bench sat`, which measures SAT algorithms (summed area tables, also
// called integral images).
#pragma once

#include "kernels/bench/sat_bench.hpp"

namespace facesat::app {

// cpu_2r2w and cpu_4r1w (cpu_sats.hpp), and cpu_backend: the CPU backend's own integral(), which
// always computes both integral images (sums and squared sums), and only for 8-bit pictures. All
// run on one thread.
std::vector<std::string> cpu_sat_ids();

// Calls `report` for the CPU's algorithms among task.ids. One picture of noise is used for an
// untimed run and all timed ones, so whatever fits into the caches stays there. Pictures larger
// than 4096 x 4096 pixels get proportionally fewer runs, but at least 3 (or task.runs, if that is
// less).
void bench_cpu_sats(const gpu::SatBenchTask& task,
                    const std::function<void(const gpu::SatBenchRow&)>& report);

}  // namespace facesat::app
