// The CUDA backend, without a word of CUDA: app and core include this header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend.hpp"

namespace facesat::gpu {

// A frame in flight on one device: everything from the grey image to the windows is one CUDA graph.
// `sat` is the id of a SAT algorithm; empty: the fastest. Throws DeviceError if this build has no
// CUDA or the device does not exist, ArgumentError if the algorithm does not. Levels that would
// need an atlas of more than `max_atlas_pixels` are taken in groups; 0: as suits the device's
// memory.
std::unique_ptr<Backend> make_cuda_backend(int device, std::string_view sat,
                                           std::size_t max_atlas_pixels = 0);

// Why that device cannot evaluate that cascade, in a sentence; empty if it can.
std::string why_not(int device, const Cascade& cascade);

}  // namespace facesat::gpu
