// facesat detect: inputs -> decoding -> detection -> results. The steps overlap; results are in
// input order.
#pragma once

#include "app/detect/options.hpp"

namespace facesat::app {

// Returns the exit status. Throws UsageError and CascadeError if nothing was processed, OutputError
// if results could not be written, and DeviceError. An interrupted run ends the program by the
// signal that interrupted it.
int run_detect(const DetectCommand& command);

}  // namespace facesat::app
