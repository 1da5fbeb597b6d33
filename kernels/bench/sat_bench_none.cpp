// For builds without CUDA.
#include "kernels/bench/sat_bench.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {

void bench_sats(const SatBenchTask&, const std::function<void(const SatBenchRow&)>&) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
