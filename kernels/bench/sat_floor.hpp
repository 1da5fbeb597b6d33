// What the benchmark of SAT (summed area table) algorithms needs: input whose sums can be checked,
// a lower bound of the time (the floor), and the check.
#pragma once

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// Fills the task's input from `seed`. Integers are noise in all bits. For floating-point tables,
// one pixel in 128 is 1 and the others are 0, so that up to 32768 x 32768 every sum is exact in any
// order, and can be checked without a tolerance.
void enqueue_fill(const SatTask& task, std::uint32_t seed, StreamHandle stream);

// The floor: reads every pixel once and writes it, converted, to every table once, 16 bytes at a
// time. No SAT algorithm can be faster than this by more than noise.
void enqueue_floor(const SatTask& task, StreamHandle stream);

// Counts the elements of the task's tables that differ from the pixel plus the elements to the left
// and above minus the element diagonally between these; adds the count to *wrong, in device memory.
void enqueue_check(const SatTask& task, unsigned* wrong, StreamHandle stream);

}  // namespace facesat::gpu
