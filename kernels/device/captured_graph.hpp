// The work of a stream, captured once and launched again and again as one CUDA graph, whose kernels
// can be timed by events of the graph itself.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// A step begins where this event is recorded.
struct StepBegin {
  const Event* event;
  Step step;
};

// Not for use by several threads at once. All functions throw CudaError.
class CapturedGraph {
 public:
  bool is_empty() const { return !executable_.get(); }

  // Captures what `enqueue` gives to the stream, which must neither wait for other streams nor have
  // others wait for it.
  //
  // With `steps`, the graph's nodes (kernels, and copies and fills of memory) are timed from the
  // first of these events on, which `enqueue` must record with cudaEventRecordExternal. After each
  // node an event is recorded, which costs microseconds per launch and keeps a node from starting
  // before the one before it has ended.
  void capture(cudaStream_t stream, const std::function<void()>& enqueue,
               std::span<const StepBegin> steps = {});

  void launch(cudaStream_t stream) const;

  // The times of the last launch, in the order of launches, once the stream has been waited for.
  std::vector<KernelTime> times() const;

 private:
  struct Timed {
    Step step;
    std::string name;
    cudaEvent_t begin;
    Event end;
  };

  void time_nodes(cudaGraph_t graph, std::span<const StepBegin> steps);

  std::vector<Timed> timed_;  // before the graph, which records their events
  GraphExec executable_;
};

}  // namespace facesat::gpu
