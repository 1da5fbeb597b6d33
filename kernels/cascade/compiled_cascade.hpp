// A cascade as the GPU evaluates it: features are offsets into a patch (the part of the integral
// image that a block keeps in shared memory), leaves are fixed-point numbers. Made on the host,
// without CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/cascade.hpp"
#include "kernels/cascade/node.hpp"

namespace facesat::gpu {

// One alternative per FeatureKind. Code that depends on the kind visits it.
using CompiledNodes = std::variant<std::vector<HaarNode>, std::vector<LbpNode>>;

struct CompiledStage {
  // Stumps: runs of nodes, see NodeCompiler::sort(). Trees: run 0 has indices into
  // CompiledCascade::roots.
  Runs runs;
  std::int64_t base;       // stumps: the sum of all right leaves
  std::int64_t threshold;  // fixed point, rounded up: rejected if sum < threshold
  double threshold_f64;    // for sums that are not in fixed point
};

struct CompiledCascade {
  // Whether sums are in fixed point: leaves are integer multiples of 2^-fraction_bits and every f64
  // sum is exact, so that integers, added in any order, give the same result. Otherwise sums are
  // f64, added in the file's order.
  bool fixed_point = true;
  int fraction_bits = 0;
  bool stumps = true;  // all trees are stumps, and sums are in fixed point

  CompiledNodes nodes;
  std::vector<std::int32_t> roots;   // of trees: the index of each root node
  std::vector<std::int64_t> leaves;  // of trees; the bits of an f64 where fixed_point is false
  std::vector<CompiledStage> stages;
  std::vector<std::int32_t> stage_ends;  // past the last node of each stage

  // For Haar cascades. A window's variance is high enough if normalised_area * squared_sum - sum^2
  // >= min_spread, with the sums over rules::normalised_rectangle().
  std::vector<GeneralFeature> general;
  std::int64_t normalised_area = 0, min_spread = 0;
  // The corners of that rectangle, row by row: words from the window's first one.
  std::uint32_t normalised_corners[4]{};
};

// The smallest number of fraction bits that represents all leaves; nullopt if a stage's sums could
// then exceed the 53 bits in which f64 is exact.
std::optional<int> exact_fraction_bits(const Cascade& cascade);

// A leaf or a stage's threshold in fixed point, rounded up. Only thresholds are ever rounded;
// leaves are exact.
std::int64_t to_fixed_point(double value, int fraction_bits);

CompiledCascade compile_cascade(const Cascade& cascade, const PatchLayout& layout);

// Converts a stage's sum on the GPU to a score.
double score_of(const CompiledCascade& cascade, std::int64_t sum);

}  // namespace facesat::gpu
