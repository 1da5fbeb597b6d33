// A block computes one tile of one level; tiles are numbered consecutively over all levels. The
// four source pixels per result come from the cache: levels are smaller than the image, and
// neighbours share source pixels. A thread issues the loads of all its rows before it waits for any
// of them.
#include "kernels/device/platform.hpp"
#include "kernels/image/resize.hpp"

namespace facesat::gpu {
namespace {

constexpr int tile_width = 64, tile_height = 16, rows_per_thread = 4;
constexpr int weight_bits = 9;  // of a PackedTap: weights go up to 256

__device__ __forceinline__ int source_of(PackedTap tap) {
  return static_cast<int>(tap >> weight_bits);
}
__device__ __forceinline__ unsigned weight_of(PackedTap tap) {
  return tap & ((1u << weight_bits) - 1);
}

__global__ void resize_kernel(const std::uint8_t* __restrict__ gray, int gray_pitch, Size source,
                              std::uint8_t* __restrict__ atlas, int atlas_pitch,
                              const DeviceResizePlan plan) {
  const ResizeTile tile = plan.tiles[blockIdx.x];
  const ResizeLevel level = plan.levels[tile.level];
  const PackedTap* taps = plan.taps;
  const int x = tile.column * tile_width + static_cast<int>(threadIdx.x);
  if (x >= level.width) return;
  const PackedTap column = taps[level.column_taps + x];
  const int left = source_of(column), right = min(left + 1, source.width - 1);
  const unsigned right_weight = weight_of(column), left_weight = 256 - right_weight;
  const int first_row = tile.row * tile_height + static_cast<int>(threadIdx.y) * rows_per_thread;
  PackedTap rows[rows_per_thread];
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_thread; ++i)
    rows[i] = taps[level.row_taps + min(first_row + i, level.height - 1)];
  struct {
    unsigned upper_left, upper_right, lower_left, lower_right;
  } from[rows_per_thread];
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_thread; ++i) {
    const int top = source_of(rows[i]), bottom = min(top + 1, source.height - 1);
    const std::uint8_t* upper = gray + static_cast<std::ptrdiff_t>(top) * gray_pitch;
    const std::uint8_t* lower = gray + static_cast<std::ptrdiff_t>(bottom) * gray_pitch;
    from[i] = {upper[left], upper[right], lower[left], lower[right]};
  }
  std::uint8_t* to =
      atlas + static_cast<std::ptrdiff_t>(level.y + first_row) * atlas_pitch + level.x + x;
  FACESAT_UNROLL
  for (int i = 0; i < rows_per_thread; ++i, to += atlas_pitch) {
    if (first_row + i >= level.height) return;
    const unsigned u = left_weight * from[i].upper_left + right_weight * from[i].upper_right;
    const unsigned v = left_weight * from[i].lower_left + right_weight * from[i].lower_right;
    const unsigned weight = weight_of(rows[i]);
    *to = static_cast<std::uint8_t>(((256 - weight) * u + weight * v + 32768) >> 16);
  }
}

void append_taps(std::vector<PackedTap>& all, int source, int length) {
  for (const ResizeTap& tap : resize_taps(source, length))
    all.push_back(static_cast<PackedTap>(tap.first) << weight_bits | tap.second_weight);
}

}  // namespace

ResizePlan plan_resize(const Pyramid& pyramid, const AtlasPlan& atlas, const LevelGroup& group) {
  ResizePlan plan;
  for (int i = group.first; i < group.first + group.count; ++i) {
    const Level& level = pyramid.levels[i];
    const int columns = static_cast<int>(plan.taps.size());
    append_taps(plan.taps, pyramid.image.width, level.size.width);
    append_taps(plan.taps, pyramid.image.height, level.size.height);
    for (int row = 0; row * tile_height < level.size.height; ++row)
      for (int column = 0; column * tile_width < level.size.width; ++column)
        plan.tiles.push_back(
            {i - group.first, static_cast<std::uint16_t>(column), static_cast<std::uint16_t>(row)});
    const Rect place = atlas.rectangle(pyramid, i);
    plan.levels.push_back(
        {place.x, place.y, place.width, place.height, columns, columns + place.width});
  }
  return plan;
}

void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const DeviceResizePlan& plan, StreamHandle stream) {
  const dim3 block(tile_width, tile_height / rows_per_thread);
  FACESAT_LAUNCH(resize_kernel, dim3(plan.tile_count), block, stream, gray.data,
                 static_cast<int>(gray.pitch), gray.size, atlas.data, static_cast<int>(atlas.pitch),
                 plan);
}

}  // namespace facesat::gpu
