// The detectors that search one image: one for each cascade, all on the same device or on the CPU.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/frame_detector.hpp"
#include "library/detect/backends.hpp"

namespace facesat {

using DetectorSet = std::vector<FrameDetector>;

// Each detector gets its own backend, so that they can work concurrently. Throws what `make` and
// FrameDetector throw.
inline DetectorSet make_detectors(const Cascades& cascades, const DetectOptions& options,
                                  const std::function<std::unique_ptr<Backend>()>& make) {
  DetectorSet set;
  for (const auto& cascade : cascades) set.emplace_back(cascade, options, make());
  return set;
}

// Some of the cascades, by their indices.
struct CascadeRange {
  std::size_t first = 0, count = 0;
};

// Searches a part of an image with some of the detectors, at the same time if their backends can do
// that. load(detector) gives the part to a detector. The index of a face's cascade is that of its
// detector. Throws what the detectors throw.
template <class Load>
Detection search(std::span<FrameDetector> all, CascadeRange range, const Rect& part,
                 const Load& load) {
  const std::span<FrameDetector> detectors = all.subspan(range.first, range.count);
  for (FrameDetector& detector : detectors) {
    load(detector);
    detector.start();
  }
  Detection found;
  for (std::size_t i = 0; i < detectors.size(); ++i) {
    for (Face face : detectors[i].finish()) {
      face.box.x += part.x;
      face.box.y += part.y;
      face.cascade = range.first + i;
      found.faces.push_back(face);
    }
    found.windows += detectors[i].window_count();
    for (std::size_t step = 0; step < step_names.size(); ++step)
      found.times.ms[step] += detectors[i].times().ms[step];
  }
  return found;
}

// Searches a whole image with one of `count` cascades, and inside each of its faces with the
// others: search_part(range, part) is as search() above.
template <class SearchPart>
Detection search_inside(std::size_t outer, bool only_with_inner, std::size_t count, Size image,
                        const SearchPart& search_part) {
  Detection found = search_part({outer, 1}, {0, 0, image.width, image.height});
  for (const Face& face : std::exchange(found.faces, {})) {
    const std::size_t before = found.faces.size();
    found.faces.push_back(face);
    for (const CascadeRange& range :
         {CascadeRange{0, outer}, CascadeRange{outer + 1, count - outer - 1}}) {
      const Detection inner = search_part(range, face.box);
      found.faces.insert(found.faces.end(), inner.faces.begin(), inner.faces.end());
      found.windows += inner.windows;
      for (std::size_t step = 0; step < step_names.size(); ++step)
        found.times.ms[step] += inner.times.ms[step];
    }
    if (only_with_inner && found.faces.size() == before + 1) found.faces.pop_back();
  }
  return found;
}

// Sets that are idle, to be lent again. Not for use by several threads at once.
class IdleSets {
 public:
  // Null if none is idle. A set that was last used for this size is ready for the image.
  std::unique_ptr<DetectorSet> take(Size image) {
    if (sets_.empty()) return nullptr;
    auto chosen = std::ranges::find_if(
        sets_, [&](const auto& set) { return set->front().pyramid().image == image; });
    if (chosen == sets_.end()) chosen = std::prev(sets_.end());
    std::unique_ptr<DetectorSet> set = std::move(*chosen);
    sets_.erase(chosen);
    return set;
  }
  void give_back(std::unique_ptr<DetectorSet> set) { sets_.push_back(std::move(set)); }

 private:
  std::vector<std::unique_ptr<DetectorSet>> sets_;
};

}  // namespace facesat
