#include "boosting/tree.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <stdexcept>

#include "boosting/split.hpp"

namespace facesat::training {
namespace {

constexpr std::size_t least_samples = 11;  // of a node that is split
constexpr double least_error = 0.01f;      // the same, of regression: the root of its mean square

SplitCriterion criterion_of(Boosting boosting) {
  switch (boosting) {
    case Boosting::gentle:
    case Boosting::logit:
      return SplitCriterion::regression;
    case Boosting::real:
      return SplitCriterion::gini;
    case Boosting::discrete:
      return SplitCriterion::misclassification;
  }
  throw std::logic_error("unknown kind of boosting");
}

// Which samples a node sends to the left, of all of the tables.
std::vector<char> goes_left(const FeaturePool& pool, const SampleTables& tables, const Node& node) {
  std::vector<char> left(tables.padded());
  switch (pool.kind) {
    case FeatureKind::haar: {
      std::vector<float> values(tables.padded());
      tables.values(pool.haar[node.feature], values.data());
      std::ranges::transform(values, left.begin(), [&](float v) { return v < node.threshold; });
      break;
    }
    case FeatureKind::lbp: {
      std::vector<std::uint8_t> codes(tables.padded());
      tables.codes(pool.lbp[node.feature], codes.data());
      std::ranges::transform(codes, left.begin(), [&](std::uint8_t c) {
        return static_cast<char>(node.subset[c / 32] >> c % 32 & 1);
      });
      break;
    }
  }
  return left;
}

class Grower {
 public:
  Grower(const FeaturePool& pool, const SampleTables& tables, Screen& screen,
         const TreeSamples& samples, const TreeOptions& options)
      : pool_(pool), tables_(tables), screen_(screen), samples_(samples), options_(options) {}

  TrainedTree grow() {
    grow(samples_.used, 0);
    return flattened();
  }

 private:
  struct Grown {
    double value = 0;
    std::optional<Node> test;
    std::size_t left = 0, right = 0;  // indices into grown_
  };
  // What the samples of a node have in common.
  struct Summary {
    double value = 0;  // of the leaf, if it becomes one
    bool is_uniform = false;
  };

  Summary classes(std::span<const std::uint32_t> samples) const;
  Summary mean(std::span<const std::uint32_t> samples) const;
  Summary summary(std::span<const std::uint32_t> samples) const {
    return criterion_of(options_.boosting) == SplitCriterion::regression ? mean(samples)
                                                                         : classes(samples);
  }
  std::size_t grow(const std::vector<std::uint32_t>& samples, int depth);
  std::optional<Node> best_test(const std::vector<std::uint32_t>& samples) const;
  TrainedTree flattened() const;

  const FeaturePool& pool_;
  const SampleTables& tables_;
  Screen& screen_;
  const TreeSamples& samples_;
  const TreeOptions options_;
  std::vector<Grown> grown_;  // the root first
};

Grower::Summary Grower::classes(std::span<const std::uint32_t> samples) const {
  double positive = 0, negative = 0;
  for (const std::uint32_t sample : samples)
    (sample < samples_.positives ? positive : negative) += samples_.weights[sample];
  const auto is_positive = [&](std::uint32_t sample) { return sample < samples_.positives; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(samples, is_positive));
  return {.value = options_.boosting == Boosting::discrete
                       ? (positive > negative ? 1 : -1)
                       : 0.5 * log_odds(positive / (negative + positive)),
          .is_uniform = count == 0 || count == samples.size()};
}

Grower::Summary Grower::mean(std::span<const std::uint32_t> samples) const {
  double weight = 0, sum = 0, squares = 0;
  for (const std::uint32_t sample : samples) {
    const double w = samples_.weights[sample], response = samples_.responses[sample];
    weight += w;
    sum += response * w;
    squares += response * response * w;
  }
  const double per_weight = 1 / weight;
  const double error = squares - sum * per_weight * sum;
  return {.value = sum * per_weight, .is_uniform = std::sqrt(error) * per_weight < least_error};
}

std::optional<Node> Grower::best_test(const std::vector<std::uint32_t>& samples) const {
  std::vector<double> weights(samples_.weights.size());
  for (const std::uint32_t sample : samples) weights[sample] = samples_.weights[sample];
  const NodeSamples node(weights, samples_.responses, samples_.positives);
  const std::optional<Split> split = best_split(
      screen_, pool_, tables_, node, criterion_of(options_.boosting), options_.between_bins);
  if (!split || !(split->quality > 0)) return std::nullopt;
  return Node{.feature = static_cast<int>(split->feature),
              .threshold = split->threshold,
              .subset = split->subset};
}

std::size_t Grower::grow(const std::vector<std::uint32_t>& samples, int depth) {
  const std::size_t index = grown_.size();
  const Summary own = summary(samples);
  grown_.push_back({.value = own.value, .test = std::nullopt});
  if (samples.size() < least_samples || depth >= options_.depth || own.is_uniform) return index;
  const std::optional<Node> test = best_test(samples);
  if (!test) return index;
  const std::vector<char> is_left = goes_left(pool_, tables_, *test);
  std::vector<std::uint32_t> left, right;
  for (const std::uint32_t sample : samples) (is_left[sample] ? left : right).push_back(sample);
  const std::size_t left_child = grow(left, depth + 1), right_child = grow(right, depth + 1);
  grown_[index].test = test;
  grown_[index].left = left_child;
  grown_[index].right = right_child;
  return index;
}

// Level by level, with the numbers of children and leaves that cascade files have.
TrainedTree Grower::flattened() const {
  TrainedTree tree;
  if (!grown_.front().test) return tree;
  std::deque<std::size_t> waiting{0};
  int nodes = 1;
  const auto number_of = [&](std::size_t child) {
    if (grown_[child].test) {
      waiting.push_back(child);
      return nodes++;
    }
    tree.leaves.push_back(grown_[child].value);
    return 1 - static_cast<int>(tree.leaves.size());
  };
  for (; !waiting.empty(); waiting.pop_front()) {
    const Grown& grown = grown_[waiting.front()];
    Node node = *grown.test;
    node.left = number_of(grown.left);
    node.right = number_of(grown.right);
    tree.nodes.push_back(node);
  }
  return tree;
}

}  // namespace

double log_odds(double p) {
  constexpr double least = 1e-5;
  p = std::clamp(p, least, 1 - least);
  return std::log(p / (1 - p));
}

std::vector<std::uint32_t> TrainedTree::leaves_of(const FeaturePool& pool,
                                                  const SampleTables& tables) const {
  std::vector<int> place(tables.count());  // a node, or minus a leaf less 1
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    const std::vector<char> is_left = goes_left(pool, tables, node);
    for (std::size_t sample = 0; sample < place.size(); ++sample)
      if (place[sample] == static_cast<int>(n)) {
        const int child = is_left[sample] ? node.left : node.right;
        place[sample] = child > 0 ? child : child - 1;
      }
  }
  std::vector<std::uint32_t> result(place.size());
  std::ranges::transform(place, result.begin(),
                         [](int p) { return static_cast<std::uint32_t>(-p - 1); });
  return result;
}

TrainedTree grow_tree(const FeaturePool& pool, const SampleTables& tables, Screen& screen,
                      const TreeSamples& samples, const TreeOptions& options) {
  return Grower(pool, tables, screen, samples, options).grow();
}

}  // namespace facesat::training
