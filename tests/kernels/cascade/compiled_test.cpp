// What a cascade is compiled to on the host: its layouts in shared memory, features as weights of
// pixels, and the divisions of its stages.
#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "core/rules.hpp"
#include "facesat.hpp"
#include "kernels/cascade/compiled_products.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cascade/late_division.hpp"
#include "kernels/cascade/late_stages.hpp"
#include "kernels/cascade/patch_layout.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

// ---- how stages are divided

using gpu::LateDivision;

TEST(LateDivision, GroupsRise) {
  for (const std::string& name : cascade_names()) {
    const auto cascade = find_cascade(name);
    if (!gpu::product_nodes(*cascade)) continue;
    const gpu::CompiledProducts products = gpu::compile_products(*cascade);
    const std::vector<LateDivision> all = gpu::late_divisions(products);
    EXPECT_TRUE(all.front().empty()) << name;
    EXPECT_GT(all.size(), 1u) << name;
    for (const LateDivision& division : all) {
      std::vector<int> begins = division.by_tiles;
      begins.insert(begins.end(), division.by_windows.begin(), division.by_windows.end());
      begins.insert(begins.begin(), 0);
      EXPECT_TRUE(std::ranges::is_sorted(begins, std::less_equal<>())) << name;
      EXPECT_LT(begins.back(), static_cast<int>(cascade->stages.size())) << name;
      EXPECT_TRUE(division.by_tiles.empty() || !division.by_windows.empty()) << name;
    }
  }
}

// The measured ones are kept for pictures of about the same size, as long as the cascade lives.
TEST(LateDivision, MeasuredOnesAreKept) {
  gpu::LateDivisions known;
  auto cascade = std::make_shared<const Cascade>();
  EXPECT_EQ(known.find(0, cascade, 1000), std::nullopt);
  EXPECT_TRUE(known.claim(0, cascade, 1000));
  EXPECT_FALSE(known.claim(0, cascade, 900));
  EXPECT_TRUE(known.claim(1, cascade, 1000));
  EXPECT_EQ(known.find(0, cascade, 1000), std::nullopt);
  known.keep(0, cascade, 1000, {{1}, {3}});
  EXPECT_EQ(known.find(0, cascade, 900), (LateDivision{{1}, {3}}));
  EXPECT_EQ(known.find(0, cascade, 5000), std::nullopt);
  EXPECT_EQ(known.find(1, cascade, 1000), std::nullopt);
  EXPECT_EQ(known.find(0, std::make_shared<const Cascade>(), 1000), std::nullopt);
}

// ---- layouts of patches

// Offsets of corners in a patch have 16 bits. So windows of more than 2^16 pixels, which LBP
// cascades may have, must be refused, and the patches of all others that are not refused must have
// offsets that fit.
TEST(PatchLayout, WindowsWhosePatchesAreTooLargeAreRefused) {
  Cascade cascade = half_cascade({12, 12}, 1, 1, 0);
  int accepted = 0;
  for (int width = 3; width <= 1'000'000; width += 1 + width / 3)
    for (int height = 3; height <= 1'000'000; height += 1 + height / 3) {
      if (static_cast<double>(width) * height > UINT32_MAX / 255) continue;  // no cascade has it
      cascade.window = {width, height};
      const bool refused = gpu::min_shared_bytes(cascade) > gpu::max_patch_bytes;
      EXPECT_TRUE(refused || cascade.window.area() <= 1 << 16) << width << " x " << height;
      if (refused) continue;
      ++accepted;
      for (const int step : {1, 2}) {
        const gpu::PatchLayout layout = gpu::make_patch_layout(cascade.window, step, 1, 0);
        EXPECT_LT(layout.word(width, height), 1 << 16) << width << " x " << height;
      }
    }
  EXPECT_GT(accepted, 100);
}

// ---- Haar features as weights of pixels, against their rectangles in integral images

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

// ---- the pixels of tiles

// Every window begins with a word of a copy, and eight neighbours from where the copies begin anew
// read 32 words in 32 banks.
TEST(TilePixels, WindowsBeginWithWordsInDifferentBanks) {
  for (const int side : {20, 24})
    for (const int step : {1, 2}) {
      const gpu::TilePixels pixels = gpu::make_tile_pixels(
          gpu::window_bytes({side, side}), gpu::make_patch_layout({side, side}, step, 1, 40 << 10));
      ASSERT_GT(pixels.rows, 0);
      for (unsigned row : {0u, 5u})
        for (unsigned first = 0; first + 8 <= 32; first += 4u / static_cast<unsigned>(step)) {
          std::set<int> banks;
          for (unsigned column = first; column < first + 8; ++column) {
            const int word = pixels.word(column, row);
            const int in_row = word - static_cast<int>(row) * step * pixels.pitch;
            const int copy = in_row / pixels.copy_words();
            EXPECT_EQ(in_row % pixels.copy_words() * 4 + copy * step,
                      static_cast<int>(column) * step);
            for (int k = 0; k < 4; ++k) banks.insert((word + k * pixels.pitch) % 32);
          }
          EXPECT_EQ(banks.size(), 32u) << side << " " << step << " " << first;
        }
    }
}

}  // namespace
}  // namespace facesat::test
