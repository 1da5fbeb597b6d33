// The detectors that search one image: one for each cascade, all on the same device or on the CPU.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/frame_detector.hpp"

namespace facesat {

using DetectorSet = std::vector<FrameDetector>;

// Sets that are idle, to be lent again. Not for use by several threads at once.
class IdleSets {
 public:
  // Null if none is idle. A set that was last used for this size is ready for the image.
  std::unique_ptr<DetectorSet> take(Size image);
  void give_back(std::unique_ptr<DetectorSet> set) { sets_.push_back(std::move(set)); }
  void clear() { sets_.clear(); }

 private:
  std::vector<std::unique_ptr<DetectorSet>> sets_;
};

}  // namespace facesat
