#include "library/detect/detector_set.hpp"

#include <algorithm>

namespace facesat {

DetectorSet make_detectors(const Cascades& cascades, const DetectOptions& options,
                           const std::function<std::unique_ptr<Backend>()>& make) {
  DetectorSet set;
  for (const auto& cascade : cascades) set.emplace_back(cascade, options, make());
  return set;
}

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
