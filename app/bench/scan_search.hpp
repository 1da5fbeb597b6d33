// Looks for the fastest settings of prefix scans.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/scan_bench.hpp"

namespace facesat::app {

// All combinations of the choices of an algorithm's parameters.
std::vector<gpu::ScanSettings> all_settings(const gpu::ScanAlgorithm& algorithm);

// gpu::bench_scans(), but with the fastest settings of the algorithms whose ids are in `searched`,
// in place of those in the task. All combinations are measured with few runs, and the best ones
// once more together with everything else; one row for each such algorithm is reported. In
// addition, a row is reported for each combination that gave wrong results or failed.
void search_scans(const gpu::ScanBenchTask& task, const std::vector<std::string>& searched,
                  const std::function<void(const gpu::ScanBenchRow&)>& report);

}  // namespace facesat::app
