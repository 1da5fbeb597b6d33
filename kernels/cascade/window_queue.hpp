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

}  // namespace facesat::gpu
