#include "core/cpu/tile.hpp"

#include "core/cpu/integral.hpp"
#include "core/image.hpp"

namespace facesat::cpu {
namespace {

constexpr int line = 16;  // table elements per cache line

constexpr int rounded_up(int n) {
  return (n + line - 1) / line * line;
}

}  // namespace

// Windows are evaluated in groups of neighbours, and the last group of a row may begin with its
// last window: hence room for `group_windows` more elements. In split rows (even columns first,
// then odd ones) the odd part begins on a cache line, which takes up to `line` elements more.
std::ptrdiff_t TileShape::pitch() const {
  return Table::padded_width(pixels.width + line + group_windows);
}

Layout TileShape::layout(int step) const {
  // Where the odd columns begin; 0: columns are not split.
  const std::ptrdiff_t odd = step == 2 ? rounded_up(pixels.width / 2 + 1) : 0;
  return {1, odd, pitch(), tilted ? plane() : 0};
}

std::uint64_t TileShape::bytes() const {
  return static_cast<std::uint64_t>(1 + tilted + squares) * static_cast<std::uint64_t>(plane()) *
         sizeof(std::uint32_t);
}

// Besides the border row above, each table gets a row below its last, because groups may read past
// the end of that.
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
