// What the benchmark of prefix scans needs: an array whose scans can be checked, a lower bound of
// the time (the floor), and the check.
#pragma once

#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {

// Fills the task's input with scan_input() of kernels/bench/scan_data.hpp.
void enqueue_fill(const ScanTask& task, std::uint32_t seed, StreamHandle stream);

// The floor: copies every element from the input to the output, 16 bytes at a time. No scan can be
// faster than this by more than noise.
void enqueue_floor(const ScanTask& task, StreamHandle stream);

// Adds the number of the output's elements that are not as expected to *wrong, in device memory.
// The input had been filled from `seed`; it is not read.
void enqueue_check(const ScanTask& task, std::uint32_t seed, unsigned* wrong, StreamHandle stream);

}  // namespace facesat::gpu
