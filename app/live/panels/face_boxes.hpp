// The faces of the picture: their boxes over it, and the faces side by side below it.
#pragma once

#include <optional>
#include <vector>

#include "app/live/gui/picture_view.hpp"
#include "results/results.hpp"

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
