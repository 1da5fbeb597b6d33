// Candidates are few (a thousandth of all windows), so one block is enough. For each candidate it
// counts the rejected windows directly before it in its row.
#include "core/rules.hpp"
#include "kernels/cascade/skip_rule.hpp"

namespace facesat::gpu {
namespace {

constexpr int threads = on_host ? 64 : 1024;

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

__global__ void __launch_bounds__(threads) skip_rule_kernel(const SkipRuleTask task) {
  __shared__ SharedArray<unsigned, 2> counts;  // candidates, windows
  if (threadIdx.x == 0) {
    counts[0] = *task.candidate_count;
    counts[1] = 0;
  }
  __syncthreads();
  const unsigned candidates = counts[0];
  for (unsigned i = threadIdx.x; i < min(candidates, task.capacity); i += threads) {
    const Candidate candidate = task.candidates[i];
    if (!task.skips || is_visited(task.levels[candidate.level], task.rejected, candidate.cell))
      task.windows[atomic_add(counts, 1, 1)] = candidate;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    *task.counts = {counts[1], candidates};
    *task.candidate_count = 0;
  }
}

}  // namespace

void enqueue_skip_rule(const SkipRuleTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(skip_rule_kernel, dim3(1), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
