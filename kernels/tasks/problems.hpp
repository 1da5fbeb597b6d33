// The problems that are solved as task arrays. Includes no CUDA headers; the solvers are in
// knapsack.cu, error_diffusion.cu and sat.cu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "filters/halftone.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/tasks/task_array.hpp"

namespace facesat::gpu {

// ---- the 0-1 knapsack problem: of items with values and weights, choose those of the largest
// total value whose weights add up to no more than a capacity.
//
// V(j, c), the largest value of the first j items at capacity c, is the larger of V(j - 1, c) and
// V(j - 1, c - weight of item j) + value of item j. All algorithms here compute this table, column
// by column; equal values leave the item out. Values are added in the order of the items, so that
// all algorithms give the same bits.
//
// Source: Funasaka, Nakano, Ito 2017, section V-A, with v_j for the v_i of its recurrence, and
// sums of v_k, the values, where it has sums of w_k.

// Everything is in device memory and belongs to the caller. `taken` has taken_words() words per
// item: bit c % 32 of word c / 32 says that the best choice of this and earlier items at capacity c
// has this item. Bits past `capacity` are zero.
struct KnapsackTask {
  int items = 0, capacity = 0;
  const float* values = nullptr;
  const int* weights = nullptr;  // not negative
  float* best = nullptr;         // V(items, c) for c from 0 to capacity
  std::uint32_t* taken = nullptr;
};

// From 1 item on, and from capacity 0 on; largest_capacity + 1 rounded up to any block fits an int.
inline constexpr int largest_capacity = (1 << 30) - 1, most_items = 1 << 24;

constexpr std::size_t taken_words(int capacity) {
  return static_cast<std::size_t>(capacity) / 32 + 1;
}

// The ways to solve it on a GPU; none in builds without CUDA.
using KnapsackSolver = TaskSolver<KnapsackTask>;
std::span<const KnapsackSolver> knapsack_solvers();

// Finds the items of the best choice at `capacity` from `taken`: chosen[j] becomes 1 or 0.
// `chosen` is device memory.
void enqueue_choice(const KnapsackTask& task, std::uint8_t* chosen, StreamHandle stream);

// The definition, on the host.

struct KnapsackTable {
  std::vector<float> best;           // as KnapsackTask has it
  std::vector<std::uint32_t> taken;  // likewise
};
inline KnapsackTable knapsack_table(std::span<const float> values, std::span<const int> weights,
                                    int capacity) {
  KnapsackTable table;
  table.best.assign(static_cast<std::size_t>(capacity) + 1, 0.0f);
  table.taken.assign(values.size() * taken_words(capacity), 0);
  for (std::size_t j = 0; j < values.size(); ++j) {
    std::uint32_t* const taken = table.taken.data() + j * taken_words(capacity);
    for (int c = capacity; c >= weights[j]; --c) {  // downwards: best[c - weight] is still V(j - 1)
      float& own = table.best[static_cast<std::size_t>(c)];
      const float with = table.best[static_cast<std::size_t>(c - weights[j])] + values[j];
      if (with > own) {
        own = with;
        taken[c / 32] |= 1u << c % 32;
      }
    }
  }
  return table;
}

// The items of the best choice at `capacity`.
inline std::vector<std::uint8_t> knapsack_choice(std::span<const std::uint32_t> taken,
                                                 std::span<const int> weights, int capacity) {
  std::vector<std::uint8_t> chosen(weights.size());
  const std::size_t words = taken_words(capacity);
  int c = capacity;
  for (std::size_t j = weights.size(); j-- > 0;)
    if (taken[j * words + static_cast<std::size_t>(c / 32)] >> c % 32 & 1) {
      chosen[j] = 1;
      c -= weights[j];
    }
  return chosen;
}

// ---- halftone pictures by error diffusion, whose rules and definitions are in
// filters/halftone.hpp
//
// Source: Funasaka, Nakano, Ito 2017, section V-C, after A. Kasagi, K. Nakano, Y. Ito,
// "Parallelization techniques for error diffusion with GPU implementations", CANDAR 2015.

using facesat::collect_errors;
using facesat::diffuse_errors;
using facesat::HalftoneRule;
using facesat::IntegerHalftone;
using facesat::pixel_bits;
using facesat::RealHalftone;
using facesat::visit_rule;

// Both pictures are in device memory, of the same size. Rows start on 16-byte boundaries; pitches
// are in bytes, and all of a row's pitch can be read. White is 255 and black 0. Rows of the
// halftone may be overwritten up to the next multiple of 4 bytes.
struct HalftoneTask {
  HalftoneRule rule = HalftoneRule::real;
  Size size;
  const std::uint8_t* picture = nullptr;
  std::ptrdiff_t picture_pitch = 0;
  std::uint8_t* halftone = nullptr;
  std::ptrdiff_t halftone_pitch = 0;
};

// The ways to compute it on a GPU; none in builds without CUDA.
using HalftoneSolver = TaskSolver<HalftoneTask>;
std::span<const HalftoneSolver> halftone_solvers();

// ---- integral images (summed area tables)

// The schedules of task arrays for the tiles of Funasaka et al. 2017, and our own fastest SAT; none
// in builds without CUDA. Types other than 32f32f and squares are left to kernels/sat: they are not
// computed.
using SatSolver = TaskSolver<SatTask>;
std::span<const SatSolver> sat_solvers();

}  // namespace facesat::gpu
