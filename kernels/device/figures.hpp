// Figures of a GPU that the cost models of SAT (summed area table) algorithms use;
// kernels/bench/micro.hpp measures them.
#pragma once

namespace facesat::gpu {

struct MicroFigures {
  int multiprocessors = 0;
  double clock_hz = 0;  // of the multiprocessors, during the measurement
  // Latencies in clocks: from an instruction until another one can use its result, within one warp.
  double shuffle = 0, shared_read = 0, add = 0, bit_and = 0, l2_read = 0, global_read = 0;
  // Bytes read plus bytes written, per second: by cudaMemcpy, and by a kernel.
  double memcpy_bytes_per_s = 0, kernel_copy_bytes_per_s = 0;
  double launch_us = 0;  // from the end of a kernel to that of an empty one after it
};

}  // namespace facesat::gpu
