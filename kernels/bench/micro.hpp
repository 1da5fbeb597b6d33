// Micro-benchmarks of a GPU, without a word of CUDA: the figures that models of SAT algorithms are
// made of.
#pragma once

#include "kernels/device/figures.hpp"

namespace facesat::gpu {

// Measured anew by each call, in some tenths of a second and in less than a gigabyte of the
// device's memory. Throws DeviceError or MemoryError.
MicroFigures measure_micro(int device);

}  // namespace facesat::gpu
