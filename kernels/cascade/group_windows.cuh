// What the kernels that unite windows have in common.
#pragma once

#include "core/grouping.hpp"
#include "core/rules.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

__device__ __forceinline__ Rect box_of(const BoxLevel& level, std::uint32_t cell) {
  const auto width = static_cast<std::uint32_t>(level.grid_width);
  const int x = static_cast<int>(cell % width) * level.step;
  const int y = static_cast<int>(cell / width) * level.step;
  return {rules::in_image(x, level.scale), rules::in_image(y, level.scale), level.box.width,
          level.box.height};
}

}  // namespace facesat::gpu
