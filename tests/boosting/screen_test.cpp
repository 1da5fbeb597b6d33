// The fast search for splits against plain ones.
#include "boosting/screen.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/rules.hpp"
#include "tests/kit/drawn_nodes.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::training {
namespace {

using test::DrawnNode;
using test::for_drawn_nodes;
using test::mixed_samples;
using test::Weights;

// ---- values

std::vector<float> plain_values(const HaarFeature& feature, const Samples& samples) {
  std::vector<float> values;
  for (std::size_t i = 0; i < samples.count(); ++i) {
    const auto table = feature.tilted ? test::reference::tilted_sums(samples[i])
                                      : test::reference::sums(samples[i]);
    float weights[3];
    for (std::size_t k = 0; k < 3; ++k) weights[k] = feature.parts[k].weight;
    const auto sum = [&](std::size_t k) {
      const auto corners = rules::corners_of(feature.parts[k].rect, feature.tilted);
      std::int64_t total = 0;
      for (std::size_t c = 0; c < 4; ++c)
        total += std::int64_t{rules::corner_signs[c]} * table.row(corners[c].y)[corners[c].x];
      return static_cast<float>(total);
    };
    double n = 0, s = 0, squares = 0;
    for (int y = 1; y < samples.window.height - 1; ++y)
      for (int x = 1; x < samples.window.width - 1; ++x) {
        const double v = samples[i].row(y)[x];
        n += 1;
        s += v;
        squares += v * v;
      }
    const double spread = n * squares - s * s;
    values.push_back(rules::haar_value(weights, sum) *
                     (spread > 0 ? rules::inverse_deviation(spread) : 0));
  }
  return values;
}

std::vector<std::uint8_t> plain_codes(const LbpFeature& feature, const Samples& samples) {
  std::vector<std::uint8_t> codes;
  for (std::size_t i = 0; i < samples.count(); ++i) {
    const Rect b = feature.block;
    const auto block = [&](int across, int down) {
      int sum = 0;
      for (int y = 0; y < b.height; ++y)
        for (int x = 0; x < b.width; ++x)
          sum += samples[i].row(b.y + down * b.height + y)[b.x + across * b.width + x];
      return sum;
    };
    int code = 0;
    for (const auto& [x, y] : rules::lbp_blocks) code = 2 * code + (block(x, y) >= block(1, 1));
    codes.push_back(static_cast<std::uint8_t>(code));
  }
  return codes;
}

TEST(SampleTables, HaveTheValuesOfEachSample) {
  for (const auto& [window, count] : {std::pair{Size{6, 5}, 1}, {{5, 7}, 16}, {{6, 6}, 37}}) {
    const Samples first = mixed_samples(window, count, 1), second = mixed_samples(window, 3, 2);
    Samples all = first;
    all.pixels.insert(all.pixels.end(), second.pixels.begin(), second.pixels.end());
    const FeaturePool haar = make_pool(FeatureSet::haar_all, window);
    const FeaturePool lbp = make_pool(FeatureSet::lbp, window);
    test::on_every_instruction_set([&] {
      const std::array parts{&first, &second};
      const SampleTables haar_tables(haar, parts), lbp_tables(lbp, parts);
      ASSERT_EQ(haar_tables.count(), all.count());
      std::vector<float> values(haar_tables.padded());
      for (std::size_t f = 0; f < haar.count(); ++f) {
        haar_tables.values(haar.haar[f], values.data());
        ASSERT_EQ(std::vector(values.begin(), values.begin() + haar_tables.count()),
                  plain_values(haar.haar[f], all))
            << "feature " << f;
      }
      std::vector<std::uint8_t> codes(lbp_tables.padded());
      for (std::size_t f = 0; f < lbp.count(); ++f) {
        lbp_tables.codes(lbp.lbp[f], codes.data());
        ASSERT_EQ(std::vector(codes.begin(), codes.begin() + lbp_tables.count()),
                  plain_codes(lbp.lbp[f], all))
            << "feature " << f;
      }
    });
  }
}

// ---- splits

// The samples of a node that have this value or a smaller one, or a larger one: what a split makes
// of them, from the definition of the criteria.
double plain_quality(const NodeSamples& node, const std::vector<float>& values, float threshold,
                     SplitCriterion criterion) {
  double weight[2]{}, target[2]{}, positive[2]{}, negative[2]{};
  for (const std::uint32_t i : node.inside) {
    const int side = values[i] < threshold ? 0 : 1;
    weight[side] += node.real_weights[i];
    target[side] += node.real_weights[i] * static_cast<double>(node.responses[i]);
    (node.responses[i] > 0 ? positive : negative)[side] += node.real_weights[i];
  }
  if (criterion == SplitCriterion::misclassification)
    return std::max(positive[0] + negative[1], positive[1] + negative[0]);
  double quality = 0;
  for (const int side : {0, 1}) {
    if (weight[side] <= 0) continue;
    quality +=
        criterion == SplitCriterion::regression
            ? target[side] * target[side] / weight[side]
            : (positive[side] * positive[side] + negative[side] * negative[side]) / weight[side];
  }
  return quality;
}

// The highest quality of a split of a feature's values at all, or of one between bins.
double plain_best(const NodeSamples& node, const std::vector<float>& values,
                  SplitCriterion criterion, const Quantiser* between) {
  std::vector<float> sorted;
  for (const std::uint32_t i : node.inside) sorted.push_back(values[i]);
  std::ranges::sort(sorted);
  double best = 0;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    if (sorted[i + 1] - sorted[i] <= 2 * std::numeric_limits<float>::epsilon()) continue;
    if (between && between->bin(sorted[i]) == between->bin(sorted[i + 1])) continue;
    best = std::max(best, plain_quality(node, values, sorted[i + 1], criterion));
  }
  return best;
}

// By every so many features.
void expect_best_thresholds(const Samples& samples, std::size_t step) {
  const FeaturePool pool = make_pool(FeatureSet::haar_core, samples.window);
  const std::array parts{&samples};
  const SampleTables tables(pool, parts);
  std::vector<float> values(tables.padded());
  std::size_t splits = 0;
  for_drawn_nodes(samples.count(), [&](const NodeSamples& node, SplitCriterion criterion,
                                       const testing::Message& name) {
    SplitFinder finder(pool, tables, node, criterion);
    for (std::size_t f = 0; f < pool.count(); f += step) {
      tables.values(pool.haar[f], values.data());
      const Quantiser quantiser = quantiser_of({values.data(), tables.count()}, 8);
      for (const Quantiser* between : std::array<const Quantiser*, 2>{nullptr, &quantiser}) {
        const std::optional<Split> split = finder.find(f, between);
        const double best = plain_best(node, values, criterion, between);
        if (!split) {
          EXPECT_LT(best, 1e-9) << name << ", feature " << f;
          continue;
        }
        ++splits;
        const std::optional<Split> again = finder.find(f, between, split->quality);
        ASSERT_TRUE(again.has_value());
        EXPECT_EQ(again->threshold, split->threshold);
        EXPECT_NEAR(split->quality, best, 1e-5 * best) << name << ", feature " << f;
        EXPECT_NEAR(plain_quality(node, values, split->threshold, criterion), best, 1e-5 * best)
            << name << ", feature " << f;
        if (!between) continue;
        for (const std::uint32_t i : node.inside)  // no bin is on both sides
          for (const std::uint32_t k : node.inside)
            EXPECT_FALSE(values[i] < split->threshold && values[k] >= split->threshold &&
                         quantiser.bin(values[i]) == quantiser.bin(values[k]));
      }
    }
  });
  EXPECT_GT(splits, 200u);
}

// So many samples that they are divided by value, and few.
TEST(SplitFinder, FindsTheBestThreshold) {
  expect_best_thresholds(mixed_samples({5, 6}, 43, 3), 5);
  expect_best_thresholds(mixed_samples({5, 6}, 400, 3), 97);
}

// ---- screens

std::optional<Split> best_of_all(const FeaturePool& pool, const SampleTables& tables,
                                 const NodeSamples& node, SplitCriterion criterion,
                                 const std::vector<Quantiser>* between) {
  SplitFinder finder(pool, tables, node, criterion);
  std::optional<Split> best;
  for (std::size_t f = 0; f < pool.count(); ++f) {
    const std::optional<Split> split = finder.find(f, between ? &(*between)[f] : nullptr);
    if (split && (!best || split->is_better_than(*best))) best = split;
  }
  return best;
}

void expect_same(const std::optional<Split>& split, const std::optional<Split>& expected) {
  ASSERT_EQ(split.has_value(), expected.has_value());
  if (!split) return;
  EXPECT_EQ(split->feature, expected->feature);
  EXPECT_EQ(split->quality, expected->quality);
  EXPECT_EQ(split->threshold, expected->threshold);
  EXPECT_EQ(split->subset, expected->subset);
}

struct ScreenCase {
  const char* name;
  FeatureSet features;
  Size window;
  int samples;
};
void PrintTo(const ScreenCase& one, std::ostream* out) {
  *out << one.name;
}

class ScreenTest : public testing::TestWithParam<ScreenCase> {
 protected:
  void expect_best_splits(const Samples& samples) {
    const FeaturePool pool = make_pool(GetParam().features, samples.window);
    const std::array parts{&samples};
    const SampleTables tables(pool, parts);
    const std::size_t all = pool.count() * tables.padded();
    for (const int bins : {64, 256}) {
      const std::vector<Quantiser> quantisers = quantisers_of(pool, tables, bins);
      const auto kept = make_cpu_screen(pool, tables, bins, all),
                 computed = make_cpu_screen(pool, tables, bins, 0),
                 half = make_cpu_screen(pool, tables, bins, all / 2);
      for_drawn_nodes(samples.count(), [&](const NodeSamples& node, SplitCriterion criterion,
                                           const testing::Message& name) {
        for (const bool between_bins : {false, true}) {
          SCOPED_TRACE(testing::Message() << name << ", " << bins << " bins, " << between_bins);
          const std::optional<Split> expected =
              best_of_all(pool, tables, node, criterion,
                          between_bins && !quantisers.empty() ? &quantisers : nullptr);
          for (const auto& screen : {&kept, &computed, &half})
            expect_same(best_split(**screen, pool, tables, node, criterion, between_bins),
                        expected);
        }
      });
    }
  }

  static std::vector<Quantiser> quantisers_of(const FeaturePool& pool, const SampleTables& tables,
                                              int bins) {
    std::vector<Quantiser> quantisers;
    std::vector<float> values(tables.padded());
    for (const HaarFeature& feature : pool.haar) {
      tables.values(feature, values.data());
      quantisers.push_back(quantiser_of({values.data(), tables.count()}, bins));
    }
    return quantisers;
  }
};

INSTANTIATE_TEST_SUITE_P(Features, ScreenTest,
                         testing::Values(ScreenCase{"Basic", FeatureSet::haar_basic, {7, 6}, 120},
                                         ScreenCase{"Core", FeatureSet::haar_core, {6, 6}, 77},
                                         ScreenCase{"All", FeatureSet::haar_all, {6, 7}, 100},
                                         ScreenCase{"Lbp", FeatureSet::lbp, {12, 9}, 150}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(ScreenTest, FindsTheBestSplitOfAllFeatures) {
  expect_best_splits(mixed_samples(GetParam().window, GetParam().samples, 4));
}

// Many values are equal, and many features are as good as others.
TEST_P(ScreenTest, FindsTheFirstOfEqualSplits) {
  Samples few = mixed_samples(GetParam().window, 16, 5), samples = few;
  while (samples.count() < 48)
    samples.pixels.insert(samples.pixels.end(), few.pixels.begin(), few.pixels.end());
  expect_best_splits(samples);
}

// Both classes have the same values, so that no bin tells them apart: all features are equal.
TEST_P(ScreenTest, FindsTheFirstFeatureWhereNoneHelps) {
  const Samples half = mixed_samples(GetParam().window, 100, 8);
  Samples samples = half;
  samples.pixels.insert(samples.pixels.end(), half.pixels.begin(), half.pixels.end());
  const FeaturePool pool = make_pool(GetParam().features, samples.window);
  const std::array parts{&samples};
  const SampleTables tables(pool, parts);
  std::vector<float> responses(200, 1);
  std::fill(responses.begin() + 100, responses.end(), -1.0f);
  const NodeSamples node(std::vector<double>(200, 1.0 / 200), responses, 100);
  const auto screen = make_cpu_screen(pool, tables, 256, 1 << 20);
  const std::vector<Quantiser> quantisers = quantisers_of(pool, tables, 256);
  for (const SplitCriterion criterion : test::criteria)
    for (const bool between_bins : {false, true})
      expect_same(best_split(*screen, pool, tables, node, criterion, between_bins),
                  best_of_all(pool, tables, node, criterion,
                              between_bins && !quantisers.empty() ? &quantisers : nullptr));
}

TEST_P(ScreenTest, FindsNothingInEqualSamples) {
  for (const std::uint8_t high : {101, 250}) {
    const Image<std::uint8_t> picture = test::noise(GetParam().window, 6, 100, high);
    Samples samples{.window = GetParam().window, .pixels = {}};
    for (int i = 0; i < 30; ++i) samples.add(picture.view());
    const FeaturePool pool = make_pool(GetParam().features, samples.window);
    const std::array parts{&samples};
    const SampleTables tables(pool, parts);
    const auto screen = make_cpu_screen(pool, tables, 64, 1 << 20);
    for_drawn_nodes(samples.count(), [&](const NodeSamples& node, SplitCriterion criterion,
                                         const testing::Message& name) {
      for (const bool between_bins : {false, true})
        if (const auto split = best_split(*screen, pool, tables, node, criterion, between_bins))
          ADD_FAILURE() << name << ": feature " << split->feature << ", quality " << split->quality;
    });
  }
}

TEST_P(ScreenTest, FindsTheSameOnEveryInstructionSet) {
  const Samples samples = mixed_samples(GetParam().window, GetParam().samples, 7);
  const FeaturePool pool = make_pool(GetParam().features, samples.window);
  const std::array parts{&samples};
  const DrawnNode node(samples.count(), Weights::unequal, true, true, 8);
  for (const bool between_bins : {false, true}) {
    std::optional<Split> expected;
    test::on_every_instruction_set([&] {
      const SampleTables tables(pool, parts);
      const auto screen = make_cpu_screen(pool, tables, 256, 1 << 20);
      const auto split = best_split(*screen, pool, tables, node.samples(),
                                    SplitCriterion::regression, between_bins);
      ASSERT_TRUE(split.has_value());
      if (!expected) expected = split;
      expect_same(split, expected);
    });
  }
}

}  // namespace
}  // namespace facesat::training
