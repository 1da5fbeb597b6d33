#include "library/detect/detector_set.hpp"

#include <algorithm>

namespace facesat {

std::unique_ptr<DetectorSet> IdleSets::take(Size image) {
  if (sets_.empty()) return nullptr;
  auto chosen = std::ranges::find_if(
      sets_, [&](const auto& set) { return set->front().pyramid().image == image; });
  if (chosen == sets_.end()) chosen = std::prev(sets_.end());
  std::unique_ptr<DetectorSet> set = std::move(*chosen);
  sets_.erase(chosen);
  return set;
}

}  // namespace facesat
