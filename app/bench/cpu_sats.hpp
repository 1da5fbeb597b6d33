// The sequential SAT (summed area table, integral image) algorithms that A. Kasagi, K. Nakano and
// Y. Ito compared GPUs with: "Parallel Algorithms for the Summed Area Table on the Asynchronous
// Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VIII. One thread,
// raster scan order. Two things differ from the paper: all types are supported, and the table is
// separate from the picture, where the paper works in place.
//
// Tables have the picture's size and follow core/table.hpp: row -1 and column -1 are zero on entry
// and stay so. Out is the type that gpu::visit_types() passes: integers are unsigned, so that they
// may wrap.
#pragma once

#include "core/image.hpp"

namespace facesat::app {

enum class Summed { values, squares };

template <Summed summed, class Out, class In>
Out summand(In pixel) {
  const Out v = static_cast<Out>(pixel);
  return summed == Summed::squares ? v * v : v;
}

// 2R2W(CPU): the row above is added to each row; then each element is added to the next one in its
// row.
template <Summed summed, class In, class Out>
void cpu_2r2w(View<const In> picture, View<Out> table) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y) {
    const In* const pixels = picture.row(y);
    const Out* const above = table.row(y - 1);
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x) row[x] = above[x] + summand<summed, Out>(pixels[x]);
  }
  for (int y = 0; y < height; ++y) {
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x) row[x] += row[x - 1];
  }
}

// 4R1W(CPU): every element from its three neighbours by formula (1), with the signs of the
// neighbours corrected: the paper reverses them by mistake.
template <Summed summed, class In, class Out>
void cpu_4r1w(View<const In> picture, View<Out> table) {
  const auto [width, height] = picture.size;
  for (int y = 0; y < height; ++y) {
    const In* const pixels = picture.row(y);
    const Out* const above = table.row(y - 1);
    Out* const row = table.row(y);
    for (int x = 0; x < width; ++x)
      row[x] = row[x - 1] + (above[x] - above[x - 1] + summand<summed, Out>(pixels[x]));
  }
}

}  // namespace facesat::app
