// The kernels of the training against what they compute on the CPU.
#include "kernels/boosting/feature_bins.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <tuple>

#include "tests/kit/device_memory.hpp"
#include "tests/kit/drawn_nodes.hpp"

namespace facesat::test {
namespace {

using namespace gpu;

constexpr std::uint8_t poison = 0xA5;

struct FeatureBinsCase {
  const char* name;
  FeatureSet features;
  Size window;
  int samples;
};
void PrintTo(const FeatureBinsCase& one, std::ostream* out) {
  *out << one.name;
}

// A pool and samples, and both in device memory.
class FeatureBinsTest : public testing::TestWithParam<FeatureBinsCase> {
 protected:
  FeatureBinsTest()
      : samples_(mixed_samples(GetParam().window, GetParam().samples, 3)),
        pool_(training::make_pool(GetParam().features, GetParam().window)),
        tables_(pool_, std::array{&samples_}),
        table_elements_(contents(tables_.tables())),
        deviations_({tables_.inverse_deviations().begin(), tables_.inverse_deviations().end()}),
        features_(feature_rows(pool_, tables_)) {
    columns_ = {table_elements_.data(), tables_.tables().size.width, deviations_.data()};
  }

  int count() const { return static_cast<int>(tables_.count()); }
  int groups() { return static_cast<int>(feature_rows(pool_, tables_).size()) / features_of_group; }
  std::size_t bytes() { return static_cast<std::size_t>(groups() * features_of_group * count()); }

  std::vector<training::Quantiser> quantisers(int bins) const {
    std::vector<training::Quantiser> all;
    std::vector<float> values(tables_.padded());
    for (const HaarFeature& feature : pool_.haar) {
      tables_.values(feature, values.data());
      all.push_back(training::quantiser_of({values.data(), tables_.count()}, bins));
    }
    while (!all.empty() && all.size() % features_of_group != 0) all.push_back(all.back());
    return all;
  }

  // The bins on the CPU, in the kernels' order.
  std::vector<std::uint8_t> expected_bins(const std::vector<training::Quantiser>& quantisers) {
    std::vector<std::uint8_t> bins(bytes());
    std::vector<float> values(tables_.padded());
    std::vector<std::uint8_t> codes(tables_.padded());
    for (int f = 0; f < groups() * features_of_group; ++f) {
      const int real = std::min(f, static_cast<int>(pool_.count()) - 1);
      if (pool_.kind == FeatureKind::haar)
        tables_.values(pool_.haar[real], values.data());
      else
        tables_.codes(pool_.lbp[real], codes.data());
      for (int s = 0; s < count(); ++s)
        bins[(f / features_of_group * count() + s) * features_of_group + f % features_of_group] =
            pool_.kind == FeatureKind::haar
                ? static_cast<std::uint8_t>(quantisers[f].bin(values[s]))
                : codes[s];
    }
    return bins;
  }

  static std::vector<QuantiserScale> scales_of(const std::vector<training::Quantiser>& quantisers) {
    std::vector<QuantiserScale> scales;
    for (const training::Quantiser& q : quantisers) scales.push_back({q.low, q.scale});
    if (scales.empty()) scales.resize(1);
    return scales;
  }

  // Those of enqueue_bins().
  std::unique_ptr<DeviceArray<std::uint8_t>> bins(
      const std::vector<training::Quantiser>& quantisers, int bins) {
    DeviceArray<QuantiserScale> device_scales(scales_of(quantisers));
    auto out = std::make_unique<DeviceArray<std::uint8_t>>(
        std::vector<std::uint8_t>(bytes() + 32, poison));
    enqueue_bins(columns_, pool_.kind, features_.data(), device_scales.data(), bins, groups(),
                 count(), out->data(), test_stream());
    out->download();  // waits: the scales end here
    return out;
  }

  // Of candidates that are all features.
  std::vector<float> bounds_of(const training::Candidates& candidates) const {
    std::vector<float> bounds(pool_.count(), -1);
    for (const auto& [bound, feature] : candidates.features) bounds[feature] = bound;
    return bounds;
  }

  training::Samples samples_;
  training::FeaturePool pool_;
  training::SampleTables tables_;
  DeviceArray<std::int32_t> table_elements_;
  DeviceArray<float> deviations_;
  DeviceArray<FeatureRows> features_;
  SampleColumns columns_;

 private:
  static std::vector<std::int32_t> contents(View<const std::int32_t> tables) {
    std::vector<std::int32_t> all;
    for (int y = 0; y < tables.size.height; ++y)
      all.insert(all.end(), tables.row(y), tables.row(y) + tables.size.width);
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Features, FeatureBinsTest,
    testing::Values(FeatureBinsCase{"Basic", FeatureSet::haar_basic, {5, 4}, 70},
                    FeatureBinsCase{"All", FeatureSet::haar_all, {4, 5}, 129},
                    FeatureBinsCase{"Few", FeatureSet::haar_core, {4, 4}, 5},
                    FeatureBinsCase{"Many", FeatureSet::haar_basic, {3, 3}, 1100},
                    FeatureBinsCase{"Lbp", FeatureSet::lbp, {9, 8}, 50}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(FeatureBinsTest, ValuesAreAddedUpInTheOrderOfTheCpu) {
  if (pool_.kind != FeatureKind::haar) return;
  const int step = static_cast<int>(training::quantiser_step(tables_.count()));
  DeviceArray<ValueSums> sums(std::vector<ValueSums>(pool_.count() + 1, {-7, -7}));
  enqueue_value_sums(columns_, features_.data(), static_cast<int>(pool_.count()), count(), step,
                     sums.data(), test_stream());
  const std::vector<ValueSums> result = sums.download();
  EXPECT_EQ(result.back().sum, -7);
  const double values = divide_up(count(), step);
  const std::vector<training::Quantiser> expected = quantisers(64);
  for (std::size_t f = 0; f < pool_.count(); ++f) {
    const training::Quantiser q =
        training::quantiser_of(result[f].sum, result[f].squares, values, 64);
    EXPECT_EQ(q.low, expected[f].low) << "feature " << f;
    EXPECT_EQ(q.scale, expected[f].scale) << "feature " << f;
  }
}

TEST_P(FeatureBinsTest, BinsAreThoseOfTheCpu) {
  for (const int number : {2, 64, 256}) {
    const std::vector<training::Quantiser> all = quantisers(number);
    std::vector<std::uint8_t> expected = expected_bins(all);
    expected.resize(expected.size() + 32, poison);
    EXPECT_EQ(bins(all, number)->download(), expected) << number << " bins";
  }
}

// No split is better than its feature's bound, and bounds are those of the CPU but for rounding.
// What is said to be reached is.
TEST_P(FeatureBinsTest, BoundsAreAboveAllSplits) {
  const bool has_codes = pool_.kind == FeatureKind::lbp;  // which are the bins
  for (const int number : has_codes ? std::vector{256} : std::vector{10, 256}) {
    const std::vector<training::Quantiser> all = quantisers(number);
    const auto device_bins = bins(all, number);
    const auto cpu = training::make_cpu_screen(pool_, tables_, number, 1 << 20);
    for_drawn_nodes(
        samples_.count(), [&](const training::NodeSamples& node, training::SplitCriterion criterion,
                              const testing::Message& name) {
          if (node.inside.empty()) return;
          const training::Addends addends(node);
          const PackedAddends packed(addends);
          DeviceArray<std::uint32_t> words(packed.words());
          training::SplitFinder finder(pool_, tables_, node, criterion);
          for (const bool between_bins : {false, true}) {
            if (has_codes && between_bins) continue;
            SCOPED_TRACE(testing::Message() << name << ", " << number << " bins, " << between_bins);
            DeviceArray<float> bounds(std::vector<float>(groups() * features_of_group + 1, -7.0f));
            DeviceArray<Reached> reached(std::vector<Reached>(1));
            const BoundRule rule = rule_of(addends, pool_.kind, criterion, between_bins, number);
            for (int run = 0; run < 2; ++run)
              enqueue_bounds(device_bins->data(), groups(), count(), packed.in(words.data()), rule,
                             bounds.data(), reached.data(), test_stream());
            const std::vector<float> result = bounds.download();
            EXPECT_EQ(result.back(), -7.0f);
            const std::vector<float> expected =
                bounds_of(cpu->candidates(node, criterion, between_bins, 0.0f));
            float best = 0;
            for (std::size_t f = 0; f < pool_.count(); ++f) {
              ASSERT_NEAR(result[f], expected[f], 2e-5f * (1 + expected[f])) << "feature " << f;
              const auto split = finder.find(f, between_bins ? &all[f] : nullptr);
              ASSERT_GE(result[f], split ? split->quality : 0) << "feature " << f;
              if (split) best = std::max(best, split->quality);
            }
            const float known = std::bit_cast<float>(reached.download()[0].bits);
            EXPECT_LE(known, best);
            const float of_cpu = cpu->candidates(node, criterion, between_bins).least;
            EXPECT_NEAR(known, of_cpu, 2e-5f * (1 + of_cpu));
          }
        });
  }
}

// Some features are listed, the first with a bound that is low already.
TEST_P(FeatureBinsTest, FinerBoundsAreAboveAllSplits) {
  if (pool_.kind != FeatureKind::haar) return;
  constexpr int number = 10, first_feature = 500;
  DeviceArray<QuantiserScale> scales(scales_of(quantisers(number)));
  std::vector<training::Candidates::One> listed{{0.001f, first_feature}};
  for (std::size_t f = 1; f < pool_.count(); f += pool_.count() / 12 + 1)
    listed.push_back({1000, static_cast<std::uint32_t>(first_feature + f)});
  const auto most = static_cast<int>(listed.size());
  listed.push_back({-7, 7});
  std::size_t lower = 0;
  for_drawn_nodes(
      samples_.count(), [&](const training::NodeSamples& node, training::SplitCriterion criterion,
                            const testing::Message& name) {
        SCOPED_TRACE(name);
        if (node.inside.empty()) return;
        const training::Addends addends(node);
        const PackedAddends packed(addends);
        DeviceArray<std::uint32_t> words(packed.words());
        const BoundRule rule = rule_of(addends, pool_.kind, criterion, false, number);
        DeviceArray<training::Candidates::One> list(listed);
        DeviceArray<Reached> reached(std::vector<Reached>{{0, static_cast<std::uint32_t>(most)}});
        // With fewer blocks than candidates, too.
        for (const int blocks : {most, 5})
          enqueue_finer_bounds(columns_, features_.data(), scales.data(), first_feature, blocks,
                               packed.in(words.data()), rule, reached.data(), list.data(),
                               test_stream());
        const std::vector<training::Candidates::One> result = list.download();
        EXPECT_EQ(result.front().bound, 0.001f);
        EXPECT_EQ(result.back().bound, -7);
        training::SplitFinder finder(pool_, tables_, node, criterion);
        float best = 0;
        for (std::size_t i = 0; i + 1 < result.size(); ++i) {
          const auto split = finder.find(result[i].feature - first_feature);
          if (split) best = std::max(best, split->quality);
          if (i == 0) continue;
          EXPECT_GE(result[i].bound, split ? split->quality : 0) << i;
          lower += result[i].bound < 1000;
        }
        EXPECT_LE(std::bit_cast<float>(reached.download()[0].bits), best);
      });
  EXPECT_GT(lower, 50u);
}

// Bounds of 600 features; of which, from number 1000 on, those that reach enough are candidates.
TEST(FeatureCandidates, AreTheFeaturesWithHighBounds) {
  std::vector<float> bounds(600);
  std::mt19937 random(1);
  for (float& bound : bounds) bound = std::uniform_real_distribution<float>(0, 1)(random);
  bounds[7] = bounds[599] = 0.75f;
  for (const auto& [reached, least, expected] : {std::tuple{0.75f, std::optional<float>(), 0.75f},
                                                 {0.75f, 0.5f, 0.5f},
                                                 {0.9f, 0.0f, 0.0f},
                                                 {2.0f, {}, 2.0f}}) {
    DeviceArray<float> device_bounds(bounds);
    DeviceArray<Reached> state(std::vector<Reached>{{std::bit_cast<std::int32_t>(reached), 0}});
    DeviceArray<training::Candidates::One> list(
        std::vector<training::Candidates::One>(601, {-7, 7}));
    enqueue_candidates(device_bounds.data(), 600, 1000, least, state.data(), list.data(),
                       test_stream());
    std::map<std::uint32_t, float> listed;
    const auto result = list.download();
    for (std::uint32_t i = 0; i < state.download()[0].candidates; ++i)
      listed[result[i].feature] = result[i].bound;
    std::map<std::uint32_t, float> plain;
    for (std::uint32_t f = 0; f < 600; ++f)
      if (bounds[f] >= expected) plain[1000 + f] = bounds[f];
    EXPECT_EQ(listed, plain);
    EXPECT_EQ(result.back().bound, -7);
  }
}

}  // namespace
}  // namespace facesat::test
