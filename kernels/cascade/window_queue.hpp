// Windows on their way from one kernel to the next.
#pragma once

#include <cstdint>

namespace facesat::gpu {

// A window that passed some stages of a Haar cascade.
struct alignas(16) LateWindow {
  std::uint32_t cell;  // as in Candidate
  std::int32_t level;
  std::uint32_t first_pixel;  // its offset in the atlas
  float inverse_deviation;    // 1 / (area * standard deviation); 0: no window
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

// A window of a tile (see patch_layout.hpp).
struct alignas(8) TileWindow {
  std::uint32_t id;  // its number in the tile, row by row
  float inverse_deviation;
};

// The windows of each tile of a launch that have not been rejected so far, in any order.
struct TileLists {
  TileWindow* windows;  // tile i's begin at i * tile_windows; null: there are no lists
  std::uint32_t* counts;
};

}  // namespace facesat::gpu
