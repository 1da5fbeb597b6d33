// For builds without CUDA.
#include "kernels/bench/task_bench.hpp"
#include "library/facesat.hpp"

namespace facesat::gpu {
namespace {

[[noreturn]] void refuse() {
  throw DeviceError("this build has no CUDA backend");
}

}  // namespace

void bench_tasks(const KnapsackBenchTask&, const TaskBenchSettings&, const ReportTaskRow&) {
  refuse();
}
void bench_tasks(const HalftoneBenchTask&, const TaskBenchSettings&, const ReportTaskRow&) {
  refuse();
}
void bench_tasks(Size, const TaskBenchSettings&, const ReportTaskRow&) {
  refuse();
}

}  // namespace facesat::gpu
