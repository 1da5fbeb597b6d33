#include "kernels/cascade/late_division.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"
#include "kernels/cascade/tile_pixels.hpp"

namespace facesat::test {
namespace {

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
  known.keep(0, cascade, 1000, {{1}, {3}});
  EXPECT_EQ(known.find(0, cascade, 900), (LateDivision{{1}, {3}}));
  EXPECT_EQ(known.find(0, cascade, 5000), std::nullopt);
  EXPECT_EQ(known.find(1, cascade, 1000), std::nullopt);
  EXPECT_EQ(known.find(0, std::make_shared<const Cascade>(), 1000), std::nullopt);
}

// Every window begins with a word of a copy, and eight neighbours from where the copies begin anew
// read 32 words in 32 banks.
TEST(TilePixels, WindowsBeginWithWordsInDifferentBanks) {
  for (const int side : {20, 24})
    for (const int step : {1, 2}) {
      const gpu::TilePixels pixels =
          gpu::make_tile_pixels(gpu::window_bytes({side, side}),
                                gpu::make_patch_layout({side, side}, step, 1, 40 << 10));
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
