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

namespace {

template <class Value>
Quantiser quantiser_from(std::size_t count, int bins, Value value_of) {
  const std::size_t step = quantiser_step(count);
  double sum = 0, squares = 0, used = 0;
  for (std::size_t i = 0; i < count; i += step, ++used) {
    const double value = value_of(i);
    sum += value;
    squares += value * value;
  }
  return quantiser_of(sum, squares, used, bins);
}

}  // namespace

Quantiser quantiser_of(std::span<const float> values, int bins) {
  return quantiser_from(values.size(), bins, [&](std::size_t i) { return values[i]; });
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

// All samples inside.
SplitFinder::Section SplitFinder::whole() {
  placed_.resize(samples_.inside.size());
  std::ranges::transform(samples_.inside, placed_.begin(), [&](std::uint32_t sample) {
    return ValueOfSample(values_[sample], sample);
  });
  return {0,
          placed_.size(),
          {},
          std::numeric_limits<float>::infinity(),
          std::numeric_limits<double>::infinity()};
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

// Divides a section by value into smaller ones, and lets those wait whose bound is not below
// `least`. The quality is a convex function of the sums on the left, so in a section it is highest
// at a corner of where they can be: all or none of its positives and negatives are on the left.
// Returns false if the section cannot be divided, or is so small that sorting it is faster. Without
// signs, the corners are not known.
bool SplitFinder::divide(const Section& section, float least) {
  constexpr std::size_t most_bins = 256, per_bin = 8, least_samples = 6 * per_bin;
  if (!samples_.has_signs || section.count < least_samples) return false;
  const std::span<ValueOfSample> samples = std::span(placed_).subspan(section.first, section.count);
  bins_.assign(std::min(section.count / per_bin, most_bins), Bin());
  const Quantiser quantiser = quantiser_from(section.count, static_cast<int>(bins_.size()),
                                             [&](std::size_t i) { return samples[i].first; });
  bin_of_.resize(section.count);
  for (std::size_t i = 0; i < section.count; ++i) {
    const auto [value, sample] = samples[i];
    bin_of_[i] = static_cast<std::uint8_t>(quantiser.bin(value));
    Bin& bin = bins_[bin_of_[i]];
    bin.own = bin.own + SideSums{samples_.weights[sample], samples_.targets[sample]};
    ++bin.count;
  }
  if (std::ranges::any_of(bins_, [&](const Bin& bin) { return bin.count == section.count; }))
    return false;

  undivided_.assign(samples.begin(), samples.end());
  std::size_t end = 0;
  for (Bin& bin : bins_) {
    bin.end = end;
    end += bin.count;
  }
  for (std::size_t i = 0; i < section.count; ++i) samples[bins_[bin_of_[i]].end++] = undivided_[i];

  float after = section.after;
  SideSums above = section.before;
  for (const Bin& bin : bins_) above = above + bin.own;
  for (std::size_t b = bins_.size(); b-- > 0;) {
    const Bin& bin = bins_[b];
    if (bin.count == 0) continue;
    above = above - bin.own;
    const std::size_t first = bin.end - bin.count;
    const double bound = corner_bound(above, bin.own);
    if (static_cast<float>(bound) >= least) {
      waiting_.push_back({section.first + first, bin.count, above, after, bound});
      std::ranges::push_heap(waiting_, {}, &Section::bound);
    }
    after = std::ranges::min(samples.subspan(first, bin.count)).first;
  }
  return true;
}

// Looks for a better split than the best one in a section, at each of its values.
void SplitFinder::search(const Section& section, const Quantiser* between, Best& best) {
  const std::span<ValueOfSample> samples = std::span(placed_).subspan(section.first, section.count);
  std::ranges::sort(samples);
  SideSums left = section.before;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto [value, sample] = samples[i];
    const float next = i + 1 < samples.size() ? samples[i + 1].first : section.after;
    left = left + SideSums{samples_.weights[sample], samples_.targets[sample]};
    const SideSums right = all_ - left;
    if (!(value + least_gap < next) || (between && between->bin(value) == between->bin(next)))
      continue;
    if (left.weight == 0 || right.weight == 0) continue;
    const double quality = quality_of(criterion_, RealSums::of(left), RealSums::of(right));
    // Of equally good splits, the one between the smallest values.
    if (quality < best.quality || (quality == best.quality && value > best.value)) continue;
    best = {quality, value, next};
  }
}

std::optional<Split> SplitFinder::haar(std::size_t feature, const Quantiser* between, float least) {
  values_.resize(tables_.padded());
  tables_.values(pool_.haar[feature], values_.data());
  Best best;
  for (waiting_.assign(1, whole()); !waiting_.empty();) {
    std::ranges::pop_heap(waiting_, {}, &Section::bound);
    const Section section = waiting_.back();
    waiting_.pop_back();
    if (section.bound < best.quality) break;
    if (!divide(section, std::max(least, static_cast<float>(best.quality))))
      search(section, between, best);
  }
  if (best.quality < 0) return std::nullopt;
  return Split{.feature = feature,
               .quality = static_cast<float>(best.quality),
               .threshold = threshold_between(best.value, best.next)};
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
