// A tile is a rectangle of windows that one block evaluates; its patch is the part of the integral
// image that they read. This header defines the tile's size and the patch's layout in shared
// memory.
#pragma once

#include <algorithm>

#include "core/image.hpp"

namespace facesat::gpu {

// A tile spans 32 columns of the level's grid of windows and up to 32 rows.
constexpr int tile_columns = 32, max_tile_rows = 32;
constexpr int tile_windows = tile_columns * max_tile_rows;

// Offsets of corners are 16-bit counts of 4-byte words.
constexpr int max_patch_bytes = 4 << 16;

// The layout of a patch. The step, 1 or 2, is the distance in pixels between adjacent windows.
// Rows are copied in vectors of four elements. The first window's first element, which belongs to
// the pixel left of and above the window's first one, is the last of its vector. At step 2 a row
// has the second and fourth elements of all vectors first, and then the others, so that
// neighbouring windows always read neighbouring words. A second plane of the same layout, if there
// is one, holds the tilted integral image.
struct PatchLayout {
  int step = 1;
  int rows_of_windows = max_tile_rows;
  int vectors = 0, rows = 0;  // of table elements
  int planes = 1;             // 2 with the tilted integral image

  constexpr int pitch() const { return 4 * vectors; }  // words from row to row
  constexpr int plane_words() const { return rows * pitch(); }
  constexpr int bytes() const { return planes * plane_words() * 4; }
  // The word of the first window's first element.
  constexpr int first_word() const { return step == 1 ? 3 : 1; }
  // Words from a window's first element to the element x columns to the right and y rows below.
  constexpr int word(int x, int y) const {
    return y * pitch() + (step == 1 ? x : x % 2 * (pitch() / 2 + 1) + x / 2);
  }
  // Words from a window to the one in the next row.
  constexpr int next_row() const { return step * pitch(); }
};

// Windows up to this width have patches of one pitch, which kernels know at compile time.
constexpr int usual_width = 24;

constexpr int vectors_across(int step, int window_width) {
  return divide_up(3 + (tile_columns - 1) * step + window_width + 1, 4);
}

// The layout with the most rows of windows (a power of two) that fits into `most_bytes`; at least
// one row.
inline PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes) {
  PatchLayout layout;
  layout.step = step;
  layout.planes = planes;
  layout.vectors = vectors_across(step, std::max(window.width, usual_width));
  for (layout.rows_of_windows = max_tile_rows;; layout.rows_of_windows /= 2) {
    layout.rows = (layout.rows_of_windows - 1) * step + window.height + 1;
    if (layout.rows_of_windows == 1 || layout.bytes() <= most_bytes) return layout;
  }
}

}  // namespace facesat::gpu
