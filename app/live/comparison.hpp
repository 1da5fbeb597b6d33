// All SAT algorithms on one frame, side by side.
#pragma once

#include <string>
#include <vector>

#include "app/common/backends.hpp"
#include "core/detector.hpp"

namespace facesat::app {

struct SatRank {
  std::string id;
  double sat_ms = 0, detect_ms = 0;  // medians: of the tables, and of all from grey image to faces
  bool identical = true;             // the same faces as the first
};

struct Comparison {
  std::vector<SatRank> ranks;  // the fastest first
  Size image, atlas;           // of the frame, and what is summed up
  std::string message;         // why there are none, or not all
};

// Detects `frame` some times with each of the algorithms; a failure becomes the message.
Comparison compare_sats(const std::vector<std::string>& ids, const BackendOptions& options,
                        const std::shared_ptr<const Cascade>& cascade, const DetectOptions& detect,
                        View<const Bgr> frame);

}  // namespace facesat::app
