// What the device has found, as the host sees it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/grouping.hpp"
#include "core/pyramid.hpp"
#include "kernels/cascade/compiled_cascade.hpp"
#include "kernels/cascade/group_windows.hpp"

namespace facesat::gpu {

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
