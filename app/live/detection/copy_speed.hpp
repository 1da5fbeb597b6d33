// Measures how fast this machine copies memory. This bounds the speed of detection: no step can be
// faster than a plain copy of the bytes that it must at least read and write.
#pragma once

#include <array>

#include "core/backend.hpp"
#include "core/cascade.hpp"
#include "core/pyramid.hpp"
#include "kernels/device/gpu_info.hpp"

namespace facesat::app {

using StepBytes = std::array<double, step_names.size()>;

// The minimum number of bytes that each step of detection in a frame reads and writes; 0 if no
// bound is known. Evaluation is counted as reading the integral images once, although its node
// tests read each element many times. Haar cascades need the squared integral image, too.
StepBytes least_bytes(const Pyramid& pyramid, FeatureKind kind, bool on_device);

using gpu::CopySpeed;

// Measures the copy speed of host memory, with all threads. Each call measures again, which takes
// some hundredths of a second.
CopySpeed host_copy_speed();

// The time that each step would take if it only copied its bytes; 0: unknown.
StepTimes step_floors(const StepBytes& bytes, const CopySpeed& speed);

}  // namespace facesat::app
