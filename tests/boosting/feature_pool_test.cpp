#include "boosting/feature_pool.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace facesat::training {
namespace {

std::size_t count(FeatureSet set, Size window) {
  return make_pool(set, window).count();
}

// The numbers of opencv_traincascade.
TEST(FeaturePool, HasAsManyFeaturesAsTheOldTrainer) {
  const Size large{24, 24}, small{20, 20};
  EXPECT_EQ(count(FeatureSet::haar_basic, large), 162'336u);
  EXPECT_EQ(count(FeatureSet::haar_core, large), 210'400u);
  EXPECT_EQ(count(FeatureSet::haar_all, large), 261'600u);
  EXPECT_EQ(count(FeatureSet::lbp, large), 8'464u);
  EXPECT_EQ(count(FeatureSet::haar_basic, small), 78'460u);
  EXPECT_EQ(count(FeatureSet::haar_core, small), 101'329u);
  EXPECT_EQ(count(FeatureSet::haar_all, small), 125'199u);
  EXPECT_EQ(count(FeatureSet::lbp, small), 3'969u);
}

TEST(FeaturePool, RefusesWindowsWithTooManyFeatures) {
  EXPECT_EQ(count(FeatureSet::haar_all, {300, 3}), 487'746u);
  EXPECT_THROW(make_pool(FeatureSet::haar_basic, {200, 200}), ArgumentError);
  EXPECT_THROW(make_pool(FeatureSet::lbp, {1000, 1000}), ArgumentError);
}

TEST(FeaturePool, FeaturesLieInTheWindow) {
  const Size window{12, 9};
  for (const FeatureSet set : {FeatureSet::haar_all, FeatureSet::lbp}) {
    const FeaturePool pool = make_pool(set, window);
    for (const HaarFeature& feature : pool.haar)
      for (const auto& [rect, weight] : feature.parts) {
        if (weight == 0) continue;
        const int left = feature.tilted ? rect.x - rect.height : rect.x;
        const int bottom = rect.y + rect.height + (feature.tilted ? rect.width : 0);
        EXPECT_GE(left, 0);
        EXPECT_GE(rect.y, 0);
        EXPECT_LE(rect.x + rect.width, window.width);
        EXPECT_LE(bottom, window.height);
      }
    for (const LbpFeature& feature : pool.lbp) {
      EXPECT_LE(feature.block.x + 3 * feature.block.width, window.width);
      EXPECT_LE(feature.block.y + 3 * feature.block.height, window.height);
    }
  }
}

// A feature of a picture of one brightness is zero, but for the weights of x4 and tilted forms,
// which are the old trainer's.
TEST(FeaturePool, WeightsBalance) {
  for (const HaarFeature& feature : make_pool(FeatureSet::haar_core, {10, 10}).haar) {
    float sum = 0;
    for (const auto& [rect, weight] : feature.parts)
      sum += weight * static_cast<float>(rect.width * rect.height);
    const float area = feature.parts[0].rect.width * feature.parts[0].rect.height;
    const float part = feature.parts[1].rect.width * feature.parts[1].rect.height;
    const bool is_three = area == 3 * part;  // -1 * 3 + 2 * 1
    EXPECT_EQ(sum, is_three ? -part : 0) << area << ' ' << part;
  }
}

}  // namespace
}  // namespace facesat::training
