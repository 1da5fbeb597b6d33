// A tile is a rectangle of windows that one block evaluates; its patch is the part of the integral
// image that they read. This header defines the tile's size and the patch's layout in shared
// memory.
#pragma once

#include "core/image.hpp"

namespace facesat::gpu {

// A tile spans 32 columns of the level's grid of windows and up to 32 rows.
constexpr int tile_columns = 32, max_tile_rows = 32;
constexpr int tile_windows = tile_columns * max_tile_rows;

// Offsets of corners are 16-bit counts of 4-byte words.
constexpr int max_patch_bytes = 4 << 16;

// The layout of a patch. The step, 1 or 2, is the distance in pixels between adjacent windows. At
// step 2 the even columns come first in a row and the odd ones after them, so that neighbouring
// windows always read neighbouring words. A second plane of the same layout, if there is one, holds
// the tilted integral image.
struct PatchLayout {
  int step = 1;
  int rows_of_windows = max_tile_rows;
  // Table elements. The first row and column are those before the tile's first pixel.
  int columns = 0, rows = 0;
  int pitch = 0;   // words from row to row
  int planes = 1;  // 2 with the tilted integral image

  constexpr int plane_words() const { return rows * pitch; }
  constexpr int bytes() const { return planes * plane_words() * 4; }
  // Words from the first element of the patch, or of a window in it, to the element x columns to
  // the right and y rows below. At step 2 this holds because every window starts in an even column.
  constexpr int word(int x, int y) const {
    return y * pitch + (step == 1 ? x : x % 2 * (pitch / 2) + x / 2);
  }
};

// The layout with the most rows of windows (a power of two) that fits into `most_bytes`; at least
// one row.
PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes);

}  // namespace facesat::gpu
