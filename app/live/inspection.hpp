// What the detector sees: its intermediate pictures, in colours.
#pragma once

#include <cstdint>
#include <optional>

#include "core/detector.hpp"

namespace facesat::app {

struct Inspection {
  std::optional<Snapshot> picture;  // nothing: the frame itself
  int level = 0;                    // of the pyramid
  bool atlas = false;               // all levels of its atlas, at their places

  bool operator==(const Inspection&) const = default;

  // Does it have the shape of the frame? Levels are the frame, smaller.
  bool is_frame() const { return !picture || *picture == Snapshot::gray || !atlas; }
};

// Grey images as they are. Tables and depths from black over blue, green and yellow to white: a
// table as the sum from the level's own corner, a depth as a part of all stages (its square root,
// for most windows pass few).
Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, std::size_t stage_count);

// Of the frame detected last, which has a level; inspection.picture is set.
Image<Bgr> inspect(Detector& detector, const Inspection& inspection);

}  // namespace facesat::app
