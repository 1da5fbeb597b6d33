// The CPU's rows of `facesat bench scan`, which measures prefix scans.
#pragma once

#include "kernels/bench/scan_bench.hpp"

namespace facesat::app {

// cpu_serial: one thread. cpu_threads: all threads of oneTBB, each with a contiguous part of the
// array, which it first reduces and then scans, from the combination of the parts before.
std::vector<std::string> cpu_scan_ids();

// Calls `report` for the CPU's algorithms among the contenders. One array is used for an untimed
// run and all timed ones, so whatever fits into the caches stays there. Arrays of more than 2^24
// elements get proportionally fewer runs, but at least 3 (or task.runs, if that is less).
void bench_cpu_scans(const gpu::ScanBenchTask& task,
                     const std::function<void(const gpu::ScanBenchRow&)>& report);

}  // namespace facesat::app
