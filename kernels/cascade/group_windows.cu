// The kernels have a fixed number of blocks, for the number of windows is only known on the device.
#include <cmath>
#include <cstdlib>

#include "core/grouping.hpp"
#include "kernels/cascade/group_windows.hpp"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int threads = on_host ? 64 : 1024, warps = threads / 32, blocks = on_host ? 3 : 132;

__device__ __forceinline__ std::uint64_t key_of(const Candidate& c) {
  return static_cast<std::uint64_t>(c.level) << 32 | c.cell;
}

__device__ __forceinline__ Rect box_of(const BoxLevel& level, std::uint32_t cell) {
  const auto width = static_cast<std::uint32_t>(level.grid_width);
  const int x = static_cast<int>(cell % width) * level.step;
  const int y = static_cast<int>(cell / width) * level.step;
  return {static_cast<int>(lrintf(static_cast<float>(x) * level.scale)),
          static_cast<int>(lrintf(static_cast<float>(y) * level.scale)), level.box.width,
          level.box.height};
}

// A window's place is the number of those before it: each warp counts a part of them for 32
// windows.
__global__ void __launch_bounds__(threads) order_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, 32> places;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t count = task.counts->windows;
  for (std::uint32_t first = blockIdx.x * 32; first < count; first += gridDim.x * 32) {
    if (warp == 0) places[lane] = 0;
    __syncthreads();
    const std::uint32_t i = min(first + static_cast<std::uint32_t>(lane), count - 1);
    const std::uint64_t own = key_of(task.found[i]);
    unsigned before = 0;
    for (auto j = static_cast<std::uint32_t>(warp); j < count; j += warps)
      before += key_of(task.found[j]) < own;
    atomic_add(places, lane, before);
    __syncthreads();
    if (warp == 0 && first + static_cast<std::uint32_t>(lane) < count) {
      const unsigned place = places[lane];
      const Candidate window = task.found[i];
      task.windows[place] = {box_of(task.levels[window.level], window.cell), window, place};
    }
    __syncthreads();  // places are read before the next windows write them
  }
}

// Calls visit(j) for all windows j < i that are similar to window i. 32 windows a block; each warp
// looks at a part of the others.
template <class Begin, class Visit, class End>
__device__ __forceinline__ void visit_similar(const GroupedWindow* windows, std::uint32_t count,
                                              Begin begin, Visit visit, End end) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  for (std::uint32_t first = blockIdx.x * 32; first < count; first += gridDim.x * 32) {
    const std::uint32_t i = first + static_cast<std::uint32_t>(lane);
    const Rect box = windows[min(i, count - 1)].box;
    const int reach = (box.width + box.height) / 10 + 1;  // not less than that of any similarity
    begin(i);
    for (auto j = static_cast<std::uint32_t>(warp); j < min(first + 32, count); j += warps) {
      const Rect other = windows[j].box;
      if (abs(other.x - box.x) <= reach && abs(other.y - box.y) <= reach && j < i && i < count &&
          are_similar(box, other))
        visit(i, j);
    }
    end(i);
  }
}

// Every window is hung below the first one that it is similar to: that unites nearly all of a class
// without any two threads meeting.
__global__ void __launch_bounds__(threads) hook_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, 32> firsts;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t count = task.counts->windows;
  if (count > most_united) return;
  std::uint32_t nearest = 0;
  visit_similar(
      task.windows, count,
      [&](std::uint32_t i) {
        if (warp == 0) firsts[lane] = i;
        nearest = i;
        __syncthreads();
      },
      [&](std::uint32_t, std::uint32_t j) { nearest = min(nearest, j); },
      [&](std::uint32_t i) {
        atomic_min(firsts, lane, nearest);
        __syncthreads();
        if (warp == 0 && i < count) task.windows[i].parent = firsts[lane];
        __syncthreads();
      });
}

__device__ __forceinline__ std::uint32_t root_of(const GroupedWindow* windows, std::uint32_t i) {
  for (std::uint32_t parent; (parent = load_relaxed(&windows[i].parent)) != i;) i = parent;
  return i;
}

// Every window is hung directly below its root. Other threads may see either parent: both lead
// there.
__global__ void __launch_bounds__(threads) flatten_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = task.counts->windows;
  if (count > most_united) return;
  for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
    store_relaxed(&task.windows[i].parent, root_of(task.windows, i));
}

// The later root is hung below the earlier one.
__device__ __forceinline__ void unite(GroupedWindow* windows, std::uint32_t a, std::uint32_t b) {
  while (true) {
    a = root_of(windows, a);
    b = root_of(windows, b);
    if (a == b) return;
    const std::uint32_t later = max(a, b), earlier = min(a, b);
    if (atomicCAS(&windows[later].parent, later, earlier) == later) return;
  }
}

// What hooking has left apart.
__global__ void __launch_bounds__(threads) unite_kernel(const GroupWindowsTask task) {
  const std::uint32_t count = task.counts->windows;
  if (count > most_united) return;
  std::uint32_t own = 0;
  visit_similar(
      task.windows, count,
      [&](std::uint32_t i) { own = load_relaxed(&task.windows[min(i, count - 1)].parent); },
      [&](std::uint32_t i, std::uint32_t j) {
        if (load_relaxed(&task.windows[j].parent) != own) unite(task.windows, i, j);
      },
      [](std::uint32_t) {});
}

}  // namespace

std::vector<BoxLevel> plan_boxes(const Pyramid& pyramid) {
  std::vector<BoxLevel> levels;
  for (const Level& level : pyramid.levels) {
    const Rect box = window_in_image(level, pyramid.window, 0, 0);
    levels.push_back({level.scale, level.step, level.grid.width, {box.width, box.height}});
  }
  return levels;
}

void enqueue_group_windows(const GroupWindowsTask& task, StreamHandle stream) {
  FACESAT_LAUNCH(order_kernel, dim3(blocks), dim3(threads), stream, task);
  if (!task.unites) return;
  FACESAT_LAUNCH(hook_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(flatten_kernel, dim3(blocks), dim3(threads), stream, task);
  FACESAT_LAUNCH(unite_kernel, dim3(blocks), dim3(threads), stream, task);
}

}  // namespace facesat::gpu
