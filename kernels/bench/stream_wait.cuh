// For benchmarks: a kernel before those that are measured, so that the time between two launches is
// the device's and not the host's.
#pragma once

#include "kernels/device/cuda.hpp"

namespace facesat::gpu {

// Keeps the stream busy until everything after it is enqueued.
static __global__ void wait_kernel(int microseconds) {
  for (int i = 0; i < microseconds; ++i) __nanosleep(1000);
}

// Before `launches` launches. Few are all enqueued before the first one may start: about 4 us for
// each. Many are not waited for.
inline void enqueue_wait(int launches, cudaStream_t stream) {
  if (launches <= 64) wait_kernel<<<1, 1, 0, stream>>>(10 + 4 * launches);
}

}  // namespace facesat::gpu
