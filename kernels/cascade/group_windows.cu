// Many windows are united by comparing all pairs of about the same size: for the few thousand
// windows that pass in a frame this is cheaper than a cleverer method. A warp compares one window
// at a time with earlier ones, each lane with several, whose loads are under way at the same time.
// The kernels have a fixed number of blocks, because only the device knows the number of windows.
#include "kernels/cascade/group_windows.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

// 132 is the number of multiprocessors of an H100; any number of blocks gives the same result.
constexpr int threads = on_host ? 64 : 1024, blocks = on_host ? 3 : 132;

// The number of windows, or 0 if they are few or too many.
__device__ __forceinline__ std::uint32_t count_if_many(const GroupWindowsTask& task) {
  const std::uint32_t count = task.counts->windows;
  return count > few_windows && count <= max_united ? count : 0;
}

__device__ __forceinline__ std::uint32_t thread_of_grid() {
  return blockIdx.x * threads + threadIdx.x;
}

// Calls work(i) for each window, by one warp.
template <class Work>
__device__ __forceinline__ void for_windows(std::uint32_t count, Work work) {
  for (std::uint32_t i = thread_of_grid() / 32; i < count; i += gridDim.x * threads / 32) work(i);
}

// Gives each lane that has a window of a level the next place there. One atomic for each level.
__device__ __forceinline__ std::uint32_t take_place(std::uint32_t* level_places, bool has_window,
                                                    int level) {
  const unsigned lane = lane_of_thread();
  std::uint32_t place = 0;
  for (unsigned left = __ballot_sync(full_warp, has_window); left != 0;) {
    const int leader = __ffs(static_cast<int>(left)) - 1;
    const int its_level = __shfl_sync(full_warp, level, leader);
    const unsigned same = __ballot_sync(full_warp, level == its_level) & left;
    std::uint32_t first = 0;
    if (static_cast<int>(lane) == leader)
      first = atomicAdd(&level_places[level], static_cast<std::uint32_t>(__popc(same)));
    first = __shfl_sync(full_warp, first, leader);
    if (same >> lane & 1)
      place = first + static_cast<std::uint32_t>(__popc(same & ((1u << lane) - 1)));
    left &= ~same;
  }
  return place;
}

// Sorts the windows by level; those of a level are in no particular order.
__global__ void __launch_bounds__(threads) order_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = count_if_many(task);
  for (std::uint32_t first = thread_of_grid() / 32 * 32; first < count;
       first += gridDim.x * threads) {
    const std::uint32_t i = first + lane_of_thread();
    const Candidate window = task.found[min(i, count - 1)];
    const std::uint32_t place = take_place(task.level_places, i < count, window.level);
    if (i >= count) continue;
    const BoxLevel level = task.box_levels[window.level];
    task.boxes[place] = {box_of(level, window.cell)};
    task.sums[place] = window.sum;
    task.first_near[place] = task.level_begins[level.first_near];
    task.parents[place] = place;
    task.classes[place] = {0, 0, 0, 0, INT64_MIN, order_of(window), 0, {}};
  }
}

// Calls visit(j, similar) by all lanes of a warp, in increasing order of j, for earlier windows
// than i: all that may be similar, and some others. `similar` tells whether window j + lane is
// earlier and similar. Ends once visit returns true.
template <class Visit>
__device__ __forceinline__ void visit_earlier(const GroupWindowsTask& task, std::uint32_t i,
                                              Visit visit) {
  constexpr int at_once = 4;
  const Rect own = task.boxes[i].rect;
  for (std::uint32_t first = task.first_near[i]; first < i; first += 32 * at_once) {
    AlignedRect others[at_once];
    FACESAT_UNROLL
    for (int k = 0; k < at_once; ++k)
      others[k] = task.boxes[min(first + 32 * k + lane_of_thread(), i)];
    FACESAT_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const std::uint32_t j = first + 32 * k;
      if (visit(j, j + lane_of_thread() < i && are_similar(own, others[k].rect))) return;
    }
  }
}

// The parent of every window becomes the first window that it is similar to. This unites nearly all
// of a class without conflicts between threads.
__global__ void __launch_bounds__(threads) hook_kernel(const GroupWindowsTask task) {
  for_windows(count_if_many(task), [&](std::uint32_t i) {
    visit_earlier(task, i, [&](std::uint32_t j, bool similar) {
      const unsigned lanes = __ballot_sync(full_warp, similar);
      if (lanes != 0 && lane_of_thread() == 0)
        task.parents[i] = j + static_cast<std::uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
      return lanes != 0;
    });
  });
}

// The root of a window's class: follows parents, while other threads may change them.
__device__ __forceinline__ std::uint32_t root_of(const GroupWindowsTask& task, std::uint32_t i) {
  for (std::uint32_t parent; (parent = load_relaxed(&task.parents[i])) != i;) i = parent;
  return i;
}

// The roots of all windows, for now.
__global__ void __launch_bounds__(threads) flatten_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = count_if_many(task);
  for (std::uint32_t i = thread_of_grid(); i < count; i += gridDim.x * threads)
    task.roots[i] = root_of(task, i);
}

// Unites the classes of a and b: the earlier root becomes the parent of the later one.
__device__ __forceinline__ void unite(const GroupWindowsTask& task, std::uint32_t a,
                                      std::uint32_t b) {
  while (true) {
    a = root_of(task, a);
    b = root_of(task, b);
    if (a == b) return;
    const std::uint32_t later = max(a, b), earlier = min(a, b);
    if (atomicCAS(&task.parents[later], later, earlier) == later) return;
  }
}

// Unites what hook_kernel has left apart.
__global__ void __launch_bounds__(threads) unite_kernel(const GroupWindowsTask task) {
  for_windows(count_if_many(task), [&](std::uint32_t i) {
    const std::uint32_t own = task.roots[i];
    std::uint32_t united = own;  // the root that was united with the window's last
    visit_earlier(task, i, [&](std::uint32_t j, bool similar) {
      const std::uint32_t root = similar ? task.roots[j + lane_of_thread()] : own;
      unsigned left = __ballot_sync(full_warp, root != own && root != united);
      while (left != 0) {
        united = __shfl_sync(full_warp, root, __ffs(static_cast<int>(left)) - 1);
        if (lane_of_thread() == 0) unite(task, own, united);
        left &= __ballot_sync(full_warp, root != united);
      }
      return false;
    });
  });
}

__device__ __forceinline__ void add(std::int64_t& sum, int value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(value));
}

// Adds up every class, at the place of its root. That is on the first level of its class, so few
// windows precede the first one so far.
__global__ void __launch_bounds__(threads) sum_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = count_if_many(task);
  for (std::uint32_t i = thread_of_grid(); i < count; i += gridDim.x * threads) {
    const Rect box = task.boxes[i].rect;
    ClassSums& sums = task.classes[root_of(task, task.roots[i])];
    add(sums.x, box.x);
    add(sums.y, box.y);
    add(sums.width, box.width);
    add(sums.height, box.height);
    atomicMax(reinterpret_cast<long long*>(&sums.best), static_cast<long long>(task.sums[i]));
    auto* const first = reinterpret_cast<unsigned long long*>(&sums.first);
    // Of the window itself; of a root, the least so far.
    const auto own =
        load_relaxed(reinterpret_cast<const unsigned long long*>(&task.classes[i].first));
    if (own < load_relaxed(first)) atomicMin(first, own);
    atomicAdd(&sums.count, 1u);
  }
}

// Only the device knows how many classes are to be copied to host memory. One block.
__global__ void __launch_bounds__(threads) deliver_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, 1> classes;
  const std::uint32_t count = count_if_many(task);
  if (count == 0) return;
  if (threadIdx.x == 0) classes[0] = 0;
  __syncthreads();
  // Only roots have windows.
  for (std::uint32_t i = threadIdx.x; i < count; i += threads)
    if (const ClassSums& sums = task.classes[i]; sums.count >= task.least)
      task.delivered[atomic_add(classes, 0, 1)] = sums;
  __syncthreads();
  if (threadIdx.x == 0) task.delivered_counts->classes = classes[0];
}

}  // namespace

std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid) {
  std::vector<BoxLevel> levels;
  for (const Level& level : pyramid.levels) {
    const Size box = rules::in_image(pyramid.window, level.scale);
    // The left edges of similar boxes are at most similar_within() apart, and so are the right
    // edges, so their widths differ by at most twice that. Later levels have larger boxes.
    int near = 0;
    while (near < static_cast<int>(levels.size()) &&
           box.width - levels[near].box.width >
               2 * similar_within(levels[near].box, levels[near].box))
      ++near;
    levels.push_back({level.scale, level.step, level.grid.width, box, near});
  }
  return levels;
}

void enqueue_many_windows(const GroupWindowsTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(order_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(hook_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(flatten_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(unite_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(sum_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(deliver_kernel, dim3(1), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
