// Compares all SAT (summed area table) algorithms on one frame.
#pragma once

#include <string>
#include <vector>

#include "app/common/backends.hpp"
#include "core/detector.hpp"

namespace facesat::app {

struct SatRank {
  std::string id;
  double sat_ms = 0, detect_ms = 0;  // medians: of the integral images, of the whole detection
  bool identical = true;             // the same faces as with the first algorithm that ran
};

struct Comparison {
  std::vector<SatRank> ranks;  // the fastest first
  // The sizes of the frame, and of the atlas: the image that holds the levels of the pyramid and is
  // summed. If there are several atlases, the size of the largest.
  Size image, atlas;
  std::string message;  // why ranks are missing
};

// Detects faces in `frame` several times with each algorithm. Failures become the message.
Comparison compare_sats(const std::vector<std::string>& ids, const BackendOptions& options,
                        const std::shared_ptr<const Cascade>& cascade, const DetectOptions& detect,
                        View<const Bgr> frame);

}  // namespace facesat::app
