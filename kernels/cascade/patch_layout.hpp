// The windows of a tile, and the layout in shared memory of the table elements that they read.
#pragma once

#include "core/image.hpp"

namespace facesat::gpu {

// A tile spans 32 columns of the grid and up to 32 rows.
constexpr int tile_columns = 32, max_tile_rows = 32;

// Offsets of corners are 16-bit counts of 4-byte words.
constexpr int max_patch_bytes = 4 << 16;

// The part of the integral image that the windows of a tile read, as it lies in shared memory. At
// step 2 the even columns come first in a row and the odd ones after them, so that neighbouring
// windows always read neighbouring words. A second plane of the same layout holds the tilted
// integral image.
struct PatchLayout {
  int step = 1;
  int rows_of_windows = max_tile_rows;
  int columns = 0, rows = 0;  // table elements; the first row and column are those before pixel 0
  int pitch = 0;              // words from row to row
  int planes = 1;

  constexpr int plane_words() const { return rows * pitch; }
  constexpr int bytes() const { return planes * plane_words() * 4; }
  // From a window's first word (or from the patch's, for even x) to the element (x, y).
  constexpr int word(int x, int y) const {
    return y * pitch + (step == 1 ? x : x % 2 * (pitch / 2) + x / 2);
  }
};

// The layout with the most rows of windows (a power of two) that fits into `most_bytes`; at least
// one row.
PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes);

}  // namespace facesat::gpu
