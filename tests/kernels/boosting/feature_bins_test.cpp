// The kernels of the training against what they compute on the CPU.
#include "kernels/boosting/feature_bins.hpp"

#include <algorithm>
#include <array>
#include <memory>

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

  // Those of enqueue_bins().
  std::unique_ptr<DeviceArray<std::uint8_t>> bins(
      const std::vector<training::Quantiser>& quantisers, int bins) {
    std::vector<QuantiserScale> scales;
    for (const training::Quantiser& q : quantisers) scales.push_back({q.low, q.scale});
    if (scales.empty()) scales.resize(1);
    DeviceArray<QuantiserScale> device_scales(scales);
    auto out = std::make_unique<DeviceArray<std::uint8_t>>(
        std::vector<std::uint8_t>(bytes() + 32, poison));
    enqueue_bins(columns_, pool_.kind, features_.data(), device_scales.data(), bins, groups(),
                 count(), out->data(), test_stream());
    out->download();  // waits: the scales end here
    return out;
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
TEST_P(FeatureBinsTest, BoundsAreAboveAllSplits) {
  for (const int wanted : {10, 256}) {
    const int number = pool_.kind == FeatureKind::lbp ? 256 : wanted;
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
            SCOPED_TRACE(testing::Message() << name << ", " << number << " bins, " << between_bins);
            DeviceArray<float> bounds(std::vector<float>(groups() * features_of_group + 1, -7.0f));
            const BoundRule rule = rule_of(addends, pool_.kind, criterion, between_bins, number);
            for (int run = 0; run < 2; ++run)
              enqueue_bounds(device_bins->data(), groups(), count(), packed.in(words.data()), rule,
                             bounds.data(), test_stream());
            const std::vector<float> result = bounds.download();
            EXPECT_EQ(result.back(), -7.0f);
            const std::span<const float> expected = cpu->bounds(node, criterion, between_bins);
            for (std::size_t f = 0; f < pool_.count(); ++f) {
              ASSERT_NEAR(result[f], expected[f], 2e-5f * (1 + expected[f])) << "feature " << f;
              const bool is_between = between_bins && pool_.kind == FeatureKind::haar;
              const auto split = finder.find(f, is_between ? &all[f] : nullptr);
              ASSERT_GE(result[f], split ? split->quality : 0) << "feature " << f;
            }
          }
        });
  }
}

}  // namespace
}  // namespace facesat::test
