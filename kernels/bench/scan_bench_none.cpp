// For builds without CUDA.
#include "kernels/bench/scan_bench.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {

void bench_scans(const ScanBenchTask&, const std::function<void(const ScanBenchRow&)>&) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
