// What follows the product of windows and features: node values become responses, responses become
// leaves, leaves become sums of stages. All threads of a warp work on the same 16 windows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cascade/compiled_products.hpp"
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {

constexpr int warp_windows = 16;  // of one product of a warp
constexpr int lanes_per_row = 4;  // threads that have the sums of a window
constexpr int warpgroup_threads = 128, warpgroup_windows = 64;

// A thread's part of two windows: those of rows l / 4 and l / 4 + 8 of its warp, for lane l. The
// four threads of a row have different columns of the product (see device/matrix.hpp).
template <int column_groups, int tree_nodes>
class WindowSums {
 public:
  static constexpr int bundles = column_groups / tree_nodes;  // of a product
  using Values = std::int32_t[column_groups][4];
  using Shared = DynamicShared<std::uint32_t>;

  __device__ explicit WindowSums(const Shared& shared) : shared_(shared) {}

  // Half 0 or 1 takes a new window; a deviation of 0 stands for none.
  __device__ void begin(int half, float inverse_deviation) {
    inverse_deviation_[half] = inverse_deviation;
    alive_[half] = inverse_deviation != 0;
    sum_[half] = {};
    last_sum_[half] = 0;
  }
  __device__ bool alive(int half) const { return alive_[half]; }
  __device__ bool any_alive() const { return alive_[0] || alive_[1]; }
  __device__ float inverse_deviation(int half) const { return inverse_deviation_[half]; }
  // Of the last stage that has ended.
  __device__ std::int64_t last_sum(int half) const { return last_sum_[half]; }

  // Adds the leaves of a product's trees, and decides at the ends of stages. `trees`: their place
  // in shared memory, in words; `count`: how many bundles there are from here on.
  __device__ void add(int trees, int count, const Values& values) {
    FACESAT_UNROLL
    for (int b = 0; b < bundles; ++b, trees += layout.tree_bytes() / 4) {
      if (b >= count) return;
      add_leaves(trees, b, values);
      const int end = trees + layout.end() / 4;
      if (shared_[end + static_cast<int>(offsetof(BundleEnd, ends_stage)) / 4])
        end_stage(shared_.template read<BundleEnd>(end));
    }
  }

 private:
  static constexpr BundleLayout layout{tree_nodes, 0};  // of trees, which do not depend on steps

  // For the two trees that a thread has of a bundle: those of its columns.
  __device__ void add_leaves(int trees, int bundle, const Values& values) {
    struct alignas(8) Thresholds {
      float of[2];
    };
    const int tree = lane_ % lanes_per_row * 2;
    Thresholds thresholds[tree_nodes];
    FACESAT_UNROLL
    for (int j = 0; j < tree_nodes; ++j)
      thresholds[j] = shared_.template read<Thresholds>(trees + j * column_group + tree);
    const auto value_of = [&](int node, int side, int half) {
      const std::int32_t value = values[bundle * tree_nodes + node][half * 2 + side];
      return static_cast<float>(value) * inverse_deviation_[half];
    };
    FACESAT_UNROLL
    for (int half = 0; half < 2; ++half) {
      if constexpr (tree_nodes == 1) {
        struct alignas(16) Gains {
          SplitValue of[2];
        };
        const auto gains = shared_.template read<Gains>(trees + layout.leaves() / 4 + tree * 2);
        FACESAT_UNROLL
        for (int side = 0; side < 2; ++side)
          add_if_less(sum_[half].low, sum_[half].high, value_of(0, side, half),
                      thresholds[0].of[side], gains.of[side].low, gains.of[side].high);
      } else {
        FACESAT_UNROLL
        for (int side = 0; side < 2; ++side)
          add_leaf(sum_[half], trees, tree + side, outcome_of(thresholds, value_of, side, half));
      }
    }
  }

  // The node values' outcomes, one bit each.
  template <class Thresholds, class ValueOf>
  static __device__ int outcome_of(const Thresholds (&thresholds)[tree_nodes], ValueOf value_of,
                                   int side, int half) {
    int outcome = 0;
    FACESAT_UNROLL
    for (int j = 0; j < tree_nodes; ++j)
      if (value_of(j, side, half) < thresholds[j].of[side]) outcome |= 1 << j;
    return outcome;
  }
  __device__ void add_leaf(SplitValue& sum, int trees, int tree, int outcome) const {
    const BundleLayout of_trees{tree_nodes, 0};
    const auto leaf = shared_.template read<SplitValue>(trees + of_trees.leaf(tree, outcome) / 4);
    sum.low += leaf.low;
    sum.high += leaf.high;
  }

  __device__ void end_stage(const BundleEnd& end) {
    FACESAT_UNROLL
    for (int half = 0; half < 2; ++half) {
      std::int64_t sum = sum_[half].high * (std::int64_t{1} << low_bits) + sum_[half].low;
      for (int d = 1; d < lanes_per_row; d *= 2) sum += __shfl_xor_sync(full_warp, sum, d);
      sum += end.base;
      alive_[half] = alive_[half] && sum >= end.threshold;
      last_sum_[half] = sum;
      sum_[half] = {};
    }
  }

  const Shared& shared_;
  const int lane_ = static_cast<int>(threadIdx.x) % 32;
  float inverse_deviation_[2];
  bool alive_[2];
  SplitValue sum_[2];         // of the current stage, this thread's part
  std::int64_t last_sum_[2];  // whole
};

// Appends the survivors of a warp to a list, in order. `take` reserves the given number of elements
// and returns the index of the first; lane 0 calls it. `put` gets a half and its index.
template <class Sums, class Take, class Put>
__device__ __forceinline__ void append_survivors(const Sums& sums, Take take, Put put) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned votes[2];
  FACESAT_UNROLL
  for (int half = 0; half < 2; ++half)
    votes[half] = __ballot_sync(full_warp, sums.alive(half) && lane % lanes_per_row == 0);
  const int count = __popc(votes[0]) + __popc(votes[1]);
  if (count == 0) return;
  std::uint32_t index = 0;
  if (lane == 0) index = take(static_cast<std::uint32_t>(count));
  index = __shfl_sync(full_warp, index, 0);
  FACESAT_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int before = __popc(votes[half] & ((1u << lane) - 1));
    if (votes[half] >> lane & 1) put(half, index + static_cast<std::uint32_t>(before));
    index += static_cast<std::uint32_t>(__popc(votes[half]));
  }
}

}  // namespace facesat::gpu
