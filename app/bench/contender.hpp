// The detectors that take part in `facesat bench detect`.
#pragma once

#include <memory>
#include <string>

#include "core/frame_detector.hpp"
#include "library/detect/backends.hpp"
#include "media/contender.hpp"

namespace facesat::app {

// `cascade_name` is the name given on the command line. Null if the options leave the backend open,
// and this build or machine has no GPU. Throws BackendError.
std::unique_ptr<Contender> make_facesat_contender(const std::string& cascade_name,
                                                  const DetectOptions& options,
                                                  BackendOptions backend);

}  // namespace facesat::app
