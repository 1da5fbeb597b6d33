// What the algorithms of Dieguez et al. 2014 have in common: a cascade of three kernels (the
// paper's rd, p and p2; see cascade.cuh), its parameters, and the variants of section IV.
//
// Source: Adrian P. Dieguez, Margarita Amor, Ramon Doallo: Efficient Scan Operator Methods on a
// GPU, SBAC-PAD 2014.
#pragma once

#include "kernels/scan/cascade.cuh"
#include "kernels/scan/scan_on_host.hpp"

namespace facesat::gpu::dieguez_2014 {

inline constexpr const char* paper =
    "Dieguez, Amor, Doallo: Efficient Scan Operator Methods on a GPU, SBAC-PAD 2014";

// The parameters that all of them have: the paper's N_tb and C, and where p runs. Mapped memory
// (-MM) and the cache of read-only data (section IV-C) are variants of the same kernels; in-place
// arrays (-IP) are a property of the task.
inline constexpr std::array block_choices{8, 128, 256, 512, 1024, 2048, 4096};
enum class Variant { plain, read_only, mapped };
inline constexpr std::array variant_choices{0, 1, 2};
inline constexpr ScanParameter threads_parameter{"threads", "threads per block (N_tb)", 256,
                                                 cascade::thread_choices},
    blocks_parameter{"blocks", "blocks (C)", 1024, block_choices},
    variant_parameter{"variant",
                      "0: plain, 1: read-only cache, 2: totals scanned by the CPU, mapped memory",
                      1, variant_choices};

inline Variant variant_of(const ScanSettings& settings) {
  return static_cast<Variant>(settings[2]);
}
inline ScanCost cost(const ScanTask& task) {
  ScanCost cost = cascade::cost(task, cascade::launch_of(task.settings).blocks);
  if (variant_of(task.settings) == Variant::mapped) cost.launches = 2;
  return cost;
}
inline bool is_mapped(const ScanSettings& settings) {
  return variant_of(settings) == Variant::mapped;
}
inline std::size_t workspace_bytes(const ScanTask& task) {
  return host_scan_bytes + cascade::workspace_bytes(task);
}

template <class Tile, int width>
void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const cascade::Launch launch = cascade::launch_of(task.settings);
  const Variant variant = variant_of(task.settings);
  with_pass(task, [&]<class Pass>(Pass pass) {
    using T = typename Pass::T;
    // Of an array that a kernel overwrites, it must not read anything through that cache.
    pass.is_read_only = variant != Variant::plain && task.input != task.output;
    auto* const totals = reinterpret_cast<T*>(static_cast<std::byte*>(workspace) + host_scan_bytes);
    const int chunk = cascade::chunk_of(pass.n, launch.blocks, Tile::elements(launch.threads));
    cascade::enqueue_reduce<width>(pass, launch, chunk, totals, stream);
    if (variant == Variant::mapped)
      enqueue_host_scan({task.type, task.op, false, launch.blocks, totals, totals}, workspace,
                        stream);
    else
      cascade::enqueue_scan_totals<Tile>(pass, launch, totals, stream);
    cascade::enqueue_scan<Tile>(pass, launch, chunk, totals, stream);
  });
}

// The same for Tile<1>, Tile<2> or Tile<4>, by the parameter "butterflies", which is the fourth.
inline constexpr std::array butterfly_choices{1, 2, 4};
template <template <int> class Tile>
void enqueue_butterflies(const ScanTask& task, void* workspace, StreamHandle stream) {
  switch (task.settings[3]) {
    case 1:
      return enqueue<Tile<1>, 1>(task, workspace, stream);
    case 2:
      return enqueue<Tile<2>, 1>(task, workspace, stream);
    default:
      return enqueue<Tile<4>, 1>(task, workspace, stream);
  }
}

// An algorithm of the paper: what all of them share, and its own.
constexpr ScanAlgorithm algorithm(std::string_view id, std::string_view title,
                                  std::span<const ScanParameter> parameters,
                                  void (*enqueue)(const ScanTask&, void*, StreamHandle)) {
  return {.id = id,
          .title = title,
          .paper = paper,
          .year = 2014,
          .parameters = parameters,
          .cost = cost,
          .workspace_bytes = workspace_bytes,
          .needs_mapped_memory = is_mapped,
          .enqueue = enqueue};
}

// ---- tiles in shared memory ----

// Stores the results of a tile of `count` elements per thread, of which x[i] is the inclusive scan
// within the tile. Returns the combination up to its end. Ends with a barrier.
template <int count, class Pass>
__device__ __forceinline__ typename Pass::T store_tile(const Pass& pass, int begin,
                                                       typename Pass::T before,
                                                       DynamicShared<typename Pass::T> x) {
  using T = typename Pass::T;
  const int threads = static_cast<int>(blockDim.x);
  FACESAT_UNROLL
  for (int k = 0; k < count; ++k) {
    const int i = k * threads + static_cast<int>(threadIdx.x);
    if (begin + i >= pass.n) continue;
    if (pass.is_inclusive)
      pass.output[begin + i] = pass.op(before, x[i]);
    else
      pass.output[begin + i] = i > 0 ? pass.op(before, x[i - 1]) : before;
  }
  const T end = pass.op(before, x[count * threads - 1]);
  __syncthreads();  // the next tile overwrites x
  return end;
}

// Loads a tile of `count` elements per thread. Ends with a barrier.
template <int count, class Pass>
__device__ __forceinline__ void load_tile(const Pass& pass, int begin,
                                          DynamicShared<typename Pass::T> x) {
  const int threads = static_cast<int>(blockDim.x);
  FACESAT_UNROLL
  for (int k = 0; k < count; ++k) {
    const int i = k * threads + static_cast<int>(threadIdx.x);
    x[i] = pass.load(begin + i);
  }
  __syncthreads();
}

// Kogge and Stone's scan of `count` elements per thread in shared memory, in place: in step d,
// element i takes in element i - d. All reads of a step come before its writes. Ends with a
// barrier.
template <int count, class T, class Op>
__device__ __forceinline__ void scan_kogge_stone(const Op& op, DynamicShared<T> x) {
  const int threads = static_cast<int>(blockDim.x), size = count * threads;
  for (int d = 1; d < size; d *= 2) {
    T sums[count];
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) {
      const int i = k * threads + static_cast<int>(threadIdx.x);
      const T own = x[i];
      sums[k] = i >= d ? op(x[i - d], own) : own;
    }
    __syncthreads();
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) x[k * threads + static_cast<int>(threadIdx.x)] = sums[k];
    __syncthreads();
  }
}

}  // namespace facesat::gpu::dieguez_2014
