// Scans by recursion: each block takes one tile, the totals of the tiles are scanned in the same
// way, until one tile is left. A Tile is that of cascade.cuh.
#pragma once

#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "kernels/scan/cascade.cuh"
#include "kernels/scan/pass.cuh"

namespace facesat::gpu::recursive {

// The lengths of the array, of its tiles' totals, of their tiles' totals and so on; the last one
// fits into one tile.
inline std::vector<int> lengths_of(int n, int tile) {
  std::vector<int> lengths{n};
  while (lengths.back() > tile) lengths.push_back(divide_up(lengths.back(), tile));
  return lengths;
}

// Each array starts on a boundary of 16 bytes.
constexpr std::size_t padded(int length) {
  return (static_cast<std::size_t>(length) + 3) / 4 * 4;
}
inline std::size_t workspace_bytes(const ScanTask& task, int tile) {
  std::size_t elements = 0;
  for (const int length : lengths_of(task.n, tile))
    if (length != task.n) elements += padded(length);
  return elements * info_of(task.type).bytes;
}

// The passes of all levels: the array itself, then the totals in the workspace, which are scanned
// in place and exclusively.
template <class Pass>
std::vector<Pass> levels_of(const Pass& pass, int tile, void* workspace) {
  std::vector<Pass> levels{pass};
  auto* next = static_cast<typename Pass::T*>(workspace);
  for (const int length : lengths_of(pass.n, tile)) {
    if (length == pass.n) continue;
    levels.push_back(over(pass, next, length, false));
    next += padded(length);
  }
  return levels;
}

// What a recursion does that reads each level twice and writes it `writes` times, but reads and
// writes the last one once.
inline ScanCost cost(const ScanTask& task, int tile, int writes) {
  ScanCost cost{.launches = 1};
  const std::vector<int> lengths = lengths_of(task.n, tile);
  for (std::size_t i = 0; i + 1 < lengths.size(); ++i) {
    cost.launches += 2;
    cost.reads += 2.0 * lengths[i] + lengths[i + 1];
    cost.writes += static_cast<double>(writes) * lengths[i] + lengths[i + 1];
  }
  cost.reads = (cost.reads + lengths.back()) / task.n;
  cost.writes = (cost.writes + lengths.back()) / task.n;
  return cost;
}

// ---- scan, then add: every tile is scanned on its own first ----

// Block b scans tile b; totals[b] becomes its total, unless there is only one tile.
template <class Tile, class Pass>
__global__ void scan_tiles_kernel(Pass pass, typename Pass::T* totals) {
  const int block = static_cast<int>(blockIdx.x);
  const int begin = block * Tile::elements(static_cast<int>(blockDim.x));
  const typename Pass::T total = Tile::scan(pass, begin, pass.op.identity());
  if (totals && threadIdx.x == 0) totals[block] = total;
}
// Combines every element of tile b with before[b].
template <class Tile, class Pass>
__global__ void add_kernel(Pass pass, const typename Pass::T* before) {
  const int block = static_cast<int>(blockIdx.x), threads = static_cast<int>(blockDim.x);
  const int tile = Tile::elements(threads);
  const typename Pass::T prefix = before[block];
  for (int k = static_cast<int>(threadIdx.x); k < tile; k += threads)
    if (block * tile + k < pass.n) {
      auto& element = pass.output[block * tile + k];
      element = pass.op(prefix, element);
    }
}

template <class Tile, class Pass>
void enqueue_scan_add(const Pass& pass, int threads, void* workspace, StreamHandle stream) {
  using T = typename Pass::T;
  const int tile = Tile::elements(threads);
  const std::vector<Pass> levels = levels_of(pass, tile, workspace);
  const auto grid = [&](const Pass& level) {
    return dim3(static_cast<unsigned>(divide_up(level.n, tile)));
  };
  const dim3 block(static_cast<unsigned>(threads));
  for (std::size_t i = 0; i < levels.size(); ++i) {
    T* const totals = i + 1 < levels.size() ? levels[i + 1].output : nullptr;
    FACESAT_LAUNCH_SHARED((scan_tiles_kernel<Tile, Pass>), grid(levels[i]), block,
                          static_cast<int>(sizeof(T)) * Tile::shared_elements(threads), stream,
                          levels[i], totals);
  }
  for (std::size_t i = levels.size() - 1; i-- > 0;)
    FACESAT_LAUNCH((add_kernel<Tile, Pass>), grid(levels[i]), block, stream, levels[i],
                   levels[i + 1].output);
}

// ---- reduce, then scan: every tile is read twice and written once ----

template <class Tile, class Pass>
void enqueue_reduce_scan(const Pass& pass, int threads, void* workspace, StreamHandle stream) {
  const int tile = Tile::elements(threads);
  const std::vector<Pass> levels = levels_of(pass, tile, workspace);
  const auto launch = [&](const Pass& level) {
    return cascade::Launch{divide_up(level.n, tile), threads};
  };
  for (std::size_t i = 0; i + 1 < levels.size(); ++i)
    cascade::enqueue_reduce<1>(levels[i], launch(levels[i]), tile, levels[i + 1].output, stream);
  for (std::size_t i = levels.size(); i-- > 0;)
    cascade::enqueue_scan<Tile>(levels[i], launch(levels[i]), tile,
                                i + 1 < levels.size() ? levels[i + 1].output : nullptr, stream);
}

// ---- a recursion as an algorithm ----

enum class Form { scan_add, reduce_scan };

inline constexpr std::array thread_choices{64, 128, 256, 512};
constexpr ScanParameter threads_parameter(int usual) {
  return {"threads", "threads per block", usual, thread_choices};
}

template <class Tile>
int tile_of(const ScanTask& task) {
  return Tile::elements(task.settings[0]);
}

// The algorithm's only parameter is threads_parameter.
template <class Tile, Form form>
constexpr ScanAlgorithm algorithm(std::string_view id, std::string_view title,
                                  std::string_view source, int year,
                                  std::span<const ScanParameter> parameters) {
  return {.id = id,
          .title = title,
          .source = source,
          .year = year,
          .parameters = parameters,
          .cost =
              [](const ScanTask& task) {
                return cost(task, tile_of<Tile>(task), form == Form::scan_add ? 2 : 1);
              },
          .workspace_bytes =
              [](const ScanTask& task) { return workspace_bytes(task, tile_of<Tile>(task)); },
          .enqueue =
              [](const ScanTask& task, void* workspace, StreamHandle stream) {
                with_pass(task, [&]<class Pass>(const Pass& pass) {
                  if constexpr (form == Form::scan_add)
                    enqueue_scan_add<Tile>(pass, task.settings[0], workspace, stream);
                  else
                    enqueue_reduce_scan<Tile>(pass, task.settings[0], workspace, stream);
                });
              }};
}

}  // namespace facesat::gpu::recursive

// ---- recursive doubling in global memory, one launch per step: the scan of Hillis and Steele, as
// Horn brought it to GPUs
namespace facesat::gpu {

constexpr int doubling_threads = 256;

// The smallest s with 2^s >= n.
inline int log2_up(int n) {
  return std::bit_width(static_cast<unsigned>(n - 1));
}

// to[i] becomes from[i - d] and from[i] combined. In the first step of an exclusive scan, the array
// is shifted by one element while it is read.
template <class Pass>
__global__ void doubling_kernel(Pass pass, const typename Pass::T* from, typename Pass::T* to,
                                int d, int shift) {
  const int i = static_cast<int>(blockIdx.x) * doubling_threads + static_cast<int>(threadIdx.x);
  if (i >= pass.n) return;
  const auto at = [&](int k) { return k >= 0 ? from[k] : pass.op.identity(); };
  to[i] = i >= d ? pass.op(at(i - d - shift), at(i - shift)) : at(i - shift);
}

// Scans pass.input into pass.output, which may be the same. `scratch` has room for 2 * pass.n
// elements. There are at least two steps, so that the first one can leave the input as it is.
inline int doubling_steps(int n) {
  return std::max(log2_up(n), 2);
}
template <class Pass>
void enqueue_recursive_doubling(const Pass& pass, typename Pass::T* scratch, StreamHandle stream) {
  const typename Pass::T* from = pass.input;
  const int steps = doubling_steps(pass.n);
  for (int step = 0; step < steps; ++step) {
    auto* const to = step + 1 == steps ? pass.output : scratch + (step % 2 ? pass.n : 0);
    FACESAT_LAUNCH(doubling_kernel<Pass>, dim3(divide_up(pass.n, doubling_threads)),
                   dim3(doubling_threads), stream, pass, from, to, 1 << step,
                   step == 0 && !pass.is_inclusive ? 1 : 0);
    from = to;
  }
}

}  // namespace facesat::gpu
