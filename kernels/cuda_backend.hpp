// The CUDA backend's interface, without CUDA headers: app and core include this header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend.hpp"

namespace facesat::gpu {

// A frame in flight on one device: everything from the grey image to the windows is one CUDA graph.
// `sat` is the id of a SAT algorithm; empty: the default. Throws DeviceError if this build has no
// CUDA or the device does not exist, ArgumentError if the algorithm does not. Levels that would
// need an atlas of more than `max_atlas_pixels` are processed in groups; 0: a limit that suits the
// device's memory.
std::unique_ptr<Backend> make_cuda_backend(int device, std::string_view sat,
                                           std::size_t max_atlas_pixels = 0);

// A sentence that says why the device cannot evaluate the cascade; empty if it can.
std::string why_not(int device, const Cascade& cascade);

}  // namespace facesat::gpu
