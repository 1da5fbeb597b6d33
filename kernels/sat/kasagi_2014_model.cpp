#include "kernels/sat/kasagi_2014_model.hpp"

#include <algorithm>
#include <cmath>

namespace facesat::gpu {
namespace {

double elements(Size size) {
  return static_cast<double>(size.area());
}

int anti_diagonals(Size size) {
  return size.width + size.height - 1;
}

// The size in blocks of w x w elements, rounded up.
Size in_blocks(Size size, int w) {
  return {divide_up(size.width, w), divide_up(size.height, w)};
}

// The paper's k: how often the matrix of the sums of blocks, with `blocks` elements along its
// longer side, is divided into blocks again until one block is left.
int recursion_depth(int blocks, int w) {
  int depth = 0;
  for (; blocks > w; blocks = divide_up(blocks, w)) ++depth;
  return depth;
}

}  // namespace

HmmCost hmm_2r2w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .stride_table = 2 * n, .barriers = 1};
}

HmmCost hmm_4r4w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = 7 * n, .barriers = 3};
}

HmmCost hmm_2r1w(Size size, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const int k = recursion_depth(std::max(blocks.width, blocks.height), w);
  return {.pixels = 2 * n, .table = n + 8 * n / w, .barriers = 2.0 * k + 2};
}

HmmCost hmm_4r1w(Size size) {
  const double n = elements(size);
  return {.stride_pixels = n, .stride_table = 4 * n, .barriers = anti_diagonals(size) - 1.0};
}

HmmCost hmm_1r1w(Size size, int w) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .barriers = anti_diagonals(in_blocks(size, w)) - 1.0};
}

int diagonal_length(Size matrix, int k) {
  const auto [width, height] = matrix;
  return std::min({k + 1, width, height, anti_diagonals(matrix) - k});
}

int corner_diagonals(Size tiles, double r) {
  // The tiles of both corners; a little more than r says, because r may have been rounded down.
  const double wanted = r * elements(tiles) + 1e-3;
  double made = 0;  // of one corner
  int count = 0;
  for (; count < anti_diagonals(tiles); ++count) {
    const int length = diagonal_length(tiles, count);
    if (2 * made + length > wanted) break;
    made += length;
  }
  return count;
}

// 2R1W makes a corner, 1R1W what is between the corners, and 2R1W the other corner, if there are
// such tiles; each step of these but the very last one ends in a barrier.
HmmCost hmm_hybrid(Size size, double r, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const int all = anti_diagonals(blocks), first = corner_diagonals(blocks, r),
            last = std::min(first, all - first);
  const int k = recursion_depth(std::min(first, std::max(blocks.width, blocks.height)), w);
  const auto steps = [&](int diagonals) { return diagonals > 0 ? 2.0 * k + 3 : 0.0; };
  return {.pixels = (1 + r) * n,
          .table = n,
          .barriers = steps(first) + (all - first - last) + steps(last) - 1};
}

double hmm_time_units(const HmmCost& cost, double l, int w) {
  return (cost.pixels + cost.table) / w + cost.stride_pixels + cost.stride_table +
         (cost.barriers + 1) * (l - 1);
}

double hmm_us(const HmmCost& cost, const SatTypeInfo& type, const MicroFigures& figures) {
  const double bytes =
      (cost.pixels + hmm_width * cost.stride_pixels) * static_cast<double>(type.input_bytes) +
      (cost.table + hmm_width * cost.stride_table) * static_cast<double>(type.table_bytes);
  const double l_us = microseconds(figures.global_read, figures) + figures.launch_us;
  return bytes / copy_bytes_per_us(figures) + (cost.barriers + 1) * l_us;
}

}  // namespace facesat::gpu
