#include "kernels/bench/launch_recorder.hpp"

#include <string_view>

namespace facesat::gpu {
namespace {

// "(scan_kernel<In, Out>)" is written for a kernel with several template arguments.
std::string name_of(std::string_view kernel) {
  if (kernel.starts_with('(')) kernel.remove_prefix(1);
  return std::string(kernel.substr(0, kernel.find_first_of("<)")));
}

}  // namespace

LaunchFigures figures_of(const Launch& launch) {
  const auto [kernel, function, grid, block, dynamic_bytes] = launch;
  cudaFuncAttributes attributes{};
  FACESAT_CUDA(cudaFuncGetAttributes(&attributes, function));
  int resident = 0;
  FACESAT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &resident, function, static_cast<int>(block.x * block.y * block.z), dynamic_bytes));
  return {.kernel = name_of(kernel),
          .grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .registers = attributes.numRegs,
          .static_bytes = attributes.sharedSizeBytes,
          .dynamic_bytes = dynamic_bytes,
          .resident_blocks = resident};
}

void LaunchTimer::begin() {
  used_ = 0;
  record();
}

void LaunchTimer::record() {
  if (used_ == events_.size()) events_.push_back(make_event());
  FACESAT_CUDA(cudaEventRecord(events_[used_].get(), stream_));
  ++used_;
}

std::vector<double> LaunchTimer::wait() {
  FACESAT_CUDA(cudaEventSynchronize(events_[used_ - 1].get()));
  std::vector<double> us;
  for (std::size_t i = 1; i < used_; ++i)
    us.push_back(1000 * elapsed_ms(events_[i - 1], events_[i]));
  return us;
}

}  // namespace facesat::gpu
