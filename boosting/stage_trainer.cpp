#include "boosting/stage_trainer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace facesat::training {
namespace {

std::array<const Samples*, 4> parts_of(const StageSamples& samples) {
  return {&samples.positives, &samples.negatives, &samples.held_out_positives,
          &samples.held_out_negatives};
}

// Many bins rule out more features; with few samples, they take more time than the samples.
int bins_of(const StageOptions& options, std::size_t samples) {
  if (options.bins > 0) return options.bins;
  return samples < 4096 ? 64 : 256;
}

}  // namespace

StageTrainer::StageTrainer(const FeaturePool& pool, const StageSamples& samples,
                           const StageOptions& options)
    : pool_(pool),
      options_(options),
      positives_(samples.positives.count()),
      count_(positives_ + samples.negatives.count()),
      held_out_positives_(samples.held_out_positives.count()),
      tables_(pool, parts_of(samples)),
      screen_(options.make_screen(pool, tables_, bins_of(options, count_), options.memory)),
      weights_(count_, 1.0 / static_cast<double>(count_)),
      responses_(count_),
      used_(count_),
      scores_(tables_.count()) {
  const bool is_logit = options.boosting == Boosting::logit;
  const float response = is_logit ? 2 : 1;
  for (std::size_t i = 0; i < count_; ++i) responses_[i] = is_positive(i) ? response : -response;
  if (is_logit) logits_.resize(count_);
  std::iota(used_.begin(), used_.end(), 0u);
}

bool StageTrainer::train_tree() {
  if (used_.empty()) return false;
  TrainedTree tree = grow_tree(
      pool_, tables_, *screen_,
      {.weights = weights_, .responses = responses_, .positives = positives_, .used = used_},
      {.boosting = options_.boosting, .depth = options_.depth, .between_bins = options_.bins != 0});
  if (tree.nodes.empty()) return false;
  if (options_.boosting == Boosting::discrete) scale_discrete(tree);
  add(std::move(tree));
  return true;
}

// Discrete AdaBoost: the leaves become votes, which weigh the more the smaller the error is.
void StageTrainer::scale_discrete(TrainedTree& tree) {
  const std::vector<std::uint32_t> leaves = tree.leaves_of(pool_, tables_);
  double error = 0, sum = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    sum += weights_[i];
    if ((tree.leaves[leaves[i]] > 0) != is_positive(i)) error += weights_[i];
  }
  const double vote = -log_odds(error / sum);
  for (double& leaf : tree.leaves) leaf *= vote;
}

void StageTrainer::add(TrainedTree tree) {
  const std::vector<std::uint32_t> leaves = tree.leaves_of(pool_, tables_);
  for (std::size_t i = 0; i < scores_.size(); ++i)
    scores_[i] += static_cast<double>(static_cast<float>(tree.leaves[leaves[i]]));
  trees_.push_back(std::move(tree));
  if (options_.boosting == Boosting::logit)
    update_logit(leaves);
  else
    update_weights(leaves);
  normalise_weights();
  trim();
}

// The weights of a leaf's positives, or its negatives, are all multiplied by the same factor.
void StageTrainer::update_weights(std::span<const std::uint32_t> leaves) {
  std::vector<std::array<double, 2>> factors;
  for (const double leaf : trees_.back().leaves) {
    const auto factor = [&](bool of_positives) {
      if (options_.boosting == Boosting::discrete)
        return (leaf > 0) == of_positives ? 1 : std::exp(std::fabs(leaf));
      return std::exp(of_positives ? -leaf : leaf);
    };
    factors.push_back({factor(false), factor(true)});
  }
  for (std::size_t i = 0; i < count_; ++i) weights_[i] *= factors[leaves[i]][is_positive(i)];
}

void StageTrainer::normalise_weights() {
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  if (sum <= static_cast<double>(std::numeric_limits<float>::epsilon())) return;
  const double scale = 1 / sum;
  for (double& weight : weights_) weight *= scale;
}

void StageTrainer::update_logit(std::span<const std::uint32_t> leaves) {
  constexpr double least_weight = std::numeric_limits<float>::epsilon();
  constexpr double most_response = NodeSamples::most_response;
  for (std::size_t i = 0; i < count_; ++i) {
    logits_[i] += 0.5 * trees_.back().leaves[leaves[i]];
    const double p = 1 / (1 + std::exp(-2 * logits_[i]));  // that the sample is positive
    weights_[i] = std::max(p * (1 - p), least_weight);
    responses_[i] = static_cast<float>(is_positive(i) ? std::min(1 / p, most_response)
                                                      : -std::min(1 / (1 - p), most_response));
  }
}

// The smallest weight that is kept: in the order of weights, that of the first sample before which
// the sum reaches the weight to be left out.
double StageTrainer::least_weight_kept() const {
  std::vector<double> weights = weights_;
  const auto at = [&](std::size_t i) { return weights.begin() + static_cast<std::ptrdiff_t>(i); };
  double left_out = 1 - options_.trim_rate;  // less the weights before `first`
  std::size_t first = 0, last = count_;      // it is one of these; last: there is none
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    std::nth_element(at(first), at(middle), at(last));
    const double before = std::accumulate(at(first), at(middle), 0.0);
    if (before >= left_out) {
      last = middle;
    } else {
      left_out -= before + weights[middle];
      first = middle + 1;
    }
  }
  return last < count_ ? weights[last] : std::numeric_limits<double>::infinity();
}

// Leaves out the lightest samples, which together have 1 - trim_rate of the weight; of those that
// are equally heavy, but for rounding errors, all or none. They take part again when they have
// become heavier.
void StageTrainer::trim() {
  if (options_.trim_rate <= 0 || options_.trim_rate >= 1) return;
  const double least = least_weight_kept();
  used_.clear();
  for (std::size_t i = 0; i < count_; ++i)
    if (weights_[i] >= least * (1 - 1e-9)) used_.push_back(static_cast<std::uint32_t>(i));
}

float StageTrainer::threshold() const {
  const bool by_held_out = options_.threshold_by_held_out && held_out_positives_ > 0;
  const std::size_t first = by_held_out ? count_ : 0;
  std::vector<float> sums(by_held_out ? held_out_positives_ : positives_);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(scores_[first + i]);
  const float may_fail =
      (1.0f - static_cast<float>(options_.min_hit_rate)) * static_cast<float>(sums.size());
  const auto lowest =
      sums.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(may_fail, sums.size() - 1));
  std::ranges::nth_element(sums, lowest);
  return *lowest;
}

Rates StageTrainer::rates(std::size_t first, std::size_t first_negative, std::size_t last) const {
  const double least = threshold() - stage_margin;
  const auto rate = [&](std::size_t begin, std::size_t end) {
    const auto passes = [least](double score) { return score >= least; };
    const auto passed = std::count_if(scores_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      scores_.begin() + static_cast<std::ptrdiff_t>(end), passes);
    return begin == end ? 1 : static_cast<double>(passed) / static_cast<double>(end - begin);
  };
  return {.hit_rate = rate(first, first_negative), .false_alarm = rate(first_negative, last)};
}

bool StageTrainer::has_reached_rate() const {
  return static_cast<float>(rates().false_alarm) <= static_cast<float>(options_.max_false_alarm);
}

}  // namespace facesat::training
