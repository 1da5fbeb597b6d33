// Which features can have the best split of a node at all: a quick bound for each, so that only a
// few are searched exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "train/feature_pool.hpp"
#include "train/sample_tables.hpp"
#include "train/split.hpp"

namespace facesat::train {

// Bins for the values of a Haar feature, which reach three deviations to both sides of the mean.
Quantiser quantiser_of(std::span<const float> values, int bins);

// The values of all features for all samples in bins of a byte, for one stage. LBP codes are bins
// themselves.
//
// Idea: sums of weights in the bins of a feature, a histogram, take a fraction of the time of
//   sorting, and bound what any split can reach: a split within a bin is at most as good as if each
//   of the bin's samples were a side of its own, because dividing a side further never makes it
//   worse. Of 160,000 features, some ten pass for the best known one.
// Cost: a read of a byte and an addition into a histogram per feature and sample, for each node.
// Source: the bound follows R. Appel, T. Fuchs, P. Dollár, P. Perona, "Quickly Boosting Decision
//   Trees: Pruning Underachieving Features Early", ICML 2013, who bound features from a part of the
//   samples; here it is from all, in less detail.
class Screen {
 public:
  // Keeps at most `memory` bytes of bins; those of the other features are computed again for each
  // node. `bins` is at most 256. Keeps references. Throws MemoryError.
  Screen(const FeaturePool& pool, const SampleTables& tables, int bins, std::size_t memory);
  ~Screen();

  // The best split of a node; nothing if no feature divides its samples. Exactly the best one, or,
  // if `between_bins`, the best one that has no bin on both sides.
  std::optional<Split> best_split(const NodeSamples& samples, SplitCriterion criterion,
                                  bool between_bins) const;

  std::size_t kept() const { return kept_; }  // features whose bins are in memory

 private:
  struct Scratch;
  void compute_bins(std::size_t feature, std::span<const float> values, std::uint8_t* bins) const;
  const std::uint8_t* bins_of(std::size_t feature, int which, Scratch& scratch) const;
  std::vector<float> bounds(const NodeSamples& samples, SplitCriterion criterion,
                            bool between_bins) const;

  const FeaturePool& pool_;
  const SampleTables& tables_;
  int bins_;
  std::size_t kept_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // tables_.padded() for each feature that is kept
  std::vector<Quantiser> quantisers_;      // of Haar features
};

}  // namespace facesat::train
