// A block makes one tile of one level; tiles of all levels are numbered through. Four source pixels
// a result come from the cache: levels are smaller than the image, and neighbours share them.
#include "kernels/resize.hpp"

namespace facesat::gpu {
namespace {

constexpr int tile_width = 64, tile_height = 16, rows_a_thread = 4;
constexpr int weight_bits = 9;

__device__ __forceinline__ int source_of(PackedTap tap) {
  return static_cast<int>(tap >> weight_bits);
}
__device__ __forceinline__ unsigned weight_of(PackedTap tap) {
  return tap & ((1u << weight_bits) - 1);
}

// The last level whose first tile is not behind `tile`.
__device__ __forceinline__ int level_of(int tile, const ResizeLevel* levels, int count) {
  int low = 0;
  for (int high = count; high - low > 1;) {
    const int middle = (low + high) / 2;
    if (levels[middle].first_tile <= tile)
      low = middle;
    else
      high = middle;
  }
  return low;
}

__global__ void resize_kernel(const std::uint8_t* __restrict__ gray, int gray_pitch, Size source,
                              std::uint8_t* __restrict__ atlas, int atlas_pitch,
                              const ResizeLevel* __restrict__ levels, int level_count,
                              const PackedTap* __restrict__ taps) {
  const ResizeLevel level = levels[level_of(static_cast<int>(blockIdx.x), levels, level_count)];
  const int tile = static_cast<int>(blockIdx.x) - level.first_tile;
  const int x = tile % level.tiles_across * tile_width + static_cast<int>(threadIdx.x);
  if (x >= level.width) return;
  const PackedTap column = taps[level.column_taps + x];
  const int left = source_of(column), right = min(left + 1, source.width - 1);
  const unsigned right_weight = weight_of(column), left_weight = 256 - right_weight;
  for (int i = 0; i < rows_a_thread; ++i) {
    const int y =
        tile / level.tiles_across * tile_height + static_cast<int>(threadIdx.y) * rows_a_thread + i;
    if (y >= level.height) return;
    const PackedTap row = taps[level.row_taps + y];
    const int top = source_of(row), bottom = min(top + 1, source.height - 1);
    const std::uint8_t* upper = gray + static_cast<std::ptrdiff_t>(top) * gray_pitch;
    const std::uint8_t* lower = gray + static_cast<std::ptrdiff_t>(bottom) * gray_pitch;
    const unsigned u = left_weight * upper[left] + right_weight * upper[right];
    const unsigned v = left_weight * lower[left] + right_weight * lower[right];
    atlas[static_cast<std::ptrdiff_t>(level.y + y) * atlas_pitch + level.x + x] =
        static_cast<std::uint8_t>(((256 - weight_of(row)) * u + weight_of(row) * v + 32768) >> 16);
  }
}

void append_taps(std::vector<PackedTap>& all, int source, int length) {
  std::vector<ResizeTap> taps(length);
  resize_taps(source, taps);
  for (const ResizeTap& tap : taps)
    all.push_back(static_cast<PackedTap>(tap.first) << weight_bits | tap.second_weight);
}

}  // namespace

ResizePlan plan_resize(const Pyramid& pyramid, const LevelGroup& group) {
  ResizePlan plan;
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Level& level = pyramid.levels[i];
    const int across = (level.size.width + tile_width - 1) / tile_width;
    const int down = (level.size.height + tile_height - 1) / tile_height;
    const int columns = static_cast<int>(plan.taps.size());
    append_taps(plan.taps, pyramid.image.width, level.size.width);
    append_taps(plan.taps, pyramid.image.height, level.size.height);
    plan.levels.push_back({level.x, level.y, level.size.width, level.size.height, columns,
                           columns + level.size.width, plan.tiles, across});
    plan.tiles += across * down;
  }
  return plan;
}

void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const ResizeLevel* levels, int level_count, const PackedTap* taps, int tiles,
                    StreamHandle stream) {
  const dim3 block(tile_width, tile_height / rows_a_thread);
  FACESAT_LAUNCH(resize_kernel, dim3(tiles), block, stream, gray.data, static_cast<int>(gray.pitch),
                 gray.size, atlas.data, static_cast<int>(atlas.pitch), levels, level_count, taps);
}

}  // namespace facesat::gpu
