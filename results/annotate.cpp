#include "results/annotate.hpp"

#include <algorithm>
#include <array>

namespace facesat {
namespace {

// Fills the part of a rectangle that lies in the picture.
void fill(View<Bgr> picture, Rect r, Bgr colour) {
  const int right = std::min(r.x + r.width, picture.size.width);
  const int bottom = std::min(r.y + r.height, picture.size.height);
  for (int y = std::max(r.y, 0); y < bottom; ++y)
    for (int x = std::max(r.x, 0); x < right; ++x) picture.row(y)[x] = colour;
}

// Draws the four sides of a box around `r`, without covering it.
void draw_box(View<Bgr> picture, const Rect& r, int thickness, Bgr colour) {
  const int t = thickness;
  fill(picture, {r.x - t, r.y - t, r.width + 2 * t, t}, colour);
  fill(picture, {r.x - t, r.y + r.height, r.width + 2 * t, t}, colour);
  fill(picture, {r.x - t, r.y, t, r.height}, colour);
  fill(picture, {r.x + r.width, r.y, t, r.height}, colour);
}

}  // namespace

Bgr cascade_colour(std::size_t cascade) {
  static constexpr std::array<Bgr, 6> colours{{{60, 220, 60},
                                               {60, 120, 255},
                                               {255, 160, 40},
                                               {230, 60, 230},
                                               {40, 220, 230},
                                               {240, 230, 60}}};
  return colours[cascade % colours.size()];
}

Image<Bgr> with_boxes(View<const Bgr> picture, const std::vector<Face>& faces) {
  Image<Bgr> result(picture.size);
  copy(picture, result.view());
  const int thickness = std::max(2, std::min(picture.size.width, picture.size.height) / 250);
  for (const Face& found : faces)
    draw_box(result.view(), found.box, thickness, cascade_colour(found.cascade));
  return result;
}

}  // namespace facesat
