// Many windows are sorted, and similar ones united into classes, by comparing all pairs: for the
// few thousand windows that pass in a frame this is cheaper than a cleverer method. What is
// compared for similarity are windows of about the same size. The kernels have a fixed number of
// blocks, because only the device knows the number of windows.
#include "kernels/cascade/group_windows.cuh"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

// 132 is the number of multiprocessors of an H100; any number of blocks gives the same result.
constexpr int threads = on_host ? 64 : 1024, blocks = on_host ? 3 : 132;
// A block compares `together` windows at a time with all others; `sharers` threads share the work
// for each of them.
constexpr int together = 8, sharers = threads / together;

// The number of windows, or 0 if they are few, or more than `most`.
__device__ __forceinline__ std::uint32_t count_if_many(const GroupWindowsTask& task,
                                                       std::uint32_t most = UINT32_MAX) {
  const std::uint32_t count = task.counts->windows;
  return count > few_windows && count <= most ? count : 0;
}

// Streams the elements from `begin` to `end` through shared memory, in chunks of one element per
// thread. get(j) returns element j. For each of the block's windows and each element, one of the
// window's sharers calls visit(j, element).
template <class T, class Get, class Visit>
__device__ __forceinline__ void stream(SharedArray<T, threads>& chunk, std::uint32_t begin,
                                       std::uint32_t end, Get get, Visit visit) {
  const auto thread = threadIdx.x;
  for (; begin < end; begin += threads) {
    __syncthreads();  // all have visited the previous chunk
    if (begin + thread < end) chunk[static_cast<int>(thread)] = get(begin + thread);
    __syncthreads();
    const std::uint32_t size = min(static_cast<std::uint32_t>(threads), end - begin);
    for (std::uint32_t k = thread / together; k < size; k += sharers)
      visit(begin + k, chunk[static_cast<int>(k)]);
  }
}

// Calls work(i, slot, first, end) for a block's windows, `together` at a time, from `first` to
// `end`. i is the thread's window, `slot` its number among these windows. Threads without a window
// get i >= count.
template <class Work>
__device__ __forceinline__ void for_windows(std::uint32_t count, Work work) {
  const std::uint32_t slot = threadIdx.x % together;
  for (std::uint32_t first = blockIdx.x * together; first < count; first += gridDim.x * together)
    work(first + slot, static_cast<int>(slot), first, min(first + together, count));
}

// All windows that may be similar to sorted window i or to later ones come after the one that this
// returns, or are it. Later levels have larger boxes. The left edges of similar ones are at most
// similar_within() apart, and so are the right edges, so that the widths differ by at most twice
// that. The lanes of a warp search together.
__device__ __forceinline__ std::uint32_t first_near(const GroupWindowsTask& task, std::uint32_t i) {
  const auto lane = threadIdx.x % 32;
  const int width = task.windows[i].box.width;
  const auto is_near = [&](const Rect& box) {
    const Size size{box.width, box.height};
    return width - box.width <= 2 * similar_within(size, size);
  };
  std::uint32_t low = 0, high = i;  // all before `low` are not near; `high` and all after it are
  while (low < high) {
    const std::uint32_t step = (high - low + 31) / 32, probe = low + lane * step;
    const unsigned votes =
        __ballot_sync(full_warp, probe >= high || is_near(task.windows[probe].box));
    const auto first =
        static_cast<std::uint32_t>(votes == 0 ? 32 : __ffs(static_cast<int>(votes)) - 1);
    high = min(high, low + first * step);
    if (first == 0) return low;
    low += (first - 1) * step + 1;
  }
  return low;
}

// Sorts the windows: a window's place is the number of windows with smaller keys.
__global__ void __launch_bounds__(threads) order_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, together> places;
  __shared__ SharedArray<std::uint64_t, threads> keys;
  const bool is_leader = threadIdx.x < together;
  const std::uint32_t count = count_if_many(task);
  for_windows(count, [&](std::uint32_t i, int slot, std::uint32_t, std::uint32_t) {
    if (is_leader) places[slot] = 0;
    const Candidate window = task.found[min(i, count - 1)];
    const std::uint64_t own = key_of(window);
    unsigned before = 0;
    stream(
        keys, 0, count, [&](std::uint32_t j) { return key_of(task.found[j]); },
        [&](std::uint32_t, std::uint64_t key) { before += key < own; });
    atomic_add(places, slot, before);
    __syncthreads();
    if (is_leader && i < count) {
      const unsigned place = places[slot];
      task.windows[place] = {box_of(task.box_levels[window.level], window.cell), window, place, {}};
    }
  });
}

// The parent of every window becomes the first window that it is similar to. This unites nearly all
// of a class without conflicts between threads.
__global__ void __launch_bounds__(threads) hook_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, together> firsts;
  __shared__ SharedArray<Rect, threads> boxes;
  const bool is_leader = threadIdx.x < together;
  const std::uint32_t count = count_if_many(task, max_united);
  for_windows(count, [&](std::uint32_t i, int slot, std::uint32_t first, std::uint32_t end) {
    if (is_leader) firsts[slot] = i;
    const Rect own = task.windows[min(i, count - 1)].box;
    std::uint32_t nearest = i;
    stream(
        boxes, first_near(task, first), end, [&](std::uint32_t j) { return task.windows[j].box; },
        [&](std::uint32_t j, const Rect& other) {
          if (j < nearest && are_similar(own, other)) nearest = j;
        });
    atomic_min(firsts, slot, nearest);
    __syncthreads();
    if (is_leader && i < count) task.windows[i].parent = firsts[slot];
  });
}

// The root of a window's class: follows parents, while other threads may change them.
__device__ __forceinline__ std::uint32_t root_of(const GroupedWindow* windows, std::uint32_t i) {
  for (std::uint32_t parent; (parent = load_relaxed(&windows[i].parent)) != i;) i = parent;
  return i;
}

// The parent of every window becomes its root. Other threads may read the old or the new parent:
// both lead to the root.
__global__ void __launch_bounds__(threads) flatten_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = count_if_many(task, max_united);
  for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
    store_relaxed(&task.windows[i].parent, root_of(task.windows, i));
}

// Unites the classes of a and b: the earlier root becomes the parent of the later one.
__device__ __forceinline__ void unite(GroupedWindow* windows, std::uint32_t a, std::uint32_t b) {
  while (true) {
    a = root_of(windows, a);
    b = root_of(windows, b);
    if (a == b) return;
    const std::uint32_t later = max(a, b), earlier = min(a, b);
    if (atomicCAS(&windows[later].parent, later, earlier) == later) return;
  }
}

// Unites what hook_kernel has left apart.
__global__ void __launch_bounds__(threads) unite_kernel(const GroupWindowsTask task) {
  struct Seen {
    Rect box;
    std::uint32_t parent;
  };
  __shared__ SharedArray<Seen, threads> chunk;
  const std::uint32_t count = count_if_many(task, max_united);
  const auto look = [&](std::uint32_t i) {
    return Seen{task.windows[i].box, load_relaxed(&task.windows[i].parent)};
  };
  for_windows(count, [&](std::uint32_t i, int, std::uint32_t first, std::uint32_t end) {
    const Seen own = look(min(i, count - 1));
    stream(chunk, first_near(task, first), end, look, [&](std::uint32_t j, const Seen& other) {
      if (j < i && i < count && other.parent != own.parent && are_similar(own.box, other.box))
        unite(task.windows, i, j);
    });
  });
}

// Only the device knows how many windows are to be copied to host memory.
__global__ void __launch_bounds__(threads) deliver_kernel(const GroupWindowsTask task) {
  constexpr std::uint32_t parts = sizeof(GroupedWindow) / sizeof(uint4);
  const std::uint32_t count = count_if_many(task);
  const auto* from = reinterpret_cast<const uint4*>(task.windows);
  auto* to = reinterpret_cast<uint4*>(task.delivered);
  for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < count * parts;
       i += gridDim.x * threads)
    to[i] = from[i];
}

}  // namespace

std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid) {
  std::vector<BoxLevel> levels;
  for (const Level& level : pyramid.levels) {
    levels.push_back(
        {level.scale, level.step, level.grid.width, rules::in_image(pyramid.window, level.scale)});
  }
  return levels;
}

void enqueue_many_windows(const GroupWindowsTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(order_kernel, dim3(blocks), dim3(threads), stream, task);
  if (task.unites) {
    FACESAT_LAUNCH(hook_kernel, dim3(blocks), dim3(threads), stream, task);
    FACESAT_LAUNCH(flatten_kernel, dim3(blocks), dim3(threads), stream, task);
    FACESAT_LAUNCH(unite_kernel, dim3(blocks), dim3(threads), stream, task);
  }
  FACESAT_LAUNCH(deliver_kernel, dim3(blocks), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
