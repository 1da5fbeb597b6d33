// The faces of the picture side by side, below it.
#pragma once

#include <optional>
#include <vector>

#include "app/live/gui/picture_view.hpp"
#include "library/io/results.hpp"

namespace facesat::app {

// The height of the strip in pixels.
float face_strip_height();

// What the user points at and clicks, as indices of faces.
struct PointedFace {
  std::optional<std::size_t> pointed, clicked;
};

// Draws over the whole width of the current window. `highlighted`: a face that stands out.
PointedFace draw_face_strip(const Texture& frame, const std::vector<Face>& faces,
                            std::optional<std::size_t> highlighted);

}  // namespace facesat::app
