#include "core/cpu/tile.hpp"

#include "core/cpu/integral.hpp"
#include "core/table.hpp"

namespace facesat::cpu {
namespace {

constexpr int line = 16;  // elements of a cache line

constexpr int rounded_up(int n) {
  return (n + line - 1) / line * line;
}

}  // namespace

// Rows have room past their end for a group that begins with the last window. This includes split
// rows, whose odd elements begin up to a cache line later than they need to.
std::ptrdiff_t TileShape::pitch() const {
  return Table::padded_width(pixels.width + line + group_windows);
}

Layout TileShape::layout(int step) const {
  const std::ptrdiff_t odd = step == 2 ? rounded_up(pixels.width / 2 + 1) : 0;
  return {1, odd, pitch(), tilted ? plane() : 0};
}

// Each table gets one extra row, because groups may read past the end of the last row.
TileTables::TileTables(const TileShape& shape) : shape_(shape) {
  const int tables = 1 + shape.tilted + shape.squares;
  memory_ =
      Image<std::uint32_t>({static_cast<int>(shape.pitch()), tables * (shape.pixels.height + 2)});
  std::memset(memory_.row(0), 0, memory_.size().area() * sizeof(std::uint32_t));
}

View<std::uint32_t> TileTables::table(int index, Size size) {
  return {memory_.row(0) + index * shape_.plane() + shape_.pitch() + Table::border, size,
          shape_.pitch()};
}

Tile TileTables::build(View<const std::uint8_t> pixels, Size grid, int step) {
  const View<std::uint32_t> sum = table(0, pixels.size), tilted = table(1, pixels.size),
                            squares = table(1 + shape_.tilted, pixels.size);
  const Layout layout = shape_.layout(step);
  integral(pixels, sum, shape_.squares ? squares : View<std::uint32_t>());
  if (shape_.tilted) tilted_integral(pixels, tilted);
  if (layout.odd) {
    split_columns(sum, layout.odd);
    if (shape_.squares) split_columns(squares, layout.odd);
    if (shape_.tilted) split_columns(tilted, layout.odd);
  }
  return {layout, grid, step, sum.row(-1) - 1, squares.data - sum.data};
}

}  // namespace facesat::cpu
