#include "boosting/screen.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace facesat::training {
namespace {

// From the fraction bits of NodeSamples to fewer.
template <int bits>
std::int32_t rounded(std::int64_t value) {
  constexpr int shift = NodeSamples::fraction_bits - bits;
  return static_cast<std::int32_t>((value + (std::int64_t{1} << (shift - 1))) >> shift);
}

}  // namespace

Addends::Addends(const NodeSamples& node) {
  units.has_signs = node.has_signs;
  if (!units.has_signs) units.most = NodeSamples::most_response;
  const bool is_list = node.inside.size() < node.count() / 10 * 9;
  if (is_list) samples = node.inside;
  const std::size_t count = is_list ? samples.size() : node.count();
  const auto sample = [&](std::size_t i) { return is_list ? samples[i] : i; };
  weights.resize(count);
  positives = is_list ? static_cast<std::size_t>(std::ranges::lower_bound(samples, node.positives) -
                                                 samples.begin())
                      : node.positives;
  for (std::size_t i = 0; i < count; ++i) weights[i] = rounded<30>(node.weights[sample(i)]);
  margin = static_cast<float>(count) *
           (units.has_signs ? 2 * units.weight : 20 * units.target + units.square);
  if (units.has_signs) return;
  targets.resize(count);
  squares.resize(count);
  constexpr double unit = 1.0 / (std::int64_t{1} << NodeSamples::fraction_bits);
  for (std::size_t i = 0; i < count; ++i) {
    targets[i] = rounded<27>(node.targets[sample(i)]);
    const double weight = unit * static_cast<double>(node.weights[sample(i)]),
                 target = unit * static_cast<double>(node.targets[sample(i)]);
    if (weight > 0)
      squares[i] = static_cast<std::int32_t>(
          std::lrint(target * target / weight / static_cast<double>(units.square)));
  }
}

namespace {

// The best split by the candidates' features, or nothing.
std::optional<Split> best_of(const Candidates& candidates, const Screen& screen,
                             const FeaturePool& pool, const SampleTables& tables,
                             const NodeSamples& node, SplitCriterion criterion, bool between_bins) {
  const std::vector<Candidates::One>& features = candidates.features;
  const bool is_between = between_bins && pool.kind == FeatureKind::haar;
  // Threads take the features in this order, because each may rule out those after it.
  std::atomic<std::size_t> next = 0;
  std::atomic<float> least = candidates.least;
  std::optional<Split> best;
  std::mutex mutex;
  const auto search = [&](std::size_t) {
    SplitFinder finder(pool, tables, node, criterion);
    for (std::size_t i = next++; i < features.size() && features[i].bound >= least; i = next++) {
      const std::size_t feature = features[i].feature;
      const std::optional<Split> split =
          finder.find(feature, is_between ? &screen.quantiser(feature) : nullptr, least);
      if (!split) continue;
      const std::scoped_lock lock(mutex);
      if (!best || split->is_better_than(*best)) best = split;
      least = std::max(least.load(), best->quality);
    }
  };
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  tbb::parallel_for(std::size_t{0}, std::min(threads, features.size()), search);
  return best;
}

}  // namespace

std::optional<Split> best_split(Screen& screen, const FeaturePool& pool, const SampleTables& tables,
                                const NodeSamples& node, SplitCriterion criterion,
                                bool between_bins) {
  const Candidates first = screen.candidates(node, criterion, between_bins);
  const auto best_among = [&](const Candidates& candidates) {
    return best_of(candidates, screen, pool, tables, node, criterion, between_bins);
  };
  const std::optional<Split> best = best_among(first);
  const float reached = best ? best->quality : 0;
  if (reached >= first.least) return best;
  // Nothing reached it: the values on both sides of that bin's edge may be too close to be
  // separated. The best split may be one of a feature that was left out.
  return best_among(screen.candidates(node, criterion, between_bins, reached));
}

}  // namespace facesat::training
