// Haar features as weights of pixels, against their rectangles in integral images.
#include "kernels/cascade/pixel_weights.hpp"

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"
#include "core/rules.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

// The feature's value for the window at (x, y), from tables of the whole picture.
std::int64_t value_from_tables(const HaarFeature& feature, const Image<std::uint32_t>& sums,
                               const Image<std::uint32_t>& tilted_sums, int x, int y) {
  const Image<std::uint32_t>& table = feature.tilted ? tilted_sums : sums;
  std::int64_t value = 0;
  for (const HaarFeature::Part& part : feature.parts) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) {
      const rules::Corner corner = rules::corners_of(part.rect, feature.tilted)[i];
      sum += static_cast<std::uint32_t>(rules::corner_signs[i]) *
             table.row(y + corner.y)[x + corner.x];
    }
    value += static_cast<std::int64_t>(part.weight) * static_cast<std::int32_t>(sum);
  }
  return value;
}

void expect_same_values(const Cascade& cascade) {
  const Size window = cascade.window;
  const Image<std::uint8_t> picture = noise({window.width + 9, window.height + 7}, 5);
  const Image<std::uint32_t> sums = reference::sums(picture.view()),
                             tilted_sums = reference::tilted_sums(picture.view());
  for (const HaarFeature& feature : cascade.haar) {
    const auto weights = gpu::pixel_weights(feature, window);
    ASSERT_TRUE(weights.has_value()) << cascade.name;
    for (const auto& [x, y] : {rules::Corner{0, 0}, {9, 7}, {4, 3}}) {
      std::int64_t value = 0;
      for (int v = 0; v < window.height; ++v)
        for (int u = 0; u < window.width; ++u)
          value += (*weights)[static_cast<std::size_t>(v) * window.width + u] *
                   picture.row(y + v)[x + u];
      ASSERT_EQ(value, value_from_tables(feature, sums, tilted_sums, x, y)) << cascade.name;
    }
  }
}

TEST(PixelWeights, GiveTheValuesOfAllTrainedFeatures) {
  std::size_t features = 0, tilted = 0;
  for (const std::string& name : cascade_names()) {
    const auto cascade = find_cascade(name);
    if (cascade->kind != FeatureKind::haar) continue;
    expect_same_values(*cascade);
    features += cascade->haar.size();
    tilted += cascade->has_tilted();
  }
  EXPECT_GT(features, 20'000u);
  EXPECT_GT(tilted, 5u);
}

HaarFeature edge(float weight) {
  return {{{{{0, 0, 8, 4}, -1}, {{0, 0, 4, 4}, weight}, {}}}, false};
}

TEST(PixelWeights, AreThoseOfTheRectanglesTogether) {
  const auto weights = *gpu::pixel_weights(edge(3), {10, 6});
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      EXPECT_EQ(weights[static_cast<std::size_t>(y * 10 + x)],
                y < 4 && x < 8 ? (x < 4 ? 2 : -1) : 0);
}

TEST(PixelWeights, DoNotExistForOtherFeatures) {
  EXPECT_TRUE(gpu::pixel_weights(edge(128), {10, 6}));
  EXPECT_FALSE(gpu::pixel_weights(edge(129), {10, 6})) << "does not fit into 8 bits";
  EXPECT_FALSE(gpu::pixel_weights(edge(1.5f), {10, 6})) << "is no integer";
  EXPECT_FALSE(gpu::pixel_weights(edge(5000), {10, 6})) << "exceeds the integers of f32";
  EXPECT_THROW(gpu::pixel_weights(edge(2), {7, 6}), std::logic_error)
      << "does not fit into the window";
}

}  // namespace
}  // namespace facesat::test
