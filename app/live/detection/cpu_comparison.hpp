// Times the CPU's own SAT (summed area table) algorithms on a frame.
#pragma once

#include "app/live/detection/comparison.hpp"

namespace facesat::app {

// An algorithm of app/common/cpu_sats.hpp computes both integral images of every level of the
// frame's pyramid, in one thread. Its tables are compared with those of cpu_2r2w, element by
// element.
MeasureSat measure_on_cpu(const ComparedFrame& frame);

}  // namespace facesat::app
