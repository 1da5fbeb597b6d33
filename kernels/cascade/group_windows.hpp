// Sorts the windows of a frame that passed every stage, and unites similar ones into classes (see
// core/grouping.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/pyramid.hpp"
#include "kernels/cascade/skip_rule.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// The numbers that turn a cell of a level's grid of windows (see Candidate) into the rectangle that
// the window covers in the frame.
struct BoxLevel {
  float scale;              // frame pixels per pixel of the level
  std::int32_t step;        // pixels of the level from one window to the next
  std::int32_t grid_width;  // windows in a row of the grid
  Size box;                 // of each window of this level, in pixels of the frame
};
std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid);

// A window as the host receives it.
struct alignas(16) GroupedWindow {
  Rect box;  // in the frame
  Candidate window;
  // The index in the sorted array of the window that represents this window's class; for that
  // window itself, its own index.
  std::uint32_t parent;
  std::uint32_t unused[3];  // padding to a multiple of 16 bytes
};
static_assert(sizeof(GroupedWindow) == 48);

struct GroupWindowsTask {
  const WindowCounts* counts;
  const Candidate* found;  // windows that passed, in any order, no two the same
  const BoxLevel* levels;  // of the pyramid
  bool unites;             // false: every window stays a class of its own
  GroupedWindow* windows;  // the result, ordered by level and cell
  // Copies of `counts` and `windows`; may be host memory that the device can write to.
  WindowCounts* delivered_counts;
  GroupedWindow* delivered;
};

// Above this number of windows nothing is united: comparing all pairs would take too long.
constexpr std::uint32_t max_united = 1 << 15;

// Sorts the windows, unites similar ones and delivers them to the host. Compares all pairs: for the
// few thousand windows that pass in a frame this is cheaper than a cleverer method.
void enqueue_group_windows(const GroupWindowsTask& task, StreamHandle stream);

}  // namespace facesat::gpu
