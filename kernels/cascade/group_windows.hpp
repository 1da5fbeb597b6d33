// From candidates (windows that passed every stage) to classes of similar windows in host memory:
// applies OpenCV's skip rule, unites similar windows, and adds up each class (see
// core/grouping.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/grouping.hpp"
#include "core/pyramid.hpp"
#include "core/rules.hpp"
#include "kernels/cascade/compiled_cascade.hpp"
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
  std::int32_t first_near;  // the first level with windows similar in size, or its own index
};
std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid);

__device__ __forceinline__ Rect box_of(const BoxLevel& level, std::uint32_t cell) {
  const auto width = static_cast<std::uint32_t>(level.grid_width);
  const int x = static_cast<int>(cell % width) * level.step;
  const int y = static_cast<int>(cell / width) * level.step;
  return {rules::in_image(x, level.scale), rules::in_image(y, level.scale), level.box.width,
          level.box.height};
}

// A rectangle that is read at once.
struct alignas(16) AlignedRect {
  Rect rect;
};

// By this, windows are ordered as OpenCV finds them: by level, then by row and column.
constexpr std::uint64_t order_of(const Candidate& window) {
  return static_cast<std::uint64_t>(window.level) << 32 | window.cell;
}

// The windows of a class, added up.
struct alignas(16) ClassSums {
  std::int64_t x, y, width, height;  // of their boxes
  std::int64_t best;                 // the greatest Candidate::sum
  std::uint64_t first;               // the least order_of() of its windows
  std::uint32_t count, unused[3];
};
static_assert(sizeof(ClassSums) == 64);

struct WindowCounts {
  std::uint32_t windows;  // that the skip rule leaves
  std::uint32_t candidates;
  std::uint32_t classes;  // delivered to the host
};

struct GroupWindowsTask {
  const EvaluateLevel* evaluated_levels;  // of the whole pyramid
  const BoxLevel* box_levels;             // the same levels
  int level_count;
  const Candidate* candidates;     // in any order, no two the same
  std::uint32_t* candidate_count;  // reset to 0 for the next frame
  std::uint32_t capacity;          // of candidates and `found`
  const std::uint32_t* rejected;   // bits of the windows that the first stage rejects
  bool skips;                      // false: the skip rule drops nothing
  bool unites;                     // false: there are no classes
  std::uint32_t least;             // smaller classes are not delivered; at least 1

  // The windows, in any order: those candidates that the skip rule leaves.
  Candidate* found;

  // Workspace that is kept until the last launch.
  WindowCounts* counts;  // without `classes`
  // For each level: the number of its windows, and then the next free place for one of them.
  std::uint32_t* level_places;
  std::uint32_t* level_begins;  // for each level: the first place of its windows
  // For each of up to max_united windows, sorted by level:
  AlignedRect* boxes;         // in the frame
  std::int64_t* sums;         // Candidate::sum
  std::uint32_t* first_near;  // the first window that may be similar, as far as the size goes
  std::uint32_t* parents;     // another window of the class; the root of the class has itself
  std::uint32_t* roots;       // before classes that meet late are united
  ClassSums* classes;         // at the places of the roots

  // The results, in memory of the device or in host memory that it can write to. `delivered` has
  // room for max_united classes, which come in any order.
  WindowCounts* delivered_counts;
  ClassSums* delivered;
};

// Above this number of windows nothing is united, and there are no classes: comparing all pairs
// would take too long.
constexpr std::uint32_t max_united = 1 << 15;

// Up to this number of windows, enqueue_few_windows() is enough.
constexpr std::uint32_t few_windows = on_host ? 64 : 256;

// One launch of one block. It applies the skip rule and delivers the counts. Few windows are
// united, if task.unites, and their classes delivered.
void enqueue_few_windows(const GroupWindowsTask& task, StreamHandle stream);

// After enqueue_few_windows(), with the same task, if task.unites: several launches, which unite
// many windows and deliver their classes. If there were few, they do nothing.
void enqueue_many_windows(const GroupWindowsTask& task, StreamHandle stream);

// ---- what the device has found, as the host sees it ----

// The windows that the candidates stand for, ordered by level, y, x.
inline std::vector<Window> windows_of(std::vector<Candidate> candidates, const Pyramid& pyramid,
                                      const CompiledCascade& cascade) {
  std::ranges::sort(candidates, {}, order_of);
  std::vector<Window> windows;
  windows.reserve(candidates.size());
  for (const Candidate& one : candidates) {
    const Level& level = pyramid.levels[one.level];
    const auto width = static_cast<std::uint32_t>(level.grid.width);
    const int x = static_cast<int>(one.cell % width) * level.step,
              y = static_cast<int>(one.cell / width) * level.step;
    windows.push_back({one.level, x, y, score_of(cascade, one.sum),
                       window_in_image(level, pyramid.window, x, y)});
  }
  return windows;
}

// In the order of their first windows.
inline std::vector<WindowClass> classes_of(std::span<const ClassSums> delivered,
                                           const CompiledCascade& cascade) {
  std::vector<ClassSums> sums(delivered.begin(), delivered.end());
  std::ranges::sort(sums, {}, &ClassSums::first);
  std::vector<WindowClass> classes;
  classes.reserve(sums.size());
  for (const ClassSums& one : sums)
    classes.push_back({one.x, one.y, one.width, one.height, static_cast<int>(one.count),
                       score_of(cascade, one.best)});
  return classes;
}

}  // namespace facesat::gpu
