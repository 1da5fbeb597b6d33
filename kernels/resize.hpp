// gray -> all levels of a group, into the atlas, in one launch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/pyramid.hpp"
#include "kernels/platform.hpp"

namespace facesat::gpu {

// One axis tap in a word: the first source pixel, and the weight (0 .. 256) of the one behind it.
using PackedTap = std::uint32_t;

// A level as the kernel needs it. Its tiles are numbered from first_tile on.
struct ResizeLevel {
  int x, y, width, height;    // place in the atlas
  int column_taps, row_taps;  // indices of the first tap of each axis
  int first_tile, tiles_across;
};

// What one launch needs besides pictures; made once for a pyramid, on the host.
struct ResizePlan {
  std::vector<ResizeLevel> levels;
  std::vector<PackedTap> taps;
  int tiles = 0;
};
ResizePlan plan_resize(const Pyramid& pyramid, const LevelGroup& group);

// OpenCV's INTER_LINEAR_EXACT (see core/cpu/resize.hpp) for every level of the plan. All pointers
// are device memory: `levels` and `taps` are copies of the plan's. Pixels between levels stay as
// they are.
void enqueue_resize(View<const std::uint8_t> gray, View<std::uint8_t> atlas,
                    const ResizeLevel* levels, int level_count, const PackedTap* taps, int tiles,
                    StreamHandle stream);

}  // namespace facesat::gpu
