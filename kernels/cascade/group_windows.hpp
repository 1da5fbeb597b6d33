// From candidates (windows that passed every stage) to sorted windows in host memory: applies
// OpenCV's skip rule, sorts, and unites similar windows into classes (see core/grouping.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "core/pyramid.hpp"
#include "kernels/cascade/evaluate.hpp"
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

// The number of windows, and the number of candidates from which they were chosen.
struct WindowCounts {
  std::uint32_t windows, candidates;
};

struct GroupWindowsTask {
  const EvaluateLevel* evaluated_levels;  // of the whole pyramid
  const BoxLevel* box_levels;             // the same levels
  const Candidate* candidates;            // in any order, no two the same
  std::uint32_t* candidate_count;         // reset to 0 for the next frame
  std::uint32_t capacity;                 // of candidates and windows
  const std::uint32_t* rejected;          // bits of the windows that the first stage rejects
  bool skips;                             // false: the skip rule drops nothing
  bool unites;                            // false: every window stays a class of its own

  // Workspace that is kept until the last launch.
  WindowCounts* counts;
  Candidate* found;
  GroupedWindow* windows;

  // The results, in memory of the device or in host memory that it can write to: the counts, and
  // the windows by level and cell.
  WindowCounts* delivered_counts;
  GroupedWindow* delivered;
};

// Above this number of windows nothing is united: comparing all pairs would take too long.
constexpr std::uint32_t max_united = 1 << 15;

// Up to this number of windows, enqueue_few_windows() is enough.
constexpr std::uint32_t few_windows = on_host ? 64 : 256;

// One launch of one block. It applies the skip rule and delivers the counts; few windows are
// sorted, united and delivered, too.
void enqueue_few_windows(const GroupWindowsTask& task, StreamHandle stream);

// After enqueue_few_windows(), with the same task: several launches, which sort, unite and deliver
// many windows. If there were few, they do nothing.
void enqueue_many_windows(const GroupWindowsTask& task, StreamHandle stream);

}  // namespace facesat::gpu
