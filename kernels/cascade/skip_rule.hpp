// candidates -> windows: OpenCV's skip rule.
#pragma once

#include <cstdint>

#include "kernels/cascade/evaluate.hpp"

namespace facesat::gpu {

// The number of windows, and the number of candidates from which they were chosen.
struct WindowCounts {
  std::uint32_t windows, candidates;
};

struct SkipRuleTask {
  const EvaluateLevel* levels;  // of all groups
  const std::uint32_t* rejected;
  const Candidate* candidates;
  std::uint32_t* candidate_count;  // reset to 0 for the next frame
  std::uint32_t capacity;          // of candidates and windows
  bool skips;                      // false: every candidate becomes a window
  WindowCounts* counts;
  Candidate* windows;
};

// After a window that the first stage rejects, the next one in its row is skipped: so a window is
// visited if the run of rejections just before it has even length. Windows are written in no
// particular order. Launches one block.
void enqueue_skip_rule(const SkipRuleTask& task, StreamHandle stream);

}  // namespace facesat::gpu
