// Shows intermediate pictures of the detector, such as integral images and the atlas (the image
// that holds all levels of the pyramid), in colours.
#pragma once

#include <cstdint>
#include <optional>

#include "core/detector.hpp"

namespace facesat::app {

struct Inspection {
  std::optional<Snapshot> picture;  // nullopt: the frame itself
  int level = 0;                    // of the pyramid
  bool atlas = false;               // show all levels of the atlas, at their places

  bool operator==(const Inspection&) const = default;

  // Does the picture have the proportions of the frame? Levels are scaled frames.
  bool is_frame() const { return !picture || *picture == Snapshot::gray || !atlas; }
};

// Grey images stay grey. Integral images and depths (the numbers of stages that windows pass) go
// from black over blue, green and yellow to white. An integral image is summed from the corner of
// its level and scaled by its last element; a depth is shown as the square root of its share of all
// stages, because most windows pass few.
Image<Bgr> coloured(const Image<std::uint32_t>& values, Snapshot picture, std::size_t stage_count);

// The selected picture of the last frame, which must have at least one level; inspection.picture
// must be set.
Image<Bgr> inspect(Detector& detector, const Inspection& inspection);

}  // namespace facesat::app
