// The boxes of faces over the picture.
#pragma once

#include <optional>
#include <vector>

#include "app/live/gui/picture_view.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

// The colour of a cascade's boxes. `cascade`: its index, as in Face.
ImU32 box_colour(std::size_t cascade);

struct OverlayOptions {
  bool labels = true;                      // neighbours and score, where there is room for them
  std::optional<std::size_t> highlighted;  // index of a face whose box stands out, with its label
};

// Draws boxes over the picture, which must have been drawn last. Returns the index of the smallest
// face under the pointer.
std::optional<std::size_t> draw_boxes(const PictureView& view, const std::vector<Face>& faces,
                                      const OverlayOptions& options);

}  // namespace facesat::app
