#include "training/window_positions.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

TEST(WindowPositions, NumbersFollowLevelRowAndColumn) {
  const WindowPositions positions({53, 37}, {12, 10}, 1.2);
  const std::vector<Level>& levels = positions.pyramid().levels;
  ASSERT_EQ(levels.size(), 8u);
  std::uint64_t number = 0;
  for (int level = 0; level < std::ssize(levels); ++level)
    for (int y = 0; y + 10 <= levels[level].size.height; ++y)
      for (int x = 0; x + 12 <= levels[level].size.width; ++x, ++number) {
        const WindowPositions::Place place = positions.place(number);
        ASSERT_EQ(std::tuple(place.level, place.x, place.y), std::tuple(level, x, y));
        ASSERT_EQ(positions.number(place), number);
      }
  EXPECT_EQ(positions.count(), number);
  EXPECT_EQ(positions.box({2, 7, 5}), (Rect{10, 7, 17, 14}));
}

TEST(WindowPositions, CutsWhatTheDetectorSees) {
  const Image<std::uint8_t> picture = test::noise({53, 37}, 1);
  const WindowPositions positions(picture.size(), {12, 10}, 1.2);
  Image<std::uint8_t> window({12, 10});
  for (std::uint64_t number = 0; number < positions.count(); number += 7) {
    const WindowPositions::Place place = positions.place(number);
    const Image<std::uint8_t> level =
        test::reference::resized(picture.view(), positions.pyramid().levels[place.level].size);
    positions.cut(picture.view(), place, window.view());
    for (int y = 0; y < 10; ++y)
      ASSERT_TRUE(std::equal(window.row(y), window.row(y) + 12, level.row(place.y + y) + place.x))
          << number;
  }
}

TEST(WindowPositions, OfASmallPictureThereAreNone) {
  EXPECT_EQ(WindowPositions({11, 50}, {12, 10}, 1.1).count(), 0u);
  EXPECT_EQ(WindowPositions({12, 10}, {12, 10}, 1.1).count(), 1u);
}

TEST(Shuffle, IsAnOrderOfAllNumbers) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 4095, 4097}) {
    const Shuffle order(count, 3);
    std::vector<std::uint64_t> numbers(count), sorted(count);
    for (std::uint64_t rank = 0; rank < count; ++rank) {
      numbers[rank] = order.at(rank);
      ASSERT_EQ(order.rank_of(numbers[rank]), rank);
    }
    std::iota(sorted.begin(), sorted.end(), 0);
    EXPECT_TRUE(std::ranges::is_permutation(numbers, sorted)) << count;
  }
  const std::uint64_t many = std::uint64_t{1} << 40;
  EXPECT_EQ(Shuffle(many + 1, 3).rank_of(Shuffle(many + 1, 3).at(many)), many);
}

// The first thousand of a million numbers fall into tenths as evenly as random ones.
TEST(Shuffle, SpreadsNumbers) {
  for (const std::uint64_t key : {1, 2, 3}) {
    const Shuffle order(1'000'000, key);
    std::vector<int> tenths(10);
    for (std::uint64_t rank = 0; rank < 1000; ++rank) ++tenths[order.at(rank) / 100'000];
    for (const int count : tenths) EXPECT_NEAR(count, 100, 45);  // 4.7 standard deviations
  }
  EXPECT_NE(Shuffle(1'000'000, 1).at(0), Shuffle(1'000'000, 2).at(0));
}

}  // namespace
}  // namespace facesat::training
