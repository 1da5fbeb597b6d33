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

double as_real(std::int64_t sum) {
  return static_cast<double>(sum) * unit;
}

// The weights of the objects' class and of the other one, where responses are 1 and -1.
struct ClassWeights {
  double object, other;
};
ClassWeights class_weights(const SideSums& side) {
  return {0.5 * as_real(side.weight + side.target), 0.5 * as_real(side.weight - side.target)};
}

// A threshold with greater > threshold > least: the mean in f32, or, if that is rounded to `least`,
// which would then go right, the greater value.
float threshold_between(float least, float greater) {
  const float mean = (least + greater) * 0.5f;
  return mean > least ? mean : greater;
}

}  // namespace

NodeSamples::NodeSamples(std::vector<double> real_weights, std::span<const float> responses,
                         std::size_t positives_count)
    : positives(positives_count) {
  constexpr double one = std::int64_t{1} << fraction_bits;
  const std::size_t n = real_weights.size();
  weights.resize(n);
  targets.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
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

double quality_of(Criterion criterion, const SideSums& left, const SideSums& right) {
  const double l = as_real(left.weight), r = as_real(right.weight);
  switch (criterion) {
    case Criterion::regression: {
      const double lt = as_real(left.target), rt = as_real(right.target);
      return (lt * lt * r + rt * rt * l) / (l * r);
    }
    case Criterion::gini: {
      const ClassWeights a = class_weights(left), b = class_weights(right);
      return ((a.object * a.object + a.other * a.other) * r +
              (b.object * b.object + b.other * b.other) * l) /
             (l * r);
    }
    case Criterion::misclassification: {
      const ClassWeights a = class_weights(left), b = class_weights(right);
      return std::max(a.object + b.other, a.other + b.object);
    }
  }
  throw std::logic_error("unknown criterion");
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
    const double quality = quality_of(criterion_, left, right);
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
// split of this sequence has the codes of its beginning on the left. Of equal codes, the lower
// comes first.
std::optional<Split> SplitFinder::lbp(std::size_t feature) {
  codes_.resize(tables_.padded());
  tables_.codes(pool_.lbp[feature], codes_.data());
  std::array<SideSums, 256> sums{};
  for (const std::uint32_t sample : samples_.inside) {
    SideSums& sum = sums[codes_[sample]];
    sum = sum + SideSums{samples_.weights[sample], samples_.targets[sample]};
  }
  std::array<double, 256> keys{};
  for (std::size_t code = 0; code < keys.size(); ++code) {
    const SideSums& sum = sums[code];
    if (criterion_ != Criterion::regression)
      keys[code] = class_weights(sum).object;
    else if (sum.weight != 0)
      keys[code] = as_real(sum.target) / as_real(sum.weight);
  }
  std::array<std::uint8_t, 256> order;
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::ranges::stable_sort(order, {}, [&keys](std::uint8_t code) { return keys[code]; });

  std::optional<std::size_t> best;
  double best_quality = -1;
  SideSums left, right = samples_.sums();
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const SideSums& own = sums[order[i]];
    if (as_real(own.weight) <= least_weight) continue;
    left = left + own;
    right = right - own;
    if (criterion_ != Criterion::misclassification &&
        (as_real(left.weight) <= least_weight || as_real(right.weight) <= least_weight))
      continue;
    const double quality = quality_of(criterion_, left, right);
    if (quality <= best_quality) continue;
    best_quality = quality;
    best = i;
  }
  if (!best) return std::nullopt;
  Split split{.feature = feature, .quality = static_cast<float>(best_quality)};
  for (std::size_t i = 0; i <= *best; ++i) split.subset[order[i] / 32] |= 1u << order[i] % 32;
  return split;
}

}  // namespace facesat::train
