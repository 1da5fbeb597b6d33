// How fast this machine copies: no step can be faster than a plain copy of the bytes that it must
// at least read and write.
#pragma once

#include <array>

#include "core/backend.hpp"
#include "core/pyramid.hpp"
#include "kernels/device/gpu_info.hpp"

namespace facesat::app {

using StepBytes = std::array<double, step_names.size()>;

// The least bytes that each step of a frame reads and writes; 0 where there is no such floor.
// Evaluation reads the tables once in this count: its decisions ask for each element many times.
StepBytes least_bytes(const Pyramid& pyramid, bool on_device);

using gpu::CopySpeed;

// Of the host's memory, by all threads; measured anew by each call, in some hundredths of a second.
CopySpeed host_copy_speed();

// What copying these bytes would take; 0: unknown.
StepTimes step_floors(const StepBytes& bytes, const CopySpeed& speed);

}  // namespace facesat::app
