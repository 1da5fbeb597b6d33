// Cameras of this machine (Video4Linux).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "library/media/source.hpp"

namespace facesat {

struct CameraInfo {
  int number = 0;       // of /dev/video
  std::string name;     // as its driver calls it
  std::string problem;  // why it cannot be used; empty: it can
};

// Every /dev/video* but those that never give pictures (drivers list metadata there, too).
std::vector<CameraInfo> cameras();

// `name`: a number or a device. Throws InputError.
std::unique_ptr<Source> open_camera(const std::string& name, const CameraMode& mode);

// The first that can be opened. Throws InputError, which lists all that were tried.
std::unique_ptr<Source> open_first_camera(const CameraMode& mode);

}  // namespace facesat
