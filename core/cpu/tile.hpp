// A tile: adjacent windows of one level, with integral images (summed area tables) of the pixels
// that these windows cover. One thread builds and evaluates a tile while it lies in the caches of
// the thread's core; there is no table of a whole picture.
#pragma once

#include <array>
#include <cstdint>

#include "core/image.hpp"

namespace facesat::cpu {

// The area in pixels in which the top left corners of a tile's windows lie. The tile itself is
// wider by the window's width less one, and higher by its height less one. The tables of such a
// tile fit into the second-level cache.
inline constexpr Size tile_extent{512, 64};

// Where tables lie in memory. offset(x, y) is the place of a window's corner (x, y), relative to
// the window's corner (0, 0). Corners lie between pixels: x is 0 .. window width, y is 0 .. window
// height.
//
// Windows that are neighbours in the grid are neighbours in memory. Where windows are two pixels
// apart, each row of a table is therefore split: it holds its even columns first and its odd ones
// after them.
struct Layout {
  std::ptrdiff_t column = 1;  // stride between columns (of equal parity if rows are split)
  std::ptrdiff_t odd = 0;     // from column 0 to column 1 if rows are split; otherwise 0
  std::ptrdiff_t row = 0;     // from one row to the next
  std::ptrdiff_t tilted = 0;  // from the integral image to the tilted one; 0: none

  std::int32_t offset(int x, int y) const {
    const std::ptrdiff_t in_row = odd ? x / 2 * column + x % 2 * odd : x * column;
    return static_cast<std::int32_t>(y * row + in_row);
  }
};

// The capacity of a tile.
struct TileShape {
  Size pixels;           // maximum width and height
  bool squares, tilted;  // which tables there are besides the integral image
  bool operator==(const TileShape&) const = default;

  std::ptrdiff_t pitch() const;  // of a table, in elements
  // Elements from one table to the next: a row above the pixels, and one to spare below.
  std::ptrdiff_t plane() const { return (pixels.height + 2) * pitch(); }
  // step: 1 or 2 pixels from window to window.
  Layout layout(int step) const;
  std::uint64_t bytes() const;  // of all tables
};

// A tile as the evaluators see it.
struct Tile {
  Layout layout;
  Size grid;                   // windows
  int step = 1;                // pixels from window to window, in both axes
  const std::uint32_t* sum;    // corner (0, 0) of window (0, 0)
  std::ptrdiff_t squares = 0;  // from an element of `sum` to that of the squared integral image

  const std::uint32_t* window(int column, int row) const {
    return sum + row * step * layout.row + column;
  }
};

// Evaluators read the corners of up to this many windows at once, wherever the first of them lies.
// So they may read past the last window, where the contents are arbitrary.
inline constexpr int group_windows = 16;

// The memory of a tile's tables.
class TileTables {
 public:
  explicit TileTables(const TileShape& shape);
  const TileShape& shape() const { return shape_; }

  // Computes the tables of `pixels`, which begin at window (0, 0); grid and step as in Tile. The
  // tile is valid until the next call.
  Tile build(View<const std::uint8_t> pixels, Size grid, int step);

 private:
  View<std::uint32_t> table(int index, Size size);
  TileShape shape_;
  Image<std::uint32_t> memory_;
};

}  // namespace facesat::cpu
