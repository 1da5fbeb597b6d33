// The skip rule has two forms, which must agree. Rounding and clipping against worked examples.
#include "core/rules.hpp"

#include <random>

#include <gtest/gtest.h>

namespace facesat::rules {
namespace {

TEST(Rules, SkipRuleOnAWordAgreesWithTheRuleOnRuns) {
  for (unsigned rejected = 0; rejected < 1 << 16; ++rejected) {
    unsigned expected = 0;
    // 16 windows, and the window after them.
    for (int i = 0, run = 0; i < 17; ++i) {
      if (is_skipped_after(run)) expected |= 1u << i;
      run = rejected >> i & 1 ? run + 1 : 0;
    }
    ASSERT_EQ(skipped_by(rejected) & 0x1FFFF, expected) << rejected;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t rejected = random() | random();  // most bits are set: long runs
    const auto low = static_cast<std::uint32_t>(rejected);
    ASSERT_EQ(static_cast<std::uint32_t>(skipped_by(rejected)), skipped_by(low)) << rejected;
  }
}

TEST(Rules, TiesAreRoundedToEven) {
  EXPECT_EQ(round_even(0.5), 0);
  EXPECT_EQ(round_even(1.5f), 2);
  EXPECT_EQ(round_even(-2.5), -2);
  EXPECT_EQ(round_even(2.500001), 3);
}

TEST(Rules, BoxesAreClippedToTheImage) {
  EXPECT_EQ(clipped({-3, 2, 10, 10}, {20, 11}), (Rect{0, 2, 7, 9}));
  EXPECT_EQ(clipped({4, 5, 6, 7}, {20, 20}), (Rect{4, 5, 6, 7}));
  EXPECT_LE(clipped({25, 0, 5, 5}, {20, 20}).width, 0);
}

}  // namespace
}  // namespace facesat::rules
