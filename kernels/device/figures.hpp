// Figures of a GPU, and of the kernels launched on it, that the cost models of SAT (summed area
// table) algorithms use. lab/micro.hpp measures the GPU's.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace facesat::gpu {

// What a multiprocessor has room for at a time: 32-bit registers, bytes of shared memory, blocks
// and threads.
struct MultiprocessorLimits {
  int registers = 0, shared_bytes = 0, blocks = 0, threads = 0;
};

struct MicroFigures {
  int multiprocessors = 0;
  MultiprocessorLimits limits;  // of each of them
  double clock_hz = 0;          // of the multiprocessors, during the measurement
  // Latencies in clocks: from an instruction until another one can use its result, within one warp.
  double shuffle = 0, shared_read = 0, add = 0, bit_and = 0, l2_read = 0, global_read = 0;
  // Bytes read plus bytes written, per second: by cudaMemcpy, and by a kernel.
  double memcpy_bytes_per_s = 0, kernel_copy_bytes_per_s = 0;
  // Throughputs of the whole chip. Operations are counted per lane, as in NVIDIA's programming
  // guide: one instruction of a warp is 32 of them. Adds, bitwise ands and shuffles are those of 32
  // bits; shared memory is read 4 bytes per lane, without bank conflicts.
  double shared_bytes_per_s = 0, shuffles_per_s = 0, adds_per_s = 0, ands_per_s = 0;
  double f32_adds_per_s = 0, f64_adds_per_s = 0;
  double launch_us = 0;  // from the end of a kernel to that of an empty one after it
};

// A launch of a kernel, and what its compiled code needs.
struct LaunchFigures {
  std::string kernel;  // its name, without template arguments
  std::array<unsigned, 3> grid{}, block{};
  int registers = 0;                                // per thread
  std::size_t static_bytes = 0, dynamic_bytes = 0;  // of shared memory, per block
  int resident_blocks = 0;                          // that a multiprocessor has room for at a time
};

}  // namespace facesat::gpu
