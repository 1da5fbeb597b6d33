// One stage of a cascade: boosted trees that tell positives from negatives, and the threshold of
// their sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/sample_tables.hpp"
#include "boosting/samples.hpp"
#include "boosting/screen.hpp"
#include "boosting/tree.hpp"

namespace facesat::training {

struct StageOptions {
  Boosting boosting = Boosting::gentle;
  double min_hit_rate = 0.995;   // of the training positives, that must pass
  double max_false_alarm = 0.5;  // of the training negatives, that may pass
  double trim_rate = 0.95;       // a tree learns from the heaviest samples, of this weight together
  int depth = 1;                 // of trees; 1: stumps
  int max_trees = 100;
  bool threshold_by_held_out =
      false;     // min_hit_rate is of the positives held out, if there are any
  int bins = 0;  // 0: exact thresholds; otherwise those between this many bins
  std::size_t memory = std::size_t{4} << 30;  // for bins of features, in bytes
  MakeScreen make_screen = make_cpu_screen;   // all make the same cascade
};

// Samples to learn from, and others, which may be empty, to see how the stage does with samples
// that it has not learnt from. Positives come first.
struct StageSamples {
  Samples positives, negatives, held_out_positives, held_out_negatives;
};

// Rates of no samples are 1.
struct Rates {
  double hit_rate = 1, false_alarm = 1;
};

class StageTrainer {
 public:
  // Keeps a reference to `pool`, but not to the samples. Throws MemoryError, and DeviceError if the
  // screen is a GPU's.
  StageTrainer(const FeaturePool& pool, const StageSamples& samples, const StageOptions& options);

  // Trains the next tree. Returns false if there is none: no feature divides the samples.
  bool train_tree();
  // Goes on as if train_tree() had trained this tree; an earlier trainer has, for the same samples
  // and options.
  void add(TrainedTree tree);
  const std::vector<TrainedTree>& trees() const { return trees_; }

  // The highest threshold that min_hit_rate allows; of f32, as in the file: the detector's margin
  // is not subtracted.
  float threshold() const;
  // Rates with that threshold, by the rules of the detector.
  Rates rates() const { return rates(0, positives_, count_); }
  Rates held_out_rates() const {
    return rates(count_, count_ + held_out_positives_, scores_.size());
  }
  bool has_reached_rate() const;
  std::size_t held_out_positives() const { return held_out_positives_; }

 private:
  Rates rates(std::size_t first, std::size_t first_negative, std::size_t last) const;
  bool is_positive(std::size_t sample) const { return sample < positives_; }
  void scale_discrete(TrainedTree& tree);
  void update_weights(std::span<const std::uint32_t> leaves);
  void update_logit(std::span<const std::uint32_t> leaves);
  void normalise_weights();
  double least_weight_kept() const;
  void trim();

  const FeaturePool& pool_;
  StageOptions options_;
  std::size_t positives_, count_;  // of the samples that are learnt from
  std::size_t held_out_positives_;
  SampleTables tables_;
  std::unique_ptr<Screen> screen_;
  std::vector<TrainedTree> trees_;
  std::vector<double> weights_;
  std::vector<float> responses_;     // what the next tree learns
  std::vector<double> logits_;       // LogitBoost's F
  std::vector<std::uint32_t> used_;  // by the next tree: not trimmed
  std::vector<double> scores_;       // of all samples: the detector's sums over the trees
};

}  // namespace facesat::training
