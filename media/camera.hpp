// Cameras of this machine (Video4Linux).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "media/frame_source.hpp"

namespace facesat {

struct CameraInfo {
  int number = 0;       // N in /dev/videoN
  std::string name;     // as reported by the driver
  std::string problem;  // why it cannot be used; else empty
};

// Every /dev/video* that is a camera: drivers also create devices for metadata there, which never
// give pictures.
std::vector<CameraInfo> cameras();

}  // namespace facesat
