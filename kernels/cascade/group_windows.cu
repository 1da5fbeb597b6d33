// Both kernels have a fixed number of blocks, for the number of windows is only known on the device.
#include "kernels/cascade/group_windows.hpp"

#include <cmath>

#include "core/grouping.hpp"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int order_threads = 256, order_warps = order_threads / 32, order_blocks = 128;
constexpr int tile = 128, unite_blocks = 264;

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

// A window's place is the number of those before it: each warp counts a part of them for 32 windows.
__global__ void __launch_bounds__(order_threads) order_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<unsigned, 32> places;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t count = task.counts->windows;
  for (std::uint32_t first = blockIdx.x * 32; first < count; first += gridDim.x * 32) {
    if (warp == 0) places[lane] = 0;
    __syncthreads();
    const std::uint32_t i = min(first + static_cast<std::uint32_t>(lane), count - 1);
    const std::uint64_t own = key_of(task.found[i]);
    unsigned before = 0;
    for (auto j = static_cast<std::uint32_t>(warp); j < count; j += order_warps)
      before += key_of(task.found[j]) < own;
    atomic_add(places, lane, before);
    __syncthreads();
    if (warp == 0 && first + static_cast<std::uint32_t>(lane) < count) {
      const unsigned place = places[lane];
      const Candidate window = task.found[i];
      task.windows[place] = {window, box_of(task.levels[window.level], window.cell), place};
    }
    __syncthreads();  // places are read before the next windows write them
  }
}

__device__ __forceinline__ std::uint32_t root_of(const GroupedWindow* windows,
                                                 std::uint32_t i) {
  for (std::uint32_t parent; (parent = load_relaxed(&windows[i].parent)) != i;) i = parent;
  return i;
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

// Tiles of windows against each other and the tiles before them.
__global__ void __launch_bounds__(tile) unite_kernel(const GroupWindowsTask task) {
  __shared__ SharedArray<Rect, tile> boxes;
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint32_t count = task.counts->windows;
  if (count > most_united) return;
  const std::uint32_t tiles = (count + tile - 1) / tile;
  for (std::uint32_t pair = blockIdx.x; pair < tiles * (tiles + 1) / 2; pair += gridDim.x) {
    auto later = static_cast<std::uint32_t>((sqrt(8.0 * pair + 1) - 1) / 2);
    const std::uint32_t earlier = pair - later * (later + 1) / 2;
    const std::uint32_t other = earlier * tile + static_cast<std::uint32_t>(thread);
    if (other < count) boxes[thread] = task.windows[other].box;
    __syncthreads();
    const std::uint32_t own = later * tile + static_cast<std::uint32_t>(thread);
    if (own < count) {
      const Rect box = task.windows[own].box;
      for (std::uint32_t k = 0; k < tile && earlier * tile + k < own; ++k)
        if (are_similar(box, boxes[static_cast<int>(k)])) unite(task.windows, own, earlier * tile + k);
    }
    __syncthreads();  // boxes are read before the next pair writes them
  }
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
  FACESAT_LAUNCH(order_kernel, dim3(order_blocks), dim3(order_threads), stream, task);
  if (task.unites) FACESAT_LAUNCH(unite_kernel, dim3(unite_blocks), dim3(tile), stream, task);
}

}  // namespace facesat::gpu
