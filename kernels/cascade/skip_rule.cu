// Candidates are few (a thousandth of all windows), so one block is enough. It examines the row
// before each candidate.
#include "core/rules.hpp"
#include "kernels/cascade/skip_rule.hpp"

namespace facesat::gpu {
namespace {

constexpr int threads = on_host ? 64 : 1024;

__device__ __forceinline__ bool is_visited(const EvaluateLevel& level,
                                           const std::uint32_t* rejected, std::uint32_t cell) {
  const int y = static_cast<int>(cell / static_cast<std::uint32_t>(level.grid_width));
  const int x = static_cast<int>(cell % static_cast<std::uint32_t>(level.grid_width));
  const std::uint32_t* row = rejected + level.first_word + y * level.tiles_across;
  int run = 0, looked_at = x % 32;  // looked_at: valid bits, from the top
  unsigned bits = looked_at > 0 ? row[x / 32] << (32 - looked_at) : 0;
  for (int word = x / 32;;) {
    const int ones = __clz(static_cast<int>(~bits));  // zeros are shifted in, so never too many
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
