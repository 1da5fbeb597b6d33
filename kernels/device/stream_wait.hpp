// Waits for the work of a stream.
#pragma once

#include <atomic>

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// A thread that waits alone asks the device again and again, and so goes on without delay. Further
// threads sleep, which costs tens of microseconds to wake up, and leave their cores to others.
class StreamWait {
 public:
  // Of the current device.
  StreamWait() {
    cudaEvent_t created{};
    FACESAT_CUDA(
        cudaEventCreateWithFlags(&created, cudaEventDisableTiming | cudaEventBlockingSync));
    end_ = Event(created);
  }

  void wait(cudaStream_t stream) const {
    const Count count;
    if (count.is_alone) {
      FACESAT_CUDA(cudaStreamSynchronize(stream));
    } else {
      FACESAT_CUDA(cudaEventRecord(end_.get(), stream));
      FACESAT_CUDA(cudaEventSynchronize(end_.get()));
    }
  }

 private:
  // Counts the threads that wait, whatever for.
  struct Count {
    inline static std::atomic<int> waiting = 0;
    const bool is_alone = waiting++ == 0;
    ~Count() { --waiting; }
  };

  Event end_;
};

}  // namespace facesat::gpu
