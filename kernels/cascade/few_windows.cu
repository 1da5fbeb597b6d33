// From candidates to windows in host memory, by one block: for few windows, launching a kernel for
// each step would take longer than the steps. Everything is in shared memory. The steps that
// compare all pairs limit the time, by the instructions that one multiprocessor can issue.
#include "kernels/cascade/group_windows.cuh"
#include "kernels/cascade/skip_rule.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = on_host ? 64 : 1024;
constexpr int most = few_windows, words = most / 32;
static_assert(most <= threads && most % 32 == 0);

// A row of bits for each window: one bit for each window.
using Rows = SharedArray<unsigned, most * words>;

struct Shared {
  SharedArray<Candidate, most> found;
  SharedArray<std::uint64_t, most> keys;  // the greatest number where there is no window
  SharedArray<unsigned, most> places;     // of the found windows among the sorted ones
  SharedArray<Candidate, most> sorted;
  SharedArray<Rect, most> boxes;                     // of the sorted windows, as all that follows
  SharedArray<unsigned, most> parents, new_parents;  // while classes are united
  Rows similar;                                      // the earlier windows that are similar
  Rows members;                                      // of the class of which this is the root
};

class FewWindows {
 public:
  __device__ FewWindows(const GroupWindowsTask& task, int count, Shared& shared)
      : task_(task), count_(count), words_((count + 31) / 32), shared_(shared) {}

  // The place of a window is the number of windows with smaller keys.
  __device__ void sort() const {
    if (thread_ < most) {
      shared_.keys[thread_] = has_window() ? key_of(shared_.found[thread_]) : UINT64_MAX;
      shared_.places[thread_] = 0;
    }
    __syncthreads();
    for_words([&](int i, int w) {
      const std::uint64_t own = shared_.keys[i];
      unsigned smaller = 0;
      FACESAT_UNROLL
      for (int k = 0; k < 32; ++k) smaller += shared_.keys[w * 32 + k] < own;
      atomic_add(shared_.places, i, smaller);
    });
    __syncthreads();
    if (has_window()) {
      const Candidate window = shared_.found[thread_];
      const auto place = static_cast<int>(shared_.places[thread_]);
      shared_.sorted[place] = window;
      shared_.boxes[place] = box_of(task_.box_levels[window.level], window.cell);
      shared_.parents[thread_] = static_cast<unsigned>(thread_);
    }
    __syncthreads();
  }

  // Unites similar windows: the parent of each becomes the first window of its class. At first it
  // is the first similar window, which unites nearly all of a class.
  __device__ void unite() const {
    for_words([&](int i, int w) { shared_.similar[i * words + w] = similar_to(i, w); });
    __syncthreads();
    if (has_window()) shared_.parents[thread_] = first_similar();
    __syncthreads();
    do flatten();
    while (unite_roots());
  }

  __device__ void deliver() const {
    if (has_window())
      task_.delivered[thread_] = {
          shared_.boxes[thread_], shared_.sorted[thread_], shared_.parents[thread_], {}};
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

  const GroupWindowsTask& task_;
  const int count_, words_;
  Shared& shared_;
  const int thread_ = static_cast<int>(threadIdx.x);
};

__global__ void __launch_bounds__(threads) few_windows_kernel(const GroupWindowsTask task) {
  __shared__ Shared shared;
  const WindowCounts counts =
      apply_skip_rule(task, [&](std::uint32_t place, const Candidate& window) {
        task.found[place] = window;
        if (place < few_windows) shared.found[static_cast<int>(place)] = window;
      });
  if (threadIdx.x == 0) {
    *task.counts = counts;
    *task.delivered_counts = counts;
  }
  if (counts.windows == 0 || counts.windows > few_windows) return;
  const FewWindows windows(task, static_cast<int>(counts.windows), shared);
  windows.sort();
  if (task.unites) windows.unite();
  windows.deliver();
}

}  // namespace

void enqueue_few_windows(const GroupWindowsTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(few_windows_kernel, dim3(1), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
