// A tile of windows: its place, and its patch of the integral images.
#pragma once

#include "core/rules.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// ---- the patch: a copy, in shared memory, of the part of the integral images that the block's
// windows need (see patch_layout.hpp) ----

using Patch = DynamicShared<std::uint32_t>;

// The address of a window's first element in the patch: a sum, so that windows at constant
// distances of each other can share the addresses of corners, and differ in the constant parts of
// loads.
struct Base {
  unsigned address;
  unsigned distance = 0;

  // The bank of shared memory that has this element.
  __device__ unsigned bank() const { return (address + distance) / 4 % 32; }
};

// The elements at two corners. A node packs the two offsets into one word, and the members here are
// named after the halves of that word.
struct Two {
  std::uint32_t lower, upper;
};
__device__ __forceinline__ Two elements(const Patch& patch, Base base, unsigned corners) {
  return {patch.at(add_lower_word(base.address, corners) + base.distance),
          patch.at(add_upper_word(base.address, corners) + base.distance)};
}
// The element at one corner; 4 is the size of an element in bytes.
__device__ __forceinline__ std::uint32_t element(const Patch& patch, Base base, unsigned corner) {
  return patch.at(base.address + corner * 4 + base.distance);
}

// A window: where it begins in the patch, and 1 / (area * standard deviation).
struct Place {
  Base base;
  float inverse_deviation;
};

// ---- the tile ----

struct Tile {
  EvaluateLevel level;
  std::int32_t level_index;
  int column, row;  // of its first window, in grid positions

  // Windows of a tile are numbered row by row.
  __device__ bool has(int window) const {
    return column + window % tile_columns < level.grid_width &&
           row + window / tile_columns < level.grid_height;
  }
  __device__ std::uint32_t cell(int window) const {
    return static_cast<std::uint32_t>(row + window / tile_columns) * level.grid_width + column +
           window % tile_columns;
  }
  // Coordinates in the atlas, by default of the tile's first window.
  __device__ int x(int window = 0) const {
    return level.x + (column + window % tile_columns) * level.step;
  }
  __device__ int y(int window = 0) const {
    return level.y + (row + window / tile_columns) * level.step;
  }
};

__device__ __forceinline__ Tile tile_of(const EvaluateTask& task, const EvaluateTile& tile) {
  const EvaluateLevel level = task.levels[tile.level];
  const int rows = task.cascade[level.step - 1].layout.rows_of_windows;
  return {level, static_cast<int>(tile.level), static_cast<int>(tile.column) * tile_columns,
          static_cast<int>(tile.row) * rows};
}

// Copies a plane of the patch from a table. Teams of 16 or 32 threads take a row each, a thread one
// vector of it. Past the table's edges, where no window reads, the last vector or row is read
// again. The copy is complete after wait_for_copies() and a barrier.
template <int threads>
__device__ __forceinline__ void begin_plane(View<const std::uint32_t> table,
                                            const PatchLayout& layout, const Tile& tile,
                                            const Patch& patch, int plane) {
  const int vectors = layout.vectors, rows = layout.rows, pitch = layout.pitch();
  const int log_team = vectors <= 16 ? 4 : 5, team = 1 << log_team;
  const int rows_at_once = threads >> log_team,
            first_row = static_cast<int>(threadIdx.x) >> log_team;
  const int last_row = table.size.height - tile.y(), table_pitch = static_cast<int>(table.pitch);
  const int last_vector = (table.size.width - 1) & ~3;
  for (int i = static_cast<int>(threadIdx.x) & (team - 1); i < vectors; i += team) {
    const std::uint32_t* column = table.row(tile.y() - 1) + min(tile.x() - 4 + 4 * i, last_vector);
    const auto from = [&](int j) {
      return reinterpret_cast<const uint4*>(column + min(j, last_row) * table_pitch);
    };
    if (layout.step == 1) {
      for (int j = first_row; j < rows; j += rows_at_once)
        begin_copy(patch, plane * layout.plane_words() + j * pitch + 4 * i, from(j));
      continue;
    }
    constexpr int loads = 4;  // at once
    for (int j = first_row; j < rows; j += loads * rows_at_once) {
      uint4 v[loads];
      FACESAT_UNROLL
      for (int k = 0; k < loads; ++k) v[k] = *from(j + k * rows_at_once);
      FACESAT_UNROLL
      for (int k = 0; k < loads; ++k) {
        if (j + k * rows_at_once >= rows) break;
        const int to = plane * layout.plane_words() + (j + k * rows_at_once) * pitch + 2 * i;
        patch.write(to, uint2{v[k].y, v[k].w});
        patch.write(to + pitch / 2, uint2{v[k].x, v[k].z});
      }
    }
  }
}

// Not inlined: it is almost never called.
FACESAT_NOINLINE inline __device__ float exact_inverse_deviation(std::int64_t spread) {
  return rules::inverse_deviation(spread);
}

// rules::inverse_deviation(), with fewer operations in f64. The estimate and the rule's value
// differ by less than 4 ulp of f64 (see below), so that f32 rounds both to the same value unless
// the estimate is that close to the middle between two f32 values.
//
// The first estimate y has a relative error of at most 2^-21; e = 1 - x y^2 gives the factor
// 1 / sqrt(1 - e) = 1 + e / 2 + 3 e^2 / 8 + ..., whose next term is below 2^-59. The rule rounds
// twice and the estimate three times.
__device__ __forceinline__ float inverse_deviation(std::int64_t spread) {
  constexpr unsigned dropped_bits = 29;  // of a mantissa of f64 that becomes f32
  constexpr std::uint32_t middle = 1u << (dropped_bits - 1), margin = 16;
  const double x = static_cast<double>(spread);
  const double y = approximate_rsqrt(static_cast<float>(spread));
  const double e = __fma_rn(-x * y, y, 1.0);
  const double estimate = __fma_rn(y * e, __fma_rn(0.375, e, 0.5), y);
  const std::uint32_t dropped =
      static_cast<std::uint32_t>(__double_as_longlong(estimate)) & ((1u << dropped_bits) - 1);
  if (dropped - (middle - margin) < 2 * margin) return exact_inverse_deviation(spread);
  return static_cast<float>(estimate);
}

// The sum of a rectangle, from its four corners row by row.
__device__ __forceinline__ std::uint32_t sum_of(const std::uint32_t (&corners)[4]) {
  return corners[0] - corners[1] - corners[2] + corners[3];
}

// 1 / (area * standard deviation) of a window, or 0 if its variance is too low. Given are the
// corners of the normalised rectangle in both tables.
__device__ __forceinline__ float inverse_deviation(const StepCascade& c,
                                                   const std::uint32_t (&sum_corners)[4],
                                                   const std::uint32_t (&square_corners)[4]) {
  const std::uint64_t sum = sum_of(sum_corners), squared_sum = sum_of(square_corners);
  const auto spread = static_cast<std::int64_t>(
      static_cast<std::uint32_t>(c.normalised_area) * squared_sum - sum * sum);
  return spread < c.min_spread ? 0 : inverse_deviation(spread);
}

// The windows of a 32-bit word that the skip rule certainly skips, given the word's `rejected`
// bits. A run at the word's start is ignored unless the word begins the row, because the run may
// have begun before.
__device__ __forceinline__ unsigned surely_skipped(unsigned rejected, bool begins_row) {
  return rules::skipped_by(begins_row ? rejected : rejected & (rejected + 1));
}

}  // namespace facesat::gpu
