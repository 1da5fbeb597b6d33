// Micro-benchmarks of a GPU's throughputs, a part of measure_micro().
#pragma once

#include "kernels/device/figures.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {

// Measures all operations per second and shared_bytes_per_s. `figures` must have the number of
// multiprocessors.
void measure_throughputs(lab::StreamTimer& timer, MicroFigures& figures);

}  // namespace facesat::gpu
