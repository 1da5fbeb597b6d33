// A tile of windows: its place, and its patch of the integral images.
#pragma once

#include "core/rules.hpp"
#include "kernels/cascade/patch.cuh"

namespace facesat::gpu {

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

// Copies a plane of the patch from a table, with `warps` warps. Loads are unconditional: past the
// table's edges, where no window reads, they re-read the last valid element. Each lane takes a
// column, each warp every `warps`-th row of it.
template <int warps>
__device__ __forceinline__ void load_plane(View<const std::uint32_t> table,
                                           const PatchLayout& layout, const Tile& tile,
                                           const Patch& patch, int plane) {
  constexpr int rows_at_once = 6;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int x = tile.x() - 1, y = tile.y() - 1;
  const int last_row = table.size.height - 1 - y, pitch = static_cast<int>(table.pitch);
  for (int i = lane; i < layout.columns; i += 32) {
    const std::uint32_t* column = table.row(y) + min(x + i, table.size.width - 1);
    const int word = plane * layout.plane_words() + layout.word(i, 0);
    for (int j = warp; j < layout.rows; j += warps * rows_at_once) {
      std::uint32_t v[rows_at_once];
      FACESAT_UNROLL
      for (int k = 0; k < rows_at_once; ++k) v[k] = column[min(j + k * warps, last_row) * pitch];
      FACESAT_UNROLL
      for (int k = 0; k < rows_at_once; ++k)
        if (j + k * warps < layout.rows) patch[word + (j + k * warps) * layout.pitch] = v[k];
    }
  }
}

// The sum of a rectangle, from the table element left of and above it.
__device__ __forceinline__ std::uint32_t sum_of(const std::uint32_t* corner, std::ptrdiff_t pitch,
                                                Size size) {
  const std::uint32_t* below = corner + size.height * pitch;
  return corner[0] - corner[size.width] - below[0] + below[size.width];
}

// 1 / (area * standard deviation) of a window, or 0 if its variance is too low.
__device__ __forceinline__ float inverse_deviation(const EvaluateTask& task, const StepCascade& c,
                                                   int x, int y) {
  const auto sum =
      static_cast<std::int64_t>(sum_of(task.sum.row(y) + x, task.sum.pitch, task.inner));
  const auto squared_sum = static_cast<std::int64_t>(
      sum_of(task.squared_sum.row(y) + x, task.squared_sum.pitch, task.inner));
  const std::int64_t spread = c.normalised_area * squared_sum - sum * sum;
  if (spread < c.min_spread) return 0;
  return rules::inverse_deviation(spread);
}

// The windows of a 32-bit word that the skip rule certainly skips, given the word's `rejected`
// bits. A run at the word's start is ignored unless the word begins the row, because the run may
// have begun before.
__device__ __forceinline__ unsigned surely_skipped(unsigned rejected, bool begins_row) {
  return rules::skipped_by(begins_row ? rejected : rejected & (rejected + 1));
}

}  // namespace facesat::gpu
