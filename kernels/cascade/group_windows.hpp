// Sorts the windows of a frame and unites similar ones into classes (see core/grouping.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/pyramid.hpp"
#include "kernels/cascade/skip_rule.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// The numbers that turn a cell of a level's grid (see Candidate) into a box of the image.
struct BoxLevel {
  float scale;                    // image pixels per pixel of the level
  std::int32_t step, grid_width;  // pixels from window to window; windows in a row of the grid
  Size box;                       // of each window of this level, in pixels of the image
};
std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid);

// A window as the host receives it.
struct alignas(16) GroupedWindow {
  Rect box;  // in the image
  Candidate window;
  // The index of a window of the same class of similar windows; the root of a class has its own
  // index (see core/grouping.hpp).
  std::uint32_t parent;
  std::uint32_t unused[3];  // padding to a multiple of 16 bytes
};
static_assert(sizeof(GroupedWindow) == 48);

struct GroupWindowsTask {
  const WindowCounts* counts;
  const Candidate* found;  // the windows, in any order, no two the same
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
// few thousand windows of a frame this is cheaper than a cleverer method.
void enqueue_group_windows(const GroupWindowsTask& task, StreamHandle stream);

}  // namespace facesat::gpu
