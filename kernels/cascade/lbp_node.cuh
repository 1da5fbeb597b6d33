// The node test of LBP cascades, and the sum of a stage of LBP stumps.
#pragma once

#include <utility>

#include "core/rules.hpp"
#include "kernels/cascade/stage_sums.cuh"

namespace facesat::gpu {

// The code of a window: 8 bits that compare the outer blocks of a feature with its centre.
__device__ __forceinline__ unsigned lbp_code(const LbpNode& n, const Patch& patch, Base base) {
  std::uint32_t across[4][3];  // differences of neighbouring corners of a row
  for (int j = 0; j < 4; ++j) {
    const Two left = elements(patch, base, n.corners[j][0]),
              right = elements(patch, base, n.corners[j][1]);
    across[j][0] = left.upper - left.lower;
    across[j][1] = right.lower - left.upper;
    across[j][2] = right.upper - right.lower;
  }
  // The sum of the block in column i, row j.
  const auto block = [&](int i, int j) { return across[j + 1][i] - across[j][i]; };
  const std::uint32_t centre = block(1, 1);
  const auto bit = [&]<int n>(std::integral_constant<int, n>) {
    constexpr rules::Corner b = rules::lbp_blocks[n];
    return block(b.x, b.y) >= centre ? 128u >> n : 0u;
  };
  return [&]<int... n>(std::integer_sequence<int, n...>) {
    return (bit(std::integral_constant<int, n>()) | ...);
  }
  (std::make_integer_sequence<int, 8>());
}

// Nobody reads `subset` of this copy, so the compiler drops its load: a lane needs only one word of
// it, which goes_left() reads from memory.
__device__ __forceinline__ LbpNode load(const LbpNode* node) {
  return *node;
}

__device__ __forceinline__ bool goes_left(const LbpNode& n, int i, const StepCascade& cascade,
                                          const Patch& patch, const Place& at) {
  const unsigned code = lbp_code(n, patch, at.base);
  return (nodes_in_memory<LbpNode>(cascade)[i].subset[code >> 5] >> (code & 31) & 1) != 0;
}

template <>
struct Stumps<LbpNode> : StumpsOf<LbpNode> {
  template <int W>
  __device__ static void add(const StepCascade& c, const CompiledStage& stage, const Patch& patch,
                             int first, int stride, const Place (&at)[W], std::int64_t (&sums)[W]) {
    with_nodes<LbpNode>(c, stage, [&](auto nodes) {
      for (int i = stage.runs.begin[0] + first; i < stage.runs.begin[1]; i += stride) {
        const LbpNode n = nodes(i);
        FACESAT_UNROLL
        for (int k = 0; k < W; ++k)
          if (goes_left(n, i, c, patch, at[k])) sums[k] += n.gain;
      }
    });
  }
};

}  // namespace facesat::gpu
