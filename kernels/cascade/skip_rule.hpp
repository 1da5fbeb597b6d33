// candidates -> windows: OpenCV's skip rule.
#pragma once

#include <cstdint>

#include "kernels/cascade/evaluate.hpp"

namespace facesat::gpu {

// How many windows there are, and how many candidates there were for them.
struct WindowCounts {
  std::uint32_t windows, candidates;
};

struct SkipRuleTask {
  const EvaluateLevel* levels;  // of all groups
  const std::uint32_t* rejected;
  const Candidate* candidates;
  std::uint32_t* candidate_count;  // is set to 0 for the next frame
  std::uint32_t capacity;          // of candidates and windows
  bool skips;                      // false: every candidate becomes a window
  WindowCounts* counts;
  Candidate* windows;
};

// A window that the first stage rejects lets the next one in its row be left out: so a window is
// visited if the run of rejections just before it has even length. Windows come in no particular
// order. One block.
void enqueue_skip_rule(const SkipRuleTask& task, StreamHandle stream);

}  // namespace facesat::gpu
