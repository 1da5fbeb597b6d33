// The pixels under a tile of windows, as they lie in shared memory. A lane reads four pixels of a
// window at once, and windows begin at any pixel; so there are copies that are shifted by a pixel
// each (at step 2, by two), and every window begins with a word of one of them.
#pragma once

#include "kernels/cascade/compiled_products.hpp"
#include "kernels/cascade/patch_layout.hpp"

namespace facesat::gpu {

struct TilePixels {
  int step = 1;
  int rows_of_windows = 0;
  int rows = 0, words = 0;  // of pixels, and of 4 pixels in a row of a copy

  // Words from row to row. A product reads a column of 4 words for each of 8 windows; with this and
  // the distance of copies, all 32 are in different banks if the windows are those of 8
  // neighbouring columns of the grid, from one whose copy is the first.
  static constexpr int pitch = 72;

  // Words from a copy of a row to the next.
  constexpr int copy_words() const { return pitch / 4 * step; }
  constexpr int bytes() const { return rows * pitch * 4; }
  // The word of the first pixel of the window in a column and row of the tile.
  constexpr int word(unsigned column, unsigned row) const {
    const unsigned shift = static_cast<unsigned>(step) - 1, x = column << shift;
    const unsigned copy = (x & 3) >> shift;
    return static_cast<int>((row << shift) * pitch + x / 4) + static_cast<int>(copy) * copy_words();
  }
};

// For a tile as its patch has it, and windows whose pixels are multiplied as squares. No rows: a
// copy's row would be longer than its place.
constexpr TilePixels make_tile_pixels(const WindowBytes& window, const PatchLayout& tile) {
  TilePixels pixels{tile.step, tile.rows_of_windows};
  pixels.words = (tile_columns - 1) * tile.step / 4 + window.squares_across;
  if (pixels.words <= pixels.copy_words())
    pixels.rows = (tile.rows_of_windows - 1) * tile.step + 4 * window.squares_down;
  return pixels;
}

}  // namespace facesat::gpu
