// facesat detect: inputs -> decoding -> detection -> results, overlapping, in input order.
#pragma once

#include "app/detect/options.hpp"

namespace facesat::app {

// Returns the exit status. Throws UsageError and CascadeError if nothing was processed, OutputError
// if results could not be written. An interrupted run ends the program by its signal.
int run_detect(const DetectCommand& command);

}  // namespace facesat::app
