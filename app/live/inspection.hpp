// What the detector sees: its intermediate pictures, in colours.
#pragma once

#include <cstdint>
#include <optional>

#include "core/backend.hpp"

namespace facesat::app {

struct Inspection {
  std::optional<facesat::Picture> picture;  // nothing: the frame itself
  int level = 0;                            // of the pyramid
};

// Grey images as they are. Tables and depths from black over blue, green and yellow to white: a
// table as the sum from the level's own corner, a depth as a part of all stages.
Image<Bgr> coloured(const Image<std::uint32_t>& values, facesat::Picture picture,
                    std::size_t stage_count);

}  // namespace facesat::app
