// Records the launches of one call: what the compiled kernels need, and how long each launch takes.
#pragma once

#include <vector>

#include "kernels/device/cuda.hpp"
#include "kernels/device/figures.hpp"
#include "kernels/device/launch_observer.hpp"

namespace facesat::gpu {

// Keeps the launches in their order.
class LaunchRecorder final : public LaunchObserver {
 public:
  void launched(const Launch& launch) override { launches.push_back(launch); }
  std::vector<Launch> launches;
};

// Asks CUDA. The launch must have been observed on the current device.
LaunchFigures figures_of(const Launch& launch);

// Records an event before the first launch and after each one, so that launches follow each other
// as they do without the timer, except for the events between them.
class LaunchTimer final : public LaunchObserver {
 public:
  explicit LaunchTimer(cudaStream_t stream) : stream_(stream) {}

  void begin();  // before the first launch
  void launched(const Launch&) override { record(); }
  std::vector<double> wait();  // microseconds of each launch since begin()

 private:
  void record();

  cudaStream_t stream_;
  std::vector<Event> events_;
  std::size_t used_ = 0;
};

}  // namespace facesat::gpu
