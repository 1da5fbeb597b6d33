// The CPU's rows of `facesat bench sat`.
#pragma once

#include "kernels/bench/sat_bench.hpp"

namespace facesat::app {

// cpu_2r2w and cpu_4r1w (cpu_sats.hpp), and cpu_backend: the CPU backend's own integral, which
// always makes both tables and only those of 8-bit pictures. One thread each.
std::vector<std::string> cpu_sat_ids();

// Calls `report` for those of task.ids that are the CPU's. Runs repeat on one picture of noise,
// after one that is not timed: what fits into the caches stays there. Pictures of more than 4096 x
// 4096 pixels have as many fewer runs as they are larger, but not fewer than 3 if more are wanted.
void bench_cpu_sats(const gpu::SatBenchTask& task,
                    const std::function<void(const gpu::SatBenchRow&)>& report);

}  // namespace facesat::app
