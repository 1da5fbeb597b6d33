// Splits of a tree's node: the samples that go left and right by the value of one feature.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boosting/feature_pool.hpp"
#include "boosting/sample_tables.hpp"

namespace facesat::training {

// What makes a split good.
//   regression: the least squared error of the responses' means (Gentle AdaBoost, LogitBoost).
//   gini: the purity of both sides (Real AdaBoost).
//   misclassification: the weight of the samples that are on the side of their class (Discrete
//     AdaBoost).
enum class SplitCriterion { regression, gini, misclassification };

// Sums over samples, such as those on one side of a split, in units of 2^-fraction_bits.
struct SideSums {
  std::int64_t weight = 0, target = 0;
  SideSums operator+(const SideSums& other) const {
    return {weight + other.weight, target + other.target};
  }
  SideSums operator-(const SideSums& other) const {
    return {weight - other.weight, target - other.target};
  }
  // If responses are signs: of the samples with this one.
  SideSums of_sign(int sign) const {
    const std::int64_t part = (weight + sign * target) / 2;
    return {part, sign * part};
  }
};

// The samples of a node and what is to be learned about them. Weights and weighted responses are
// integers, so that their sums do not depend on an order: that of threads, or of samples with equal
// values.
struct NodeSamples {
  static constexpr int fraction_bits = 58;
  static constexpr float most_response = 10;

  // `weights`: of every sample; zero for those outside the node. A response is that of the class, 1
  // or -1, or that of LogitBoost; a reference is kept. There are `positives` samples of the
  // objects' class; the others follow.
  NodeSamples(std::vector<double> weights, std::span<const float> responses, std::size_t positives);

  std::size_t count() const { return weights.size(); }
  std::size_t positives;
  bool has_signs = true;              // all responses are 1 or -1
  std::vector<std::uint32_t> inside;  // the samples in the node, in order
  std::span<const float> responses;
  std::vector<double> real_weights;
  std::vector<std::int64_t> weights, targets;  // targets: weight times response
  SideSums sums() const;                       // of all samples
};

struct Split {
  std::size_t feature = 0;
  float quality = 0;                      // f32, as the old trainer compares them
  float threshold = 0;                    // Haar: left if value < threshold
  std::array<std::uint32_t, 8> subset{};  // LBP: left if the code's bit is set

  // Of equally good features, the first one is taken.
  bool is_better_than(const Split& other) const {
    return quality != other.quality ? quality > other.quality : feature < other.feature;
  }
};

// How the values of a Haar feature are divided into bins: a larger value never has a smaller bin.
struct Quantiser {
  float low = 0, scale = 0;
  int bins = 0;

  int bin(float value) const {
    const float place = (value - low) * scale, last = static_cast<float>(bins - 1);
    return static_cast<int>(std::min(std::max(place, 0.0f), last));
  }
};

// Values at this distance from each other, of `count`, decide about bins.
constexpr std::size_t quantiser_step(std::size_t count) {
  return std::max<std::size_t>(count / 256, 1);
}
// Bins for values with this sum and this sum of squares, which reach three deviations to both sides
// of the mean.
Quantiser quantiser_of(double sum, double squares, double count, int bins);

// The same for the values themselves.
Quantiser quantiser_of(std::span<const float> values, int bins);

// Finds the best split by one feature. Each thread needs an object of its own, whose scratch memory
// is kept from feature to feature.
class SplitFinder {
 public:
  SplitFinder(const FeaturePool& pool, const SampleTables& tables, const NodeSamples& samples,
              SplitCriterion criterion)
      : pool_(pool),
        tables_(tables),
        samples_(samples),
        criterion_(criterion),
        all_(samples.sums()) {}

  // Nothing if all samples have the same value, as it were: see least_gap. With `between`, only
  // splits between its bins are considered. If the best split has a lower quality than `least`, it
  // need not be found: nothing, or another one, may be returned.
  std::optional<Split> find(std::size_t feature, const Quantiser* between = nullptr,
                            float least = 0);

 private:
  using ValueOfSample = std::pair<float, std::uint32_t>;
  // A range of a feature's values.
  struct Section {
    std::size_t first = 0, count = 0;  // its samples, in placed_
    SideSums before{};                 // sums of the samples with smaller values
    float after = 0;                   // the smallest value above it
    double bound = 0;  // of the quality of splits in it, or between it and the next one
  };

  struct Bin {  // of a section that is divided
    SideSums own{};
    std::size_t count = 0, end = 0;
  };
  struct Best {
    double quality = -1;
    float value = 0, next = 0;  // the threshold lies between them
  };

  std::optional<Split> haar(std::size_t feature, const Quantiser* between, float least);
  std::optional<Split> lbp(std::size_t feature);
  Section whole();
  bool divide(const Section& section, float least);
  void search(const Section& section, const Quantiser* between, Best& best);
  double corner_bound(const SideSums& before, const SideSums& own) const;

  const FeaturePool& pool_;
  const SampleTables& tables_;
  const NodeSamples& samples_;
  SplitCriterion criterion_;
  SideSums all_;
  std::vector<float> values_;
  std::vector<std::uint8_t> codes_;
  std::vector<ValueOfSample> placed_;  // the samples inside, section by section
  std::vector<Section> waiting_;       // a heap: the one with the highest bound first
  // Of divide():
  std::vector<Bin> bins_;
  std::vector<std::uint8_t> bin_of_;  // of each sample of the section
  std::vector<ValueOfSample> undivided_;
};

}  // namespace facesat::training
