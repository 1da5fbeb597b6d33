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

// 2R1W makes two triangles of tiles, whose legs are sqrt(r) of the shorter side, and 1R1W the tiles
// between them. Barriers are those of 2R1W twice, those within 1R1W, and the two in between.
HmmCost hmm_hybrid(Size size, double r, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const double legs = std::sqrt(r) * std::min(blocks.width, blocks.height);
  const int k = recursion_depth(static_cast<int>(std::ceil(legs)), w);
  return {.pixels = (1 + r) * n,
          .table = n,
          .barriers = 2 * (2.0 * k + 2) + (anti_diagonals(blocks) - 2 * legs - 1) + 2};
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
