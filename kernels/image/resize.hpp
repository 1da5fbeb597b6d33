// gray -> all levels of a group, into the atlas, in one launch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/image/atlas.hpp"

namespace facesat::gpu {

// One axis tap in a word: the first source pixel, and the weight (0 .. 256) of the one after it.
using PackedTap = std::uint32_t;

// A level as the kernel needs it.
struct ResizeLevel {
  int x, y, width, height;    // place in the atlas
  int column_taps, row_taps;  // indices of the first tap of each axis
};

// A block's work: a tile of a level; column and row are counted in tiles.
struct ResizeTile {
  std::int32_t level;
  std::uint16_t column, row;
};

// What one launch needs besides pictures; made once for a group of levels, on the host.
struct ResizePlan {
  std::vector<ResizeLevel> levels;
  std::vector<PackedTap> taps;
  std::vector<ResizeTile> tiles;
};
ResizePlan plan_resize(const Pyramid& pyramid, const AtlasPlan& atlas, const LevelGroup& group);

// The same in device memory.
struct DeviceResizePlan {
  const ResizeLevel* levels;
  const PackedTap* taps;
  const ResizeTile* tiles;
  int tile_count;
};

// OpenCV's INTER_LINEAR_EXACT (see core/cpu/resize.hpp) for every level of the plan. Pixels between
// levels stay as they are.
void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const DeviceResizePlan& plan, StreamHandle stream);

}  // namespace facesat::gpu
