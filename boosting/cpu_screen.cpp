// The screen on the CPU.
//
// Idea: sums of weights in the bins of a feature, a histogram, take a fraction of the time of
//   sorting, and bound what any split can reach: a split within a bin is at most as good as if each
//   of the bin's samples were a side of its own, because dividing a side further never makes it
//   worse. Between two bins, the histogram has the quality of a split itself. Of 160,000 features,
//   about a hundred have higher bounds than the best of these.
// Coarse bins first: of 16 bins per feature, the histograms of two features are the sums of rows
//   and of columns of one table with 256 elements, the counts of pairs of bins. So one addition per
//   sample serves both features. Only features with a high coarse bound get histograms of 256 bins.
// Cost: per feature and sample of a node, a read of a byte and half an addition into a table, and
//   for the features that are left, a whole one.
// Source: the bound follows R. Appel, T. Fuchs, P. Dollár, P. Perona, "Quickly Boosting Decision
//   Trees: Pruning Underachieving Features Early", ICML 2013, who bound features from a part of the
//   samples; here it is from all, in less detail.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boosting/cpu_screen.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "boosting/screen.hpp"

#ifndef FACESAT_TRAIN_SCREEN
#define FACESAT_TRAIN_SCREEN
namespace facesat::training {

// Sums in the bins of a feature, of integers that fit into 32 bits when they are all added up:
// weights, weighted responses, and weighted squared responses. If responses are signs, weights say
// it all, and the others are not there.
struct Histogram {
  alignas(64) std::int32_t sum[most_bins];
};
struct ClassHistograms {
  Histogram weights, targets, squares;
};
struct Histograms {
  ClassHistograms positives, negatives;
};

// Most values lie in the middle: coarse bins are eight of 256 bins wide there, and the first and
// the last one take all values beyond.
constexpr int coarse_bins = 16, coarse_shift = 3, coarse_begin = 8;
static_assert(coarse_bins * coarse_bins <= most_bins);

// What splits of a feature can reach at most, and what one of them reaches; both but for rounding.
struct Estimate {
  float bound = 0, reached = 0;
};

// The sums over both classes in all bins before a bin, and in all bins.
struct SumsBefore {
  Histogram weights, targets;
  std::int32_t all_weights, all_targets;
};

}  // namespace facesat::training
#endif

HWY_BEFORE_NAMESPACE();
namespace facesat::training::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::CappedTag<float, 16>;
using V = hn::Vec<F32>;

void Bins(const float* values, const Quantiser& quantiser, std::size_t n, std::uint8_t* bins) {
  const F32 tag;
  const hn::Rebind<std::int32_t, F32> integers;
  const hn::Rebind<std::uint8_t, F32> bytes;
  const auto low = hn::Set(tag, quantiser.low), scale = hn::Set(tag, quantiser.scale),
             last = hn::Set(tag, static_cast<float>(quantiser.bins - 1));
  for (std::size_t i = 0; i < n; i += hn::Lanes(tag)) {
    const auto place = (hn::LoadU(tag, values + i) - low) * scale;
    const auto bin = hn::Min(hn::Max(place, hn::Zero(tag)), last);
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(integers, bin)), bytes, bins + i);
  }
}

// The coarse bins of two features; those of `a` are the lower halves of the bytes.
void PairsOfBins(const std::uint8_t* a, const std::uint8_t* b, std::size_t n, std::uint8_t* pairs) {
  const hn::ScalableTag<std::uint8_t> tag;
  const auto coarse = [&](const std::uint8_t* bins) HWY_ATTR {
    const auto place = hn::ShiftRight<coarse_shift>(hn::LoadU(tag, bins));
    return hn::Min(hn::SaturatedSub(place, hn::Set(tag, coarse_begin)),
                   hn::Set(tag, coarse_bins - 1));
  };
  for (std::size_t i = 0; i < n; i += hn::Lanes(tag))
    hn::StoreU(hn::Or(coarse(a + i), hn::ShiftLeft<4>(coarse(b + i))), tag, pairs + i);
}

HWY_INLINE V load(const Histogram& histogram, std::size_t i, float unit) {
  const hn::RebindToSigned<F32> integers;
  return hn::ConvertTo(F32(), hn::Load(integers, histogram.sum + i)) * hn::Set(F32(), unit);
}

// t^2 / w, for responses of at most `most`, with which it can't be more than most * |t|: that
// counts where little weight is left, so that its rounding errors are large.
HWY_INLINE V merit(V t, V w, V most) {
  const V square = t * t / hn::Max(w, hn::Set(F32(), 1e-30f));
  return hn::Min(square, most * hn::Abs(t));
}

// Sums of one class in each of some bins: of weights, weighted responses and weighted squares.
struct ClassSums {
  V w, t, s;

  HWY_INLINE ClassSums(const ClassHistograms& sums, const Addends::Units& units, float sign,
                       std::size_t i)
      : w(load(sums.weights, i, units.weight)), t(w * hn::Set(F32(), sign)), s(w) {
    if (units.has_signs) return;
    t = load(sums.targets, i, units.target);
    s = load(sums.squares, i, units.square);
  }

  // By how much t of a part of the samples can differ from what its weight lets expect: half the
  // weight times the deviation of responses, and a little for rounding.
  HWY_INLINE V spread() const {
    const F32 tag;
    return hn::Set(tag, 0.5f) * hn::Sqrt(hn::Max(w * s - t * t, hn::Zero(tag))) +
           hn::Set(tag, 1e-3f) * hn::Abs(t);
  }
};

// The largest bound of a split within each of `bins` ordered bins, and the largest quality of a
// split before one of them; or, if bins are not to be divided, this as both.
Estimate OrderedEstimate(const Histograms& sums, const SumsBefore& before,
                         const Addends::Units& units, SplitCriterion criterion, bool between_bins,
                         std::size_t bins) {
  const F32 tag;
  const float target_unit = units.has_signs ? units.weight : units.target;
  const auto all_w = hn::Set(tag, static_cast<float>(before.all_weights) * units.weight);
  const auto all_t = hn::Set(tag, static_cast<float>(before.all_targets) * target_unit);
  const auto most = hn::Set(tag, units.most);
  auto best = hn::Zero(tag), reached = hn::Zero(tag);
  for (std::size_t i = 0; i < bins; i += hn::Lanes(tag)) {
    const ClassSums p(sums.positives, units, 1, i), q(sums.negatives, units, -1, i);
    const auto w = load(before.weights, i, units.weight), t = load(before.targets, i, target_unit);
    const auto spread = units.has_signs || between_bins ? hn::Zero(tag) : p.spread() + q.spread();
    // The quality with these sums on the left, which may be off by so much.
    const auto quality = [&](V left_w, V left_t, V off) HWY_ATTR {
      const auto right_w = all_w - left_w, right_t = all_t - left_t;
      return criterion == SplitCriterion::misclassification
                 ? hn::Abs(left_t - right_t)
                 : merit(hn::Abs(left_t) + off, left_w, most) +
                       merit(hn::Abs(right_t) + off, right_w, most);
    };
    const auto between = quality(w, t, hn::Zero(tag));
    const auto divides = hn::And(hn::Gt(w, hn::Zero(tag)), hn::Lt(w, all_w));
    reached = hn::Max(reached, hn::IfThenElseZero(divides, between));
    auto bound = units.has_signs || between_bins ? between : quality(w, t, spread);
    if (!between_bins) {
      // The quality is a convex function of the sums, so it is highest at a corner of where they
      // can be: all or none of the bin's positives and negatives are on the left.
      bound = hn::Max(
          bound, hn::Max(quality(w + p.w, t + p.t, spread), quality(w + q.w, t + q.t, spread)));
      if (!units.has_signs)  // each sample of the bin as a side of its own
        bound = hn::Min(bound, merit(t, w, most) + p.s + q.s +
                                   merit(all_t - t - p.t - q.t, all_w - w - p.w - q.w, most));
    }
    best = hn::Max(best, bound);
  }
  const auto result = [&](V of_lanes) HWY_ATTR {
    const float quality = hn::GetLane(hn::MaxOfLanes(tag, of_lanes));
    return criterion == SplitCriterion::regression ? quality
                                                   : 0.5f * (hn::GetLane(all_w) + quality);
  };
  return {result(best), hn::AllTrue(tag, reached == hn::Zero(tag)) ? 0 : result(reached)};
}

// A bound for codes, which have no order: a split is at most as good as if each code were a side.
float UnorderedBound(const Histograms& sums, const Addends::Units& units, SplitCriterion criterion,
                     std::size_t bins) {
  const F32 tag;
  const auto most = hn::Set(tag, units.most);
  auto quality = hn::Zero(tag), all_w = hn::Zero(tag);
  for (std::size_t i = 0; i < bins; i += hn::Lanes(tag)) {
    const ClassSums p(sums.positives, units, 1, i), q(sums.negatives, units, -1, i);
    const auto w = p.w + q.w, t = p.t + q.t;
    all_w = all_w + w;
    quality =
        quality + (criterion == SplitCriterion::misclassification ? hn::Abs(t) : merit(t, w, most));
  }
  const float bound = hn::GetLane(hn::SumOfLanes(tag, quality));
  return criterion == SplitCriterion::regression
             ? bound
             : 0.5f * (hn::GetLane(hn::SumOfLanes(tag, all_w)) + bound);
}

}  // namespace
}  // namespace facesat::training::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

namespace facesat::training {
namespace {

HWY_EXPORT(Bins);
HWY_EXPORT(PairsOfBins);
HWY_EXPORT(OrderedEstimate);
HWY_EXPORT(UnorderedBound);

using Bins2 = const std::uint8_t* [2];

// Adds values first .. last - 1 of the addends to the bins of their samples, for two histograms at
// once: that hides the time from a store to the next load of the same bin, and shares the loads.
// `soon` is fetched into the cache meanwhile, bytes_soon for each sample.
constexpr std::size_t bytes_soon = 4;
void add(const Bins2& bins, const Addends& addends, const std::vector<std::int32_t>& values,
         std::size_t first, std::size_t last, const std::uint8_t* soon, Histogram& histogram_a,
         Histogram& histogram_b) {
  constexpr std::size_t together = 8;
  std::int32_t *const a = histogram_a.sum, *const b = histogram_b.sum;
  const auto add_one = [&](std::size_t i, std::size_t sample) {
    a[bins[0][sample]] += values[i];
    b[bins[1][sample]] += values[i];
  };
  std::size_t i = first;
  if (!addends.samples.empty()) {
    const std::uint32_t* const samples = addends.samples.data();
    for (; i + together <= last; i += together) {
      __builtin_prefetch(soon + bytes_soon * samples[i]);
      for (std::size_t k = i; k < i + together; ++k) add_one(k, samples[k]);
    }
    for (; i < last; ++i) add_one(i, samples[i]);
    return;
  }
  for (; i + together <= last; i += together) {
    __builtin_prefetch(soon + bytes_soon * i);
    std::uint64_t eight_a, eight_b;
    std::memcpy(&eight_a, bins[0] + i, together);
    std::memcpy(&eight_b, bins[1] + i, together);
    for (std::size_t k = i; k < i + together; ++k) {
      a[eight_a & 255] += values[k];
      b[eight_b & 255] += values[k];
      eight_a >>= 8;
      eight_b >>= 8;
    }
  }
  for (; i < last; ++i) add_one(i, i);
}

void fill(const Bins2& bins, const Addends& addends, const std::uint8_t* soon, Histograms& a,
          Histograms& b) {
  std::memset(&a, 0, sizeof a);
  std::memset(&b, 0, sizeof b);
  const auto add_class = [&](std::size_t first, std::size_t last, ClassHistograms& of_a,
                             ClassHistograms& of_b) {
    add(bins, addends, addends.weights, first, last, soon, of_a.weights, of_b.weights);
    if (addends.units.has_signs) return;
    add(bins, addends, addends.targets, first, last, soon, of_a.targets, of_b.targets);
    add(bins, addends, addends.squares, first, last, soon, of_a.squares, of_b.squares);
  };
  add_class(0, addends.positives, a.positives, b.positives);
  add_class(addends.positives, addends.weights.size(), a.negatives, b.negatives);
}

// From a histogram of pairs of coarse bins, those of the first and of the second feature.
void divide(const Histograms& pairs, bool has_signs, Histograms& first, Histograms& second) {
  const auto divide_sums = [](const Histogram& from, Histogram& low, Histogram& high) {
    std::fill_n(low.sum, coarse_bins, 0);
    for (int h = 0; h < coarse_bins; ++h) {
      const std::int32_t* const row = from.sum + coarse_bins * h;
      for (int l = 0; l < coarse_bins; ++l) low.sum[l] += row[l];
      high.sum[h] = std::reduce(row, row + coarse_bins);
    }
  };
  const auto divide_class = [&](const ClassHistograms& from, ClassHistograms& low,
                                ClassHistograms& high) {
    divide_sums(from.weights, low.weights, high.weights);
    if (has_signs) return;
    divide_sums(from.targets, low.targets, high.targets);
    divide_sums(from.squares, low.squares, high.squares);
  };
  divide_class(pairs.positives, first.positives, second.positives);
  divide_class(pairs.negatives, first.negatives, second.negatives);
}

void sum_up(const Histograms& sums, bool has_signs, std::size_t bins, SumsBefore& before) {
  std::int32_t w = 0, t = 0;
  const auto& [p, q] = sums;
  for (std::size_t i = 0; i < bins; ++i) {
    before.weights.sum[i] = w;
    before.targets.sum[i] = t;
    w += p.weights.sum[i] + q.weights.sum[i];
    t += has_signs ? p.weights.sum[i] - q.weights.sum[i] : p.targets.sum[i] + q.targets.sum[i];
  }
  before.all_weights = w;
  before.all_targets = t;
}

// The quality of the best split of codes, which divides them in the order of their mean responses
// (W. D. Fisher, "On Grouping for Maximum Homogeneity", 1958).
float best_of_codes(const Histograms& sums, const Addends::Units& units, SplitCriterion criterion) {
  struct Code {
    float mean;
    std::int32_t w, t;
  };
  std::array<Code, most_bins> codes;
  std::size_t count = 0;
  std::int32_t all_w = 0, all_t = 0;
  const auto& [p, q] = sums;
  for (std::size_t i = 0; i < most_bins; ++i) {
    const std::int32_t w = p.weights.sum[i] + q.weights.sum[i];
    if (w == 0) continue;
    const std::int32_t t =
        units.has_signs ? p.weights.sum[i] - q.weights.sum[i] : p.targets.sum[i] + q.targets.sum[i];
    codes[count++] = {static_cast<float>(t) / static_cast<float>(w), w, t};
    all_w += w;
    all_t += t;
  }
  std::ranges::sort(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(count), {},
                    &Code::mean);
  const float target_unit = units.has_signs ? units.weight : units.target;
  const auto merit = [&](std::int32_t sum_t, std::int32_t sum_w) {
    const float t = static_cast<float>(sum_t) * target_unit,
                w = static_cast<float>(sum_w) * units.weight;
    return std::min(t * t / std::max(w, 1e-30f), units.most * std::fabs(t));
  };
  float best = 0;
  std::int32_t w = 0, t = 0;
  for (std::size_t i = 0; i < count; ++i) {
    w += codes[i].w;
    t += codes[i].t;
    best = std::max(best, merit(t, w) + merit(all_t - t, all_w - w));
  }
  return criterion == SplitCriterion::regression
             ? best
             : 0.5f * (static_cast<float>(all_w) * units.weight + best);
}

// What a thread needs for some features at a time.
struct Scratch {
  std::vector<float> values;
  std::vector<std::uint8_t> bins[2];   // of features that are not kept
  std::vector<std::uint8_t> pairs[2];  // of coarse bins
  Histograms histograms[2], coarse[2];
  SumsBefore before;
};

// The least quality that counts: one that some split reaches.
class Least {
 public:
  explicit Least(std::optional<float> fixed) : is_fixed_(fixed), value_(fixed.value_or(0)) {}
  operator float() const { return value_; }
  void raise(float to) {
    if (is_fixed_) return;
    for (float known = value_; to > known;)
      if (value_.compare_exchange_weak(known, to)) break;
  }

 private:
  const bool is_fixed_;
  std::atomic<float> value_;
};

class CpuScreen final : public Screen {
 public:
  CpuScreen(const FeaturePool& pool, const SampleTables& tables, int bins, std::size_t memory);

  Candidates candidates(const NodeSamples& node, SplitCriterion criterion, bool between_bins,
                        std::optional<float> least) override;
  const Quantiser& quantiser(std::size_t feature) const override { return quantisers_[feature]; }

 private:
  // These set bounds, and raise `least`.
  void estimate_coarsely(const Addends& addends, SplitCriterion criterion, Least& least);
  void estimate(std::size_t feature, const Histograms& histograms, const Addends& addends,
                SplitCriterion criterion, bool between_bins, int bins, SumsBefore& before,
                Least& least);
  // Coarse bins are made of whole bins, and save time only if these are many.
  bool has_coarse_bins() const { return pool_.kind == FeatureKind::haar && bins_ == most_bins; }
  void compute_bins(std::size_t feature, std::span<const float> values, std::uint8_t* bins) const;
  const std::uint8_t* bins_of(std::size_t feature, int which, Scratch& scratch) const;

  const FeaturePool& pool_;
  const SampleTables& tables_;
  int bins_;
  std::size_t kept_;                       // features whose bins are in memory
  std::unique_ptr<std::uint8_t[]> bytes_;  // tables_.padded() for each feature that is kept
  std::vector<Quantiser> quantisers_;      // of Haar features
  std::vector<float> bounds_;              // for one node
  tbb::enumerable_thread_specific<Scratch> scratches_;
};

CpuScreen::CpuScreen(const FeaturePool& pool, const SampleTables& tables, int bins,
                     std::size_t memory)
    : pool_(pool),
      tables_(tables),
      bins_(pool.kind == FeatureKind::lbp ? most_bins : bins),
      kept_(std::min(pool.count(), memory / tables.padded())),
      quantisers_(pool.haar.size()),
      bounds_(pool.count()) {
  const std::size_t bytes = kept_ * tables.padded();
  bytes_.reset(new (std::nothrow) std::uint8_t[bytes]);
  if (!bytes_) throw MemoryError("the bins of the features", bytes);
  tbb::enumerable_thread_specific<std::vector<float>> scratch;
  tbb::parallel_for(std::size_t{0}, pool.count(), [&](std::size_t feature) {
    std::vector<float>& values = scratch.local();
    values.resize(tables_.padded());
    if (pool_.kind == FeatureKind::haar) {
      tables_.values(pool_.haar[feature], values.data());
      quantisers_[feature] = quantiser_of({values.data(), tables_.count()}, bins_);
    }
    if (feature < kept_) compute_bins(feature, values, &bytes_[feature * tables_.padded()]);
  });
}

// `values` has the feature's values if it is a Haar feature.
void CpuScreen::compute_bins(std::size_t feature, std::span<const float> values,
                             std::uint8_t* bins) const {
  switch (pool_.kind) {
    case FeatureKind::haar:
      HWY_DYNAMIC_DISPATCH(Bins)(values.data(), quantisers_[feature], tables_.padded(), bins);
      break;
    case FeatureKind::lbp:
      tables_.codes(pool_.lbp[feature], bins);
      break;
  }
}

const std::uint8_t* CpuScreen::bins_of(std::size_t feature, int which, Scratch& scratch) const {
  if (feature < kept_) return &bytes_[feature * tables_.padded()];
  scratch.values.resize(tables_.padded());
  scratch.bins[which].resize(tables_.padded());
  if (pool_.kind == FeatureKind::haar) tables_.values(pool_.haar[feature], scratch.values.data());
  compute_bins(feature, scratch.values, scratch.bins[which].data());
  return scratch.bins[which].data();
}

void CpuScreen::estimate(std::size_t feature, const Histograms& histograms, const Addends& addends,
                         SplitCriterion criterion, bool between_bins, int bins, SumsBefore& before,
                         Least& least) {
  Estimate of_feature;
  switch (pool_.kind) {
    case FeatureKind::haar:
      sum_up(histograms, addends.units.has_signs, bins, before);
      of_feature = HWY_DYNAMIC_DISPATCH(OrderedEstimate)(histograms, before, addends.units,
                                                         criterion, between_bins, bins);
      break;
    case FeatureKind::lbp:
      of_feature.bound =
          HWY_DYNAMIC_DISPATCH(UnorderedBound)(histograms, addends.units, criterion, bins);
      if (criterion == SplitCriterion::misclassification ||
          of_feature.bound + error_of(of_feature.bound, addends.margin) < least)
        break;
      of_feature.bound = best_of_codes(histograms, addends.units, criterion);
      // Where classes count, the search for splits does not always find the best one, so no quality
      // is known to be reached.
      if (criterion == SplitCriterion::regression) of_feature.reached = of_feature.bound;
      break;
  }
  const auto [bound, reached] = of_feature;
  bounds_[feature] = bound + error_of(bound, addends.margin);
  least.raise(reached - error_of(reached, addends.margin));
}

void CpuScreen::estimate_coarsely(const Addends& addends, SplitCriterion criterion, Least& least) {
  // Two tables, of two features each, are filled at a time. At the end, features are repeated.
  constexpr std::size_t together = 4;
  const std::size_t last = pool_.count() - 1;
  const tbb::blocked_range<std::size_t> groups(0, last / together + 1, 16);
  tbb::parallel_for(groups, [&](const tbb::blocked_range<std::size_t>& range) {
    Scratch& scratch = scratches_.local();
    for (std::size_t group = range.begin(); group < range.end(); ++group) {
      const auto feature = [&](std::size_t i) { return std::min(together * group + i, last); };
      for (std::size_t pair = 0; pair < 2; ++pair) {
        scratch.pairs[pair].resize(tables_.padded());
        HWY_DYNAMIC_DISPATCH(PairsOfBins)
        (bins_of(feature(2 * pair), 0, scratch), bins_of(feature(2 * pair + 1), 1, scratch),
         tables_.padded(), scratch.pairs[pair].data());
      }
      const Bins2 pairs = {scratch.pairs[0].data(), scratch.pairs[1].data()};
      const std::size_t next = together * (group + 1);
      const bool is_next_kept = next + together <= kept_;
      fill(pairs, addends, is_next_kept ? &bytes_[next * tables_.padded()] : pairs[0],
           scratch.histograms[0], scratch.histograms[1]);
      for (std::size_t pair = 0; pair < 2; ++pair) {
        divide(scratch.histograms[pair], addends.units.has_signs, scratch.coarse[0],
               scratch.coarse[1]);
        for (std::size_t i = 0; i < 2; ++i)
          estimate(feature(2 * pair + i), scratch.coarse[i], addends, criterion, false, coarse_bins,
                   scratch.before, least);
      }
    }
  });
}

Candidates CpuScreen::candidates(const NodeSamples& node, SplitCriterion criterion,
                                 bool between_bins, std::optional<float> wanted) {
  const Addends addends(node);
  Least least(wanted);
  std::ranges::fill(bounds_, std::numeric_limits<float>::infinity());
  if (has_coarse_bins()) estimate_coarsely(addends, criterion, least);
  std::vector<std::uint32_t> left;
  for (std::size_t feature = 0; feature < bounds_.size(); ++feature)
    if (bounds_[feature] >= least) left.push_back(static_cast<std::uint32_t>(feature));
  const tbb::blocked_range<std::size_t> pairs(0, (left.size() + 1) / 2, 8);
  tbb::parallel_for(pairs, [&](const tbb::blocked_range<std::size_t>& range) {
    Scratch& scratch = scratches_.local();
    for (std::size_t pair = range.begin(); pair < range.end(); ++pair) {
      const std::size_t features[2] = {left[2 * pair],
                                       left[std::min(2 * pair + 1, left.size() - 1)]};
      if (std::max(bounds_[features[0]], bounds_[features[1]]) < least) continue;
      const Bins2 bins = {bins_of(features[0], 0, scratch), bins_of(features[1], 1, scratch)};
      fill(bins, addends, bins[0], scratch.histograms[0], scratch.histograms[1]);
      for (std::size_t i = 0; i < 2; ++i)
        estimate(features[i], scratch.histograms[i], addends, criterion, between_bins, bins_,
                 scratch.before, least);
    }
  });
  Candidates candidates{.features = {}, .least = least};
  for (const std::uint32_t feature : left)
    if (bounds_[feature] >= candidates.least)
      candidates.features.push_back({bounds_[feature], feature});
  std::ranges::sort(candidates.features, std::greater(), &Candidates::One::bound);
  return candidates;
}

}  // namespace

std::unique_ptr<Screen> make_cpu_screen(const FeaturePool& pool, const SampleTables& tables,
                                        int bins, std::size_t memory) {
  return std::make_unique<CpuScreen>(pool, tables, bins, memory);
}

}  // namespace facesat::training
#endif
