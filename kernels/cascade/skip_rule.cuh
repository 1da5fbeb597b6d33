// OpenCV's skip rule: after a window that the first stage rejects, the next one in its row is
// skipped. So a window is visited if the number of rejected windows directly before it in its row
// is even.
#pragma once

#include "core/rules.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// Whether OpenCV's scan visits a candidate, i.e. does not skip it.
__device__ __forceinline__ bool is_visited(const EvaluateLevel& level,
                                           const std::uint32_t* rejected, std::uint32_t cell) {
  const int y = static_cast<int>(cell / static_cast<std::uint32_t>(level.grid_width));
  const int x = static_cast<int>(cell % static_cast<std::uint32_t>(level.grid_width));
  const std::uint32_t* row = rejected + level.first_word + y * level.tiles_across;
  // run: rejected windows counted so far. looked_at: how many of the upper bits of `bits` stand for
  // windows before x.
  int run = 0, looked_at = x % 32;
  unsigned bits = looked_at > 0 ? row[x / 32] << (32 - looked_at) : 0;
  for (int word = x / 32;;) {
    // The rejections at the top of the word. Zeros were shifted in, so there are never more than
    // `looked_at`.
    const int ones = __clz(static_cast<int>(~bits));
    run += ones;
    if (ones < looked_at || word == 0) break;
    bits = row[--word];
    looked_at = 32;
  }
  return !rules::is_skipped_after(run);
}

// Calls keep(place, candidate) for every candidate that OpenCV visits; the places count from 0 on,
// in no particular order. Called by all threads of one block, which is enough, because a thousandth
// of all windows are candidates. Returns the numbers of windows and candidates, after a barrier.
template <class Keep>
__device__ __forceinline__ WindowCounts apply_skip_rule(const GroupWindowsTask& task, Keep keep) {
  __shared__ SharedArray<unsigned, 2> counts;  // candidates, windows
  if (threadIdx.x == 0) {
    counts[0] = *task.candidate_count;
    counts[1] = 0;
    *task.candidate_count = 0;  // for the next frame
  }
  __syncthreads();
  const unsigned candidates = counts[0];
  for (unsigned i = threadIdx.x; i < min(candidates, task.capacity); i += blockDim.x) {
    const Candidate candidate = task.candidates[i];
    if (!task.skips ||
        is_visited(task.evaluated_levels[candidate.level], task.rejected, candidate.cell))
      keep(atomic_add(counts, 1, 1), candidate);
  }
  __syncthreads();
  return {counts[1], candidates, 0};
}

}  // namespace facesat::gpu
