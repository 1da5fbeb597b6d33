// Sequential algorithms for the integral image (summed area table, SAT), the CPU baseline of
// A. Kasagi, K. Nakano, Y. Ito: "Parallel Algorithms for the Summed Area Table on the Asynchronous
// Hierarchical Memory Machine, with GPU implementations", ICPP 2014, section VIII. One thread,
// raster scan order. Two things differ from the paper: all types of kernels/sat/types.hpp are
// supported, and the table is separate from the picture, where the paper works in place.
//
// A table has the picture's size and, as in core/image.hpp, a border (row -1 and column -1) that is
// zero on entry and stays zero. Out is the second type that gpu::visit_types() passes; integer
// types are unsigned, so that sums may wrap.
#pragma once

#include "core/image.hpp"

namespace facesat::lab {

// The names of the CPU's algorithms: the two below, and the CPU backend's own integral()
// (core/cpu/integral.hpp).
constexpr const char *id_2r2w = "cpu_2r2w", *id_4r1w = "cpu_4r1w", *id_backend = "cpu_backend";

enum class Summed { values, squares };

template <Summed summed, class Out, class In>
Out summand(In pixel) {
  const Out v = static_cast<Out>(pixel);
  return summed == Summed::squares ? v * v : v;
}

// 2R2W(CPU), two reads and two writes per element: running sums down the columns, then along the
// rows.
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

// 4R1W(CPU), four reads and one write per element: the paper's formula (1) gives each element from
// its pixel and three neighbours. The paper has the signs of the neighbours reversed; here they are
// correct.
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

}  // namespace facesat::lab
