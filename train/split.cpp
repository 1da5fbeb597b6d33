#include "train/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace facesat::train {
namespace {

constexpr double unit = 1.0 / (std::int64_t{1} << NodeSamples::fraction_bits);
// Values that are closer than this are not separated, and categories lighter than half of it are
// passed over.
constexpr float least_gap = 2 * std::numeric_limits<float>::epsilon();
constexpr double least_weight = std::numeric_limits<float>::epsilon();

// Sums over samples on one side of a split; of classes, too.
struct RealSums {
  double weight = 0, target = 0;
  double positive = 0, negative = 0;  // weights

  static RealSums of(const SideSums& sums) {
    const double weight = static_cast<double>(sums.weight) * unit;
    const double target = static_cast<double>(sums.target) * unit;
    return {weight, target, 0.5 * static_cast<double>(sums.weight + sums.target) * unit,
            0.5 * static_cast<double>(sums.weight - sums.target) * unit};
  }
  void add(double w, float response) {
    weight += w;
    target += static_cast<double>(response) * w;
    (response > 0 ? positive : negative) += w;
  }
  RealSums operator+(const RealSums& other) const {
    return {weight + other.weight, target + other.target, positive + other.positive,
            negative + other.negative};
  }
  RealSums operator-(const RealSums& other) const {
    return {weight - other.weight, target - other.target, positive - other.positive,
            negative - other.negative};
  }
  double mean() const {
    return weight > std::numeric_limits<double>::epsilon() ? target / weight : 0;
  }
};

// The quality of a split, in the old trainer's f64 arithmetic: the best one is the largest.
double quality_of(SplitCriterion criterion, const RealSums& left, const RealSums& right) {
  const auto squares = [](const RealSums& side) {
    return side.positive * side.positive + side.negative * side.negative;
  };
  switch (criterion) {
    case SplitCriterion::regression:
      return (left.target * left.target * right.weight +
              right.target * right.target * left.weight) /
             (left.weight * right.weight);
    case SplitCriterion::gini:
      return (squares(left) * right.weight + squares(right) * left.weight) /
             (left.weight * right.weight);
    case SplitCriterion::misclassification:
      return std::max(left.negative + right.positive, left.positive + right.negative);
  }
  throw std::logic_error("unknown criterion");
}

// A threshold with greater > threshold > least: the mean in f32, or, if that is rounded to `least`,
// which would then go right, the greater value.
float threshold_between(float least, float greater) {
  const float mean = (least + greater) * 0.5f;
  return mean > least ? mean : greater;
}

}  // namespace

NodeSamples::NodeSamples(std::vector<double> weights_inside, std::span<const float> all_responses,
                         std::size_t positives_count)
    : positives(positives_count),
      responses(all_responses),
      real_weights(std::move(weights_inside)),
      weights(real_weights.size()),
      targets(real_weights.size()) {
  constexpr double one = std::int64_t{1} << fraction_bits;
  for (std::size_t i = 0; i < count(); ++i) {
    if (real_weights[i] == 0) continue;
    inside.push_back(static_cast<std::uint32_t>(i));
    weights[i] = std::llrint(real_weights[i] * one);
    targets[i] = std::llrint(real_weights[i] * static_cast<double>(responses[i]) * one);
    has_signs = has_signs && std::fabs(responses[i]) == 1;
  }
}

SideSums NodeSamples::sums() const {
  SideSums all;
  for (const std::uint32_t sample : inside) all = all + SideSums{weights[sample], targets[sample]};
  return all;
}

std::optional<Split> SplitFinder::find(std::size_t feature, const Quantiser* between) {
  switch (pool_.kind) {
    case FeatureKind::haar:
      return haar(feature, between);
    case FeatureKind::lbp:
      return lbp(feature);
  }
  throw std::logic_error("unknown kind of feature");
}

std::optional<Split> SplitFinder::haar(std::size_t feature, const Quantiser* between) {
  values_.resize(tables_.padded());
  tables_.values(pool_.haar[feature], values_.data());
  sorted_.clear();
  for (const std::uint32_t sample : samples_.inside) sorted_.emplace_back(values_[sample], sample);
  std::ranges::sort(sorted_);

  std::optional<std::size_t> best;
  double best_quality = -1;
  SideSums left, right = samples_.sums();
  for (std::size_t i = 0; i + 1 < sorted_.size(); ++i) {
    const auto [value, sample] = sorted_[i];
    const float next = sorted_[i + 1].first;
    const SideSums own{samples_.weights[sample], samples_.targets[sample]};
    left = left + own;
    right = right - own;
    if (!(value + least_gap < next) || (between && between->bin(value) == between->bin(next)))
      continue;
    if (left.weight == 0 || right.weight == 0) continue;
    const double quality = quality_of(criterion_, RealSums::of(left), RealSums::of(right));
    if (quality <= best_quality) continue;
    best_quality = quality;
    best = i;
  }
  if (!best) return std::nullopt;
  return Split{.feature = feature,
               .quality = static_cast<float>(best_quality),
               .threshold = threshold_between(sorted_[*best].first, sorted_[*best + 1].first)};
}

// Codes are ordered by their mean response (or, for classes, by the objects' weight); the best
// split of this sequence has the codes of its beginning on the left. Sums are added up in the order
// of samples, and std::sort orders equal codes, so that the result is the old trainer's.
std::optional<Split> SplitFinder::lbp(std::size_t feature) {
  codes_.resize(tables_.padded());
  tables_.codes(pool_.lbp[feature], codes_.data());
  std::array<RealSums, 256> sums{};
  for (const std::uint32_t sample : samples_.inside)
    sums[codes_[sample]].add(samples_.real_weights[sample], samples_.responses[sample]);
  const bool is_regression = criterion_ == SplitCriterion::regression;
  std::array<double, 256> keys{};
  RealSums left, right;
  for (std::size_t code = 0; code < keys.size(); ++code) {
    RealSums& sum = sums[code];
    right = right + sum;
    keys[code] = is_regression ? sum.mean() : sum.positive;
    if (is_regression) sum.target = keys[code] * sum.weight;
  }
  std::array<std::uint8_t, 256> order;
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::sort(order.begin(), order.end(),
            [&keys](std::uint8_t a, std::uint8_t b) { return keys[a] < keys[b]; });

  std::optional<std::size_t> best;
  double best_quality = -1;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const RealSums& own = sums[order[i]];
    if (own.weight <= least_weight) continue;
    left = left + own;
    right = right - own;
    if (criterion_ != SplitCriterion::misclassification &&
        (left.weight <= least_weight || right.weight <= least_weight))
      continue;
    const double quality = quality_of(criterion_, left, right);
    if (!(quality > best_quality)) continue;
    best_quality = quality;
    best = i;
  }
  if (!best) return std::nullopt;
  Split split{.feature = feature, .quality = static_cast<float>(best_quality)};
  for (std::size_t i = 0; i <= *best; ++i) split.subset[order[i] / 32] |= 1u << order[i] % 32;
  return split;
}

}  // namespace facesat::train
