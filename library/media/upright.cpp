#include "library/media/upright.hpp"

#include <utility>

namespace facesat {
namespace {

// Orientation 2 is mirrored horizontally, 3 is rotated by 180 degrees, and 4 is mirrored
// vertically. 5 .. 8 have rows and columns exchanged: 5 and 7 are mirrored, 6 and 8 only rotated.
template <class Pixel>
Picture turned(View<const Pixel> from, int orientation) {
  const bool transposed = orientation >= 5;
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const auto [w, h] = from.size;
  const NewFrame<Pixel> to = new_frame<Pixel>(transposed ? Size{h, w} : Size{w, h});
  const auto [tw, th] = to.pixels.size;
  for (int y = 0; y < th; ++y)
    for (int x = 0; x < tw; ++x) {
      const int u = flip_x ? tw - 1 - x : x, v = flip_y ? th - 1 - y : y;
      to.pixels.row(y)[x] = transposed ? from.row(u)[v] : from.row(v)[u];
    }
  return to_picture(to);
}

}  // namespace

Picture upright(Picture picture, int orientation) {
  picture.orientation = orientation;
  if (orientation <= 1) return picture;
  Picture result =
      picture.luma.data ? turned(picture.luma, orientation) : turned(picture.pixels, orientation);
  result.warning = std::move(picture.warning);
  result.orientation = orientation;
  return result;
}

}  // namespace facesat
