#include "boosting/split.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace facesat::training {
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

// The same where one side may be empty: its part vanishes.
double limit_of_quality(SplitCriterion criterion, const RealSums& left, const RealSums& right) {
  if (left.weight > 0 && right.weight > 0) return quality_of(criterion, left, right);
  const RealSums& all = left.weight > 0 ? left : right;
  switch (criterion) {
    case SplitCriterion::regression:
      return all.target * all.target / all.weight;
    case SplitCriterion::gini:
      return (all.positive * all.positive + all.negative * all.negative) / all.weight;
    case SplitCriterion::misclassification:
      return std::max(all.positive, all.negative);
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

Quantiser quantiser_of(double sum, double squares, double count, int bins) {
  const double mean = sum / count, variance = squares / count - mean * mean;
  if (variance <= 0) return {.low = static_cast<float>(mean), .scale = 0, .bins = bins};
  const double reach = 3 * std::sqrt(variance);
  return {.low = static_cast<float>(mean - reach),
          .scale = static_cast<float>(bins / (2 * reach)),
          .bins = bins};
}

Quantiser quantiser_of(std::span<const float> values, int bins) {
  const std::size_t step = quantiser_step(values.size());
  double sum = 0, squares = 0, count = 0;
  for (std::size_t i = 0; i < values.size(); i += step, ++count) {
    const double value = values[i];
    sum += value;
    squares += value * value;
  }
  return quantiser_of(sum, squares, count, bins);
}

std::optional<Split> SplitFinder::find(std::size_t feature, const Quantiser* between, float least) {
  switch (pool_.kind) {
    case FeatureKind::haar:
      return haar(feature, between, least);
    case FeatureKind::lbp:
      return lbp(feature);
  }
  throw std::logic_error("unknown kind of feature");
}

// The quality is a convex function of the sums on the left, so in a section it is highest at a
// corner of where they can be: all or none of its positives and negatives are on the left. Without
// signs, the corners are not known, and all samples are in one section.
void SplitFinder::divide() {
  constexpr std::size_t most_sections = 256, per_section = 32;
  const std::size_t count = samples_.inside.size();
  const bool is_divided = samples_.has_signs && count >= 2 * per_section;
  const std::size_t sections = is_divided ? std::min(count / per_section, most_sections) : 1;
  const Quantiser quantiser =
      quantiser_of({values_.data(), tables_.count()}, static_cast<int>(sections));
  sections_.assign(sections, Section{});
  section_of_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t sample = samples_.inside[i];
    const int place = quantiser.bin(values_[sample]);
    section_of_[i] = static_cast<std::uint8_t>(place);
    Section& section = sections_[place];
    section.own = section.own + SideSums{samples_.weights[sample], samples_.targets[sample]};
    ++section.samples;
  }
  SideSums before;
  for (Section& section : sections_) {
    section.before = before;
    before = before + section.own;
    section.bound = is_divided ? corner_bound(section.before, section.own)
                               : std::numeric_limits<double>::infinity();
  }
}

double SplitFinder::corner_bound(const SideSums& before, const SideSums& own) const {
  const auto quality = [&](const SideSums& left) {
    return limit_of_quality(criterion_, RealSums::of(left), RealSums::of(all_ - left));
  };
  const SideSums positives = own.of_sign(1), negatives = own.of_sign(-1);
  const double bound = std::max({quality(before), quality(before + positives),
                                 quality(before + negatives), quality(before + own)});
  return bound * (1 + 1e-9);  // rounding errors are much smaller
}

// The samples of a section in the order of their values, and the next larger one after them.
void SplitFinder::sort(std::size_t section) {
  sorted_.clear();
  std::size_t next = section + 1;
  while (next < sections_.size() && sections_[next].samples == 0) ++next;
  std::pair<float, std::uint32_t> after{std::numeric_limits<float>::infinity(), 0};
  for (std::size_t i = 0; i < section_of_.size(); ++i) {
    const std::uint32_t sample = samples_.inside[i];
    if (section_of_[i] == section)
      sorted_.emplace_back(values_[sample], sample);
    else if (section_of_[i] == next)
      after = std::min(after, {values_[sample], sample});
  }
  std::ranges::sort(sorted_);
  if (next < sections_.size()) sorted_.push_back(after);
}

std::optional<Split> SplitFinder::haar(std::size_t feature, const Quantiser* between, float least) {
  values_.resize(tables_.padded());
  tables_.values(pool_.haar[feature], values_.data());
  divide();
  order_.clear();
  for (std::size_t s = 0; s < sections_.size(); ++s)
    if (sections_[s].samples > 0 && static_cast<float>(sections_[s].bound) >= least)
      order_.push_back(s);
  std::ranges::sort(order_, std::greater(), [&](std::size_t s) { return sections_[s].bound; });

  // Of equally good splits, the one between the smallest values.
  double best_quality = -1;
  std::pair<float, float> best{};
  for (const std::size_t s : order_) {
    if (sections_[s].bound < best_quality) break;
    sort(s);
    SideSums left = sections_[s].before;
    for (std::size_t i = 0; i + 1 < sorted_.size(); ++i) {
      const auto [value, sample] = sorted_[i];
      const float next = sorted_[i + 1].first;
      left = left + SideSums{samples_.weights[sample], samples_.targets[sample]};
      const SideSums right = all_ - left;
      if (!(value + least_gap < next) || (between && between->bin(value) == between->bin(next)))
        continue;
      if (left.weight == 0 || right.weight == 0) continue;
      const double quality = quality_of(criterion_, RealSums::of(left), RealSums::of(right));
      if (quality < best_quality || (quality == best_quality && value > best.first)) continue;
      best_quality = quality;
      best = {value, next};
    }
  }
  if (best_quality < 0) return std::nullopt;
  return Split{.feature = feature,
               .quality = static_cast<float>(best_quality),
               .threshold = threshold_between(best.first, best.second)};
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

}  // namespace facesat::training
