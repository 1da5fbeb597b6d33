// Windows on their way from one kernel to the next.
#pragma once

#include <cstdint>

namespace facesat::gpu {

// A window that passed some stages of a Haar cascade.
struct alignas(8) LateWindow {
  // In a queue, the offset of its first pixel in the atlas; in a tile's list, its number in the
  // tile, row by row (see patch_layout.hpp).
  std::uint32_t place;
  float inverse_deviation;  // 1 / (area * standard deviation); 0: no window
};

// Zero before the first use; the kernel that reads the queue leaves it so.
struct QueueState {
  std::uint32_t count;  // of windows; may exceed the capacity, up to which places are then filled
  std::uint32_t finished;  // blocks of the reading kernel
};

struct WindowQueue {
  LateWindow* windows;  // null: there is no queue
  QueueState* state;
  std::uint32_t capacity;
};

// The windows of each tile of a launch that have not been rejected so far, in any order.
struct TileLists {
  LateWindow* windows;  // tile i's begin at i * tile_windows; null: there are no lists
  std::uint32_t* counts;
};

}  // namespace facesat::gpu
