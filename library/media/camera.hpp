// Cameras of this machine (Video4Linux).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "library/media/frame_source.hpp"

namespace facesat {

struct CameraInfo {
  int number = 0;       // of /dev/video
  std::string name;     // as its driver calls it
  std::string problem;  // why it cannot be used; empty: it can
};

// Every /dev/video* but those that never give pictures (drivers list metadata there, too).
std::vector<CameraInfo> cameras();

}  // namespace facesat
