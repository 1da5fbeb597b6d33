// How pictures are turned upright from their EXIF orientation: 1 is upright, 2 mirrored
// horizontally, 3 rotated by 180 degrees, 4 mirrored vertically. 5 .. 8 have rows and columns
// exchanged: 5 and 7 are mirrored, 6 and 8 only rotated. 0: the orientation is unknown, and the
// picture stays as it is.
#pragma once

#include "facesat/types.hpp"

namespace facesat {

constexpr bool is_transposed(int orientation) {
  return orientation >= 5;
}

// The size of the picture once it is upright.
constexpr Size upright_size(Size size, int orientation) {
  return is_transposed(orientation) ? Size{size.height, size.width} : size;
}

// A place in a picture: column and row.
struct PixelPlace {
  int x, y;
};

// Where the pixel (x, y) of the upright picture lies in the picture as it was; `upright` is the
// size of the former.
constexpr PixelPlace place_before(int x, int y, Size upright, int orientation) {
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool flip_y = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const int u = flip_x ? upright.width - 1 - x : x, v = flip_y ? upright.height - 1 - y : y;
  return is_transposed(orientation) ? PixelPlace{v, u} : PixelPlace{u, v};
}

}  // namespace facesat
