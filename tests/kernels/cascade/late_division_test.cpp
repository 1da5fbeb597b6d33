#include "kernels/cascade/late_division.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "cascades/cascade_store.hpp"

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

}  // namespace
}  // namespace facesat::test
