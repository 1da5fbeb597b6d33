// Which features can have the best split of a node at all: a quick estimate for each, so that only
// a few are searched exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/sample_tables.hpp"
#include "boosting/split.hpp"

namespace facesat::training {

// The most bins of a feature's values; codes of LBP features are bins themselves.
constexpr int most_bins = 256;

// What is added to the bins of the samples of a node: integers whose sums fit into 32 bits.
struct Addends {
  // What the integers count. If responses are signs, weights say it all, and there are no others.
  struct Units {
    bool has_signs = true;
    float weight = 0x1p-30f, target = 0x1p-27f, square = 0x1p-24f;
    float most = 1;  // the largest response
  };

  explicit Addends(const NodeSamples& node);

  Units units;
  std::vector<std::uint32_t> samples;  // that the addends belong to; empty: all samples
  std::vector<std::int32_t> weights, targets, squares;  // responses times weight, squares the same
  std::size_t positives = 0;                            // of the addends; they come first
  float margin = 0;                                     // for error_of()
};

// By how much a quality that was computed in f32, from sums of rounded addends, may be wrong.
constexpr float error_of(float quality, float margin) {
  return margin + 1e-5f * (1 + quality);
}

// The features that may have the best split of a node.
struct Candidates {
  struct One {
    float bound;  // no split of the feature has a higher quality
    std::uint32_t feature;
  };
  std::vector<One> features;  // the one with the highest bound first
  // Features that are left out have lower bounds than this: a quality that a split between two bins
  // should reach.
  float least = 0;
};

// Features are the columns of one stage's samples.
class Screen {
 public:
  virtual ~Screen() = default;

  // If `between_bins`, only splits that have no bin on both sides count. With `least`, candidates
  // are the features whose bound is at least that. Throws DeviceError, MemoryError.
  virtual Candidates candidates(const NodeSamples& node, SplitCriterion criterion,
                                bool between_bins, std::optional<float> least = {}) = 0;
  // How the values of a Haar feature are divided into bins: the same on all machines.
  virtual const Quantiser& quantiser(std::size_t feature) const = 0;
};

// Makes the screen for the samples of a stage. It keeps references to pool and tables, and the bins
// of all samples in at most `memory` bytes; what does not fit is computed again for each
// node. `bins` is at most most_bins. Throws MemoryError.
using MakeScreen = std::function<std::unique_ptr<Screen>(
    const FeaturePool& pool, const SampleTables& tables, int bins, std::size_t memory)>;

std::unique_ptr<Screen> make_cpu_screen(const FeaturePool& pool, const SampleTables& tables,
                                        int bins, std::size_t memory);

// The best split of a node, whatever the screen; nothing if no feature divides its samples. Exactly
// the best one, or, if `between_bins`, the best one that has no bin on both sides.
std::optional<Split> best_split(Screen& screen, const FeaturePool& pool, const SampleTables& tables,
                                const NodeSamples& node, SplitCriterion criterion,
                                bool between_bins);

}  // namespace facesat::training
