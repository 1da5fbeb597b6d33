#include "boosting/screen.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace facesat::training {

Addends::Addends(const NodeSamples& node) {
  constexpr double unit = 1.0 / (std::int64_t{1} << NodeSamples::fraction_bits);
  units.has_signs = node.has_signs;
  if (!units.has_signs) units.most = NodeSamples::most_response;
  const auto rounded = [](double value, float of_unit) {
    return static_cast<std::int32_t>(std::lrint(value / static_cast<double>(of_unit)));
  };
  const auto add = [&](std::size_t sample) {
    if (sample < node.positives) ++positives;
    const double weight = unit * static_cast<double>(node.weights[sample]);
    weights.push_back(rounded(weight, units.weight));
    if (units.has_signs) return;
    const double target = unit * static_cast<double>(node.targets[sample]);
    targets.push_back(rounded(target, units.target));
    squares.push_back(weight > 0 ? rounded(target * target / weight, units.square) : 0);
  };
  if (node.inside.size() < node.count() / 10 * 9) {
    samples = node.inside;
    for (const std::uint32_t sample : samples) add(sample);
  } else {
    for (std::size_t sample = 0; sample < node.count(); ++sample) add(sample);
  }
  const float n = static_cast<float>(weights.size());
  margin = n * (units.has_signs ? 2 * units.weight : 20 * units.target + units.square);
}

std::optional<Split> best_split(Screen& screen, const FeaturePool& pool, const SampleTables& tables,
                                const NodeSamples& node, SplitCriterion criterion,
                                bool between_bins) {
  const std::span<const float> bounds = screen.bounds(node, criterion, between_bins);
  if (bounds.empty()) return std::nullopt;
  const bool is_between = between_bins && pool.kind == FeatureKind::haar;
  const auto find = [&](SplitFinder& finder, std::size_t feature, float least) {
    return finder.find(feature, is_between ? &screen.quantiser(feature) : nullptr, least);
  };
  // What the feature of the highest bound reaches rules out nearly all others.
  const auto first = static_cast<std::size_t>(std::ranges::max_element(bounds) - bounds.begin());
  SplitFinder first_finder(pool, tables, node, criterion);
  std::optional<Split> best = find(first_finder, first, 0);
  std::vector<std::size_t> candidates;
  for (std::size_t f = 0; f < bounds.size(); ++f)
    if (f != first && (!best || bounds[f] >= best->quality)) candidates.push_back(f);
  std::ranges::sort(candidates, std::greater(), [&](std::size_t f) { return bounds[f]; });

  // Threads take the candidates in this order, because each may rule out those after it.
  std::atomic<std::size_t> next = 0;
  std::atomic<float> least = best ? best->quality : 0;
  std::mutex mutex;
  const auto search = [&](std::size_t) {
    SplitFinder finder(pool, tables, node, criterion);
    for (std::size_t i = next++; i < candidates.size() && bounds[candidates[i]] >= least;
         i = next++) {
      const std::optional<Split> split = find(finder, candidates[i], least);
      if (!split) continue;
      const std::scoped_lock lock(mutex);
      if (!best || split->is_better_than(*best)) best = split;
      least = best->quality;
    }
  };
  const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
  tbb::parallel_for(std::size_t{0}, std::min(threads, candidates.size()), search);
  return best;
}

}  // namespace facesat::training
