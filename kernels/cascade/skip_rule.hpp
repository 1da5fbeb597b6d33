// Applies OpenCV's skip rule to candidates (windows that passed every stage): drops those that
// OpenCV's scan skips.
#pragma once

#include <cstdint>

#include "kernels/cascade/evaluate.hpp"

namespace facesat::gpu {

// The number of windows, and the number of candidates from which they were chosen.
struct WindowCounts {
  std::uint32_t windows, candidates;
};

struct SkipRuleTask {
  const EvaluateLevel* levels;    // of the whole pyramid
  const std::uint32_t* rejected;  // bits of the windows that the first stage rejects
  const Candidate* candidates;
  std::uint32_t* candidate_count;  // reset to 0 for the next frame
  std::uint32_t capacity;          // of candidates and windows
  bool skips;                      // false: every candidate becomes a window
  WindowCounts* counts;
  Candidate* windows;
};

// After a window that the first stage rejects, the next one in its row is skipped. So a window is
// visited if the number of rejected windows directly before it in its row is even. The visited
// candidates are written to `windows` in no particular order. Launches one block.
void enqueue_skip_rule(const SkipRuleTask& task, StreamHandle stream);

}  // namespace facesat::gpu
