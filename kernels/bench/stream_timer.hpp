// Measures times on a GPU between two events of a stream.
#pragma once

#include <algorithm>

#include "kernels/device/cuda.hpp"
#include "kernels/device/stream.hpp"

namespace facesat::gpu {

class StreamTimer {
 public:
  StreamHandle stream() const { return stream_.get(); }

  // The time of what `enqueue` puts into the stream.
  template <class Enqueue>
  double seconds(Enqueue enqueue) {
    FACESAT_CUDA(cudaEventRecord(before_.get(), stream_.get()));
    enqueue();
    FACESAT_CUDA(cudaEventRecord(after_.get(), stream_.get()));
    FACESAT_CUDA(cudaEventSynchronize(after_.get()));
    float ms = 0;
    FACESAT_CUDA(cudaEventElapsedTime(&ms, before_.get(), after_.get()));
    return ms / 1000.0;
  }

 private:
  Stream stream_ = make_stream();
  Event before_ = make_event(), after_ = make_event();
};

// Calls `once` for a warm-up and then five times. Returns the least result of these five.
template <class Once>
double least(Once once) {
  once();
  double best = once();
  for (int run = 1; run < 5; ++run) best = std::min(best, once());
  return best;
}

}  // namespace facesat::gpu
