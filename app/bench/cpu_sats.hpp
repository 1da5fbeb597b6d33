// The sequential SAT algorithms that A. Kasagi, K. Nakano and Y. Ito measured GPUs against:
// "Parallel Algorithms for the Summed Area Table on the Asynchronous Hierarchical Memory Machine,
// with GPU implementations", ICPP 2014, section VIII. One thread, raster scan order. Depart from
// the paper in: all types, and a table beside the picture, where the paper works in place.
//
// Tables have the picture's size and follow core/table.hpp: a row -1 and a column -1 that are zero
// before and after. Out is as gpu::visit_types() has it, so that integers may wrap.
#pragma once

#include "core/image.hpp"

namespace facesat::app {

enum class Summed { values, squares };

template <Summed summed, class Out, class In>
Out summand(In pixel) {
  const Out v = static_cast<Out>(pixel);
  return summed == Summed::squares ? v * v : v;
}

// 2R2W(CPU): each row is added to the one above it; then each element to the one before it.
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

// 4R1W(CPU): every element from its three neighbours, formula (1), whose signs of the neighbours
// the paper reverses by mistake.
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
