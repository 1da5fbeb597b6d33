#include "filters/interval.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/filters/filters.hpp"

namespace facesat::test {
namespace {

// The row a b c d with three places to each side, as border.hpp draws it; 0 is no source.
TEST(Border, AsDrawn) {
  const auto row = [](Border border) {
    std::string drawn;
    for (int i = -3; i < 7; ++i) {
      const int source = source_of(i, 4, border);
      drawn += source == no_source ? '0' : static_cast<char>('a' + source);
    }
    return drawn;
  };
  EXPECT_EQ(row(Border::zero), "000abcd000");
  EXPECT_EQ(row(Border::clamp), "aaaabcdddd");
  EXPECT_EQ(row(Border::mirror), "cbaabcddcb");
  EXPECT_EQ(row(Border::reflect101), "dcbabcdcba");
  EXPECT_EQ(row(Border::wrap), "bcdabcdabc");
}

// Rows are periodic, or constant, however far outside.
TEST(Border, FarOutside) {
  for (int n = 1; n < 10; ++n)
    for (const int period : {2 * n, n > 1 ? 2 * n - 2 : 1, n})
      for (int i = -40; i < 40; ++i) {
        EXPECT_EQ(source_of(i, n, Border::clamp), i < 0 ? 0 : i >= n ? n - 1 : i);
        const Border border = period == 2 * n ? Border::mirror
                              : period == n   ? Border::wrap
                                              : Border::reflect101;
        EXPECT_EQ(source_of(i, n, border), source_of(i + 1000 * period, n, border)) << n << i;
        EXPECT_EQ(source_of(i, n, border), source_of(i - 1000 * period, n, border)) << n << i;
      }
}

TEST(Interval, SumsOfEveryInterval) {
  for (int n = 1; n < 10; ++n) {
    std::vector<int> values, prefix{0};
    for (int i = 0; i < n; ++i) {
      values.push_back(1 << 2 * i);  // sums tell which elements were added, and how often
      prefix.push_back(prefix.back() + values.back());
    }
    for (const Border border : all_borders)
      for (int begin = -40; begin <= 40; ++begin) {
        int expected = 0;
        for (int end = begin; end <= 45; ++end) {
          const PrefixCombination sum = interval_sum(begin, end, n, border);
          int actual = 0;
          for (int i = 0; i < PrefixCombination::terms; ++i)
            if (sum.factors[i] != 0) {
              ASSERT_GE(sum.places[i], 0);
              ASSERT_LE(sum.places[i], n);
              actual += sum.factors[i] * prefix[static_cast<std::size_t>(sum.places[i])];
            }
          ASSERT_EQ(actual, expected)
              << name_of(border) << ", n " << n << ", " << begin << " to " << end;
          if (const int source = source_of(end, n, border); source != no_source)
            expected += values[static_cast<std::size_t>(source)];
        }
      }
  }
}

// No place may lie outside even if its factor is 0: code for GPUs loads it all the same.
TEST(Interval, PlacesOfAbsentTerms) {
  for (int n = 1; n < 10; ++n)
    for (const Border border : all_borders)
      for (int begin = -40; begin <= 40; ++begin)
        for (int end = begin; end <= 45; ++end)
          for (const int place : interval_sum(begin, end, n, border).places) {
            ASSERT_GE(place, 0);
            ASSERT_LE(place, n);
          }
}

}  // namespace
}  // namespace facesat::test
