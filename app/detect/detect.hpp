// facesat detect: decodes the inputs, finds faces, and writes the results in input order. These
// steps run at the same time for different pictures.
#pragma once

#include "app/detect/options.hpp"

namespace facesat::app {

// Returns the exit status. Throws UsageError or CascadeError before anything is processed,
// OutputError if results cannot be written, and DeviceError if a GPU fails. An interrupted run ends
// the program by the signal that interrupted it.
int run_detect(const DetectCommand& command);

}  // namespace facesat::app
