// For builds without CUDA.
#include "kernels/bench/filter_bench.hpp"

namespace facesat::gpu {

void bench_filters(const FilterBenchTask&, const std::function<void(const FilterBenchRow&)>&) {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace facesat::gpu
