// Micro-benchmarks of a GPU, without CUDA headers: the figures that cost models of SAT algorithms
// use.
#pragma once

#include "kernels/sat/model.hpp"

namespace facesat::gpu {

// Each call measures anew, for about a second and with less than a gigabyte of device
// memory. Throws DeviceError or MemoryError.
MicroFigures measure_micro(int device);

}  // namespace facesat::gpu
