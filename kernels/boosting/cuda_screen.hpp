// Screens of features (boosting/screen.hpp) on GPUs. Includes no CUDA headers.
#pragma once

#include <cstddef>
#include <vector>

#include "boosting/screen.hpp"

namespace facesat::gpu {

// Screens on these devices, which share the features evenly; training gives the same cascades as on
// the CPU. Of each device's memory, all that is free may be used for bins, or at most `memory`
// bytes. (The limit for the CPU's memory does not concern them.) A screen throws DeviceError,
// MemoryError.
training::MakeScreen make_cuda_screens(std::vector<int> devices,
                                       std::size_t memory = ~std::size_t{0});

}  // namespace facesat::gpu
