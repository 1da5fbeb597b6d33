// Micro-benchmarks of a GPU, without a word of CUDA: the figures that models of SAT algorithms are
// made of.
#pragma once

namespace facesat::gpu {

struct MicroFigures {
  int multiprocessors = 0;
  double clock_hz = 0;  // of the multiprocessors, while they were measured
  // Clocks from an instruction until another one can use its result, within one warp.
  double shuffle = 0, shared_read = 0, add = 0, bit_and = 0, l2_read = 0, global_read = 0;
  // Bytes read and bytes written together, a second: by cudaMemcpy, and by a kernel.
  double memcpy_bytes_per_s = 0, kernel_copy_bytes_per_s = 0;
  double launch_us = 0;  // from the end of a kernel in a stream to that of an empty one after it
};

// Measured anew by each call, in some tenths of a second and in less than a gigabyte of the
// device's memory. Throws DeviceError or MemoryError.
MicroFigures measure_micro(int device);

}  // namespace facesat::gpu
