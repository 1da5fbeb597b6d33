// From candidates to classes of windows in host memory, by one block: for few windows, launching a
// kernel for each step would take longer than the steps. Everything is in shared memory. The step
// that compares all pairs limits the time, by the instructions that one multiprocessor can issue.
#include "core/rules.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

// ---- the skip rule ----

// OpenCV's skip rule: after a window that the first stage rejects, the next one in its row is
// skipped. So a window is visited if the number of rejected windows directly before it in its row
// is even.

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

// ---- similar windows ----

// Where multiprocessors are full of blocks of evaluate_kernel, of other pictures, 16,384 registers
// become free when one of these ends. A block that takes more has to wait until several end at
// once.
constexpr int threads = on_host ? 64 : 512, most_registers = 16384 / threads;
constexpr int most = few_windows, words = most / 32;
static_assert(most <= threads && most % 32 == 0);
static_assert(most <= 1 << 16, "LaneSum adds up as many numbers of 16 bits");

// A row of bits for each window: one bit for each window.
using Rows = SharedArray<unsigned, most * words>;

struct Shared {
  SharedArray<Candidate, most> found;
  SharedArray<Rect, most> boxes;
  SharedArray<unsigned, most> parents, new_parents;
  Rows similar;                      // the earlier windows that are similar
  Rows members;                      // of the class of which this is the root
  SharedArray<unsigned, 1> classes;  // delivered so far
};

// The sum of numbers that the lanes of a warp add, none of them negative. The lower and the upper
// 16 bits are added up separately, so that no sum of 32 bits overflows; from compute capability 8.0
// on, a sum over the lanes is one instruction.
class LaneSum {
 public:
  __device__ void add(int value) {
    lower_ += static_cast<unsigned>(value) & 0xFFFF;
    upper_ += static_cast<unsigned>(value) >> 16;
  }
  __device__ std::int64_t of_warp() const {
    return (static_cast<std::int64_t>(over_lanes(upper_)) << 16) + over_lanes(lower_);
  }

 private:
  __device__ static unsigned over_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(full_warp, value);
#else
    return warp_sum(value);
#endif
  }

  unsigned lower_ = 0, upper_ = 0;
};

class FewWindows {
 public:
  __device__ FewWindows(const GroupWindowsTask& task, int count, Shared& shared)
      : task_(task), count_(count), words_((count + 31) / 32), shared_(shared) {}

  // Unites similar windows: the parent of each becomes the first window of its class. At first it
  // is the first similar window, which unites nearly all of a class.
  __device__ void unite() const {
    if (has_window()) {
      const Candidate window = shared_.found[thread_];
      shared_.boxes[thread_] = box_of(task_.box_levels[window.level], window.cell);
    }
    __syncthreads();
    for_words([&](int i, int w) { shared_.similar[i * words + w] = similar_to(i, w); });
    __syncthreads();
    if (has_window()) shared_.parents[thread_] = first_similar();
    __syncthreads();
    do flatten();
    while (unite_roots());
  }

  // Adds up each class, by one warp.
  __device__ void deliver() const {
    for (int root = thread_ / 32; root < count_; root += threads / 32) {
      if (static_cast<int>(shared_.parents[root]) != root) continue;
      const ClassSums sums = class_sums(root);
      if (thread_ % 32 == 0 && sums.count >= task_.least)
        task_.delivered[atomic_add(shared_.classes, 0, 1)] = sums;
    }
  }

 private:
  __device__ bool has_window() const { return thread_ < count_; }

  // Calls visit(i, w) for word w of row i, for all words, divided among the threads.
  template <class Visit>
  __device__ void for_words(Visit visit) const {
    for (int n = thread_; n < count_ * words_; n += threads) visit(n % count_, n / count_);
  }

  __device__ unsigned similar_to(int i, int w) const {
    const Rect own = shared_.boxes[i];
    unsigned bits = 0;
    for (int k = 0; k < min(32, i - w * 32); ++k)
      if (are_similar(own, shared_.boxes[w * 32 + k])) bits |= 1u << k;
    return bits;
  }

  // Of the thread's window; itself if there is none.
  __device__ unsigned first_similar() const {
    for (int w = 0; w < words_; ++w)
      if (const unsigned bits = shared_.similar[thread_ * words + w]; bits != 0)
        return static_cast<unsigned>(w * 32 + __ffs(static_cast<int>(bits)) - 1);
    return static_cast<unsigned>(thread_);
  }

  // The parent of every window becomes its root; then roots have their members.
  __device__ void flatten() const {
    int root = thread_;
    if (has_window())
      for (int parent; (parent = static_cast<int>(shared_.parents[root])) != root;) root = parent;
    for_words([&](int i, int w) { shared_.members[i * words + w] = 0; });
    __syncthreads();
    if (has_window()) {
      shared_.parents[thread_] = static_cast<unsigned>(root);
      shared_.new_parents[thread_] = static_cast<unsigned>(root);
      atomic_or(shared_.members, root * words + thread_ / 32, 1u << thread_ % 32);
    }
    __syncthreads();
  }

  // Where similar windows have different roots, the earlier one becomes the parent of the later
  // one. Returns whether there are any. Called after flatten().
  __device__ bool unite_roots() const {
    bool any = false;
    const unsigned root = has_window() ? shared_.parents[thread_] : 0u;
    for (int w = 0; has_window() && w < words_; ++w)
      for (unsigned left = shared_.similar[thread_ * words + w] &
                           ~shared_.members[static_cast<int>(root) * words + w];
           left != 0; left &= left - 1) {
        const unsigned other = shared_.parents[w * 32 + __ffs(static_cast<int>(left)) - 1];
        atomic_min(shared_.new_parents, static_cast<int>(max(root, other)), min(root, other));
        any = true;
      }
    if (!__syncthreads_or(any)) return false;
    if (has_window()) shared_.parents[thread_] = shared_.new_parents[thread_];
    __syncthreads();
    return true;
  }

  __device__ ClassSums class_sums(int root) const {
    LaneSum x, y, width, height;
    unsigned count = 0;
    std::int64_t best = INT64_MIN;
    std::uint64_t first = UINT64_MAX;
    for (int w = 0; w < words_; ++w) {
      const unsigned members = shared_.members[root * words + w];
      count += static_cast<unsigned>(__popc(members));
      if ((members >> (thread_ % 32) & 1) == 0) continue;
      const int i = w * 32 + thread_ % 32;
      const Rect box = shared_.boxes[i];
      const Candidate window = shared_.found[i];
      x.add(box.x);
      y.add(box.y);
      width.add(box.width);
      height.add(box.height);
      best = max(best, window.sum);
      first = min(first, order_of(window));
    }
    for (unsigned d = 16; d > 0; d /= 2) {
      best = max(best, __shfl_xor_sync(full_warp, best, d));
      first = min(first, __shfl_xor_sync(full_warp, first, d));
    }
    return {x.of_warp(), y.of_warp(), width.of_warp(), height.of_warp(), best, first, count, {}};
  }

  const GroupWindowsTask& task_;
  const int count_, words_;
  Shared& shared_;
  const int thread_ = static_cast<int>(threadIdx.x);
};

// From the numbers of windows of the levels to where each level begins. By one warp.
__device__ __forceinline__ void place_levels(const GroupWindowsTask& task) {
  for (int first = 0, before = 0; first < task.level_count; first += 32) {
    const int level = first + static_cast<int>(threadIdx.x);
    const bool exists = level < task.level_count;
    const int own = exists ? static_cast<int>(load_relaxed(&task.level_places[level])) : 0;
    const int end = before + warp_inclusive_scan(own);
    if (exists)
      task.level_places[level] = task.level_begins[level] = static_cast<std::uint32_t>(end - own);
    before = __shfl_sync(full_warp, end, 31);
  }
}

__global__ void __maxnreg__(most_registers) few_windows_kernel(const GroupWindowsTask task) {
  __shared__ Shared shared;
  const int thread = static_cast<int>(threadIdx.x);
  for (int level = thread; level < task.level_count; level += threads)
    store_relaxed(&task.level_places[level], 0u);
  if (thread == 0) shared.classes[0] = 0;
  const WindowCounts counts =
      apply_skip_rule(task, [&](std::uint32_t place, const Candidate& window) {
        task.found[place] = window;
        atomicAdd(&task.level_places[window.level], 1u);
        if (place < few_windows) shared.found[static_cast<int>(place)] = window;
      });
  if (counts.windows > few_windows) {
    if (thread < 32) place_levels(task);
  } else if (task.unites && counts.windows > 0) {
    const FewWindows windows(task, static_cast<int>(counts.windows), shared);
    windows.unite();
    windows.deliver();
  }
  __syncthreads();
  if (thread == 0) {
    const WindowCounts delivered{counts.windows, counts.candidates, shared.classes[0]};
    *task.counts = delivered;
    *task.delivered_counts = delivered;
  }
}

}  // namespace

void enqueue_few_windows(const GroupWindowsTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(few_windows_kernel, dim3(1), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
