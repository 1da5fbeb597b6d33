// Windows on their way from one kernel to the next.
#pragma once

#include <cstdint>

namespace facesat::gpu {

// A window that passed some stages of a Haar cascade.
struct LateWindow {
  std::uint32_t cell;  // as in Candidate
  std::int32_t level;
  float inverse_deviation;  // 1 / (area * standard deviation); 0: no window
};

struct WindowQueue {
  LateWindow* windows;   // null: there is no queue
  std::uint32_t* count;  // may exceed the capacity; then places up to the capacity are filled
  std::uint32_t capacity;
};

}  // namespace facesat::gpu
