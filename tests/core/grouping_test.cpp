#include "core/grouping.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

using Faces = std::vector<Face>;

Faces grouped(const Faces& windows, int min_neighbors) {
  std::vector<Window> same;
  for (const Face& window : windows) same.push_back({.score = window.score, .box = window.box});
  return group_faces(same, min_neighbors);
}

// `count` windows in the same place.
void add(Faces& windows, const Rect& box, int count, double score = 0) {
  windows.insert(windows.end(), count, {box, 1, score});
}

TEST(Grouping, OfNothingIsNothing) {
  for (const int n : {0, 1, 3}) EXPECT_TRUE(group_faces({}, n).empty());
}

TEST(Grouping, WithoutNeighboursKeepsEveryWindow) {
  const Faces windows = {{{1, 2, 30, 30}, 1, 5}, {{1, 2, 30, 30}, 1, 4}, {{90, 90, 5, 5}, 1, 3}};
  EXPECT_EQ(grouped(windows, 0), windows);
}

TEST(Grouping, KeepsGroupsOfMoreThanTheMinimum) {
  Faces windows;
  add(windows, {0, 0, 20, 20}, 1);
  add(windows, {100, 0, 20, 20}, 2);
  add(windows, {200, 0, 20, 20}, 4);
  EXPECT_EQ(grouped(windows, 1), (Faces{{{100, 0, 20, 20}, 2, 0}, {{200, 0, 20, 20}, 4, 0}}));
  EXPECT_EQ(grouped(windows, 3), (Faces{{{200, 0, 20, 20}, 4, 0}}));
  EXPECT_EQ(grouped(windows, 4), Faces{});
}

TEST(Grouping, FacesComeInTheOrderOfTheirFirstWindows) {
  const Rect low{0, 200, 50, 50}, high{0, 0, 50, 50}, right{200, 100, 50, 50};
  Faces windows;
  for (const Rect& box : {low, right, high, right, high, low}) add(windows, box, 1);
  EXPECT_EQ(grouped(windows, 1), (Faces{{low, 2, 0}, {right, 2, 0}, {high, 2, 0}}));
}

TEST(Grouping, GivesTheMeanBoxTheCountAndTheBestScore) {
  const Faces windows = {{{10, 20, 40, 41}, 1, 1.5},
                         {{11, 22, 41, 40}, 1, 2.5},
                         {{11, 21, 41, 43}, 1, 0.5},
                         {{10, 21, 41, 42}, 1, -7}};
  // Halves are rounded to even: 10.5 to 10, 41.5 to 42.
  EXPECT_EQ(grouped(windows, 3), (Faces{{{10, 21, 41, 42}, 4, 2.5}}));
}

TEST(Grouping, ABestScoreMayBeNegative) {
  const Faces windows = {{{0, 0, 9, 9}, 1, -3}, {{0, 0, 9, 9}, 1, -2}};
  EXPECT_EQ(grouped(windows, 1), (Faces{{{0, 0, 9, 9}, 2, -2}}));
}

// The margin for windows with sides of 50 is 0.2 * (50 + 50) / 2 = 10.
TEST(Grouping, EdgesMayDifferByTheMarginButNotByMore) {
  const Faces near = {{{0, 0, 50, 50}, 1, 0}, {{10, 10, 50, 50}, 1, 0}};
  EXPECT_EQ(grouped(near, 1), (Faces{{{5, 5, 50, 50}, 2, 0}}));
  EXPECT_EQ(grouped({near[0], {{11, 0, 50, 50}, 1, 0}}, 1), Faces{});
  EXPECT_EQ(grouped({near[0], {{0, 11, 50, 50}, 1, 0}}, 1), Faces{});
  EXPECT_EQ(grouped({near[0], {{0, 0, 61, 50}, 1, 0}}, 1), Faces{});
  EXPECT_EQ(grouped({near[0], {{0, 0, 50, 61}, 1, 0}}, 1), Faces{});
}

TEST(Grouping, IsTransitive) {
  Faces windows;
  for (const int x : {16, 0, 24, 8}) add(windows, {x, 0, 50, 50}, 1);  // 8 apart: similar; 16: not
  EXPECT_EQ(grouped(windows, 3), (Faces{{{12, 0, 50, 50}, 4, 0}}));
}

// ---- a face inside another ----------------------------------------------------------------------

// The faces found in a group of windows at an outer box (100 x 100 at (100, 100)) and a group at an
// inner box. The inner face may be swallowed: dropped because it lies within the outer box and its
// margin of 20.
Faces nested(int outer_count, const Rect& inner, int inner_count) {
  Faces windows;
  add(windows, {100, 100, 100, 100}, outer_count);
  add(windows, inner, inner_count);
  return grouped(windows, 1);
}

constexpr Rect middle{130, 130, 30, 30};

TEST(GroupingContainment, AStrongerFaceSwallowsAFaceInsideIt) {
  EXPECT_EQ(nested(5, middle, 4).size(), 1u);
  EXPECT_EQ(nested(4, middle, 3).size(), 1u);
}

TEST(GroupingContainment, AFaceOfFewerThan3WindowsIsSwallowedByAnyOuterFace) {
  EXPECT_EQ(nested(2, middle, 2).size(), 1u);
  EXPECT_EQ(nested(3, middle, 2).size(), 1u);
}

TEST(GroupingContainment, AnInnerFaceOfAsManyOrMoreWindowsStays) {
  EXPECT_EQ(nested(4, middle, 4).size(), 2u);
  EXPECT_EQ(nested(4, middle, 5).size(), 2u);
  EXPECT_EQ(nested(3, middle, 3).size(), 2u);  // an outer face needs more than 3
}

TEST(GroupingContainment, TheOuterFaceIsNeverSwallowed) {
  EXPECT_EQ(nested(2, middle, 9).size(), 2u);
}

TEST(GroupingContainment, AllowsAMarginOfAFifthAtEveryEdge) {
  for (const Rect inside : {Rect{80, 130, 30, 30},
                            {130, 80, 30, 30},
                            {190, 130, 30, 30},
                            {130, 190, 30, 30},
                            {80, 80, 30, 30}})
    EXPECT_EQ(nested(9, inside, 2).size(), 1u);
  for (const Rect outside :
       {Rect{79, 130, 30, 30}, {130, 79, 30, 30}, {191, 130, 30, 30}, {130, 191, 30, 30}})
    EXPECT_EQ(nested(9, outside, 2).size(), 2u);
}

TEST(GroupingContainment, OnlyFacesThatAreKeptSwallowOthers) {
  Faces windows;
  add(windows, {100, 100, 100, 100}, 3);
  add(windows, middle, 4);
  EXPECT_EQ(grouped(windows, 3), (Faces{{middle, 4, 0}}));
}

// ---- at random ----------------------------------------------------------------------------------

Faces random_windows(std::mt19937& random, int clusters) {
  const auto upto = [&](unsigned n) { return static_cast<int>(random() % n); };
  Faces windows;
  for (int c = 0; c < clusters; ++c) {
    const Rect centre{upto(150), upto(150), 10 + upto(80), 10 + upto(80)};
    const int spread = 1 + centre.width / 8;
    for (int i = 1 + upto(9); i > 0; --i)
      windows.push_back({{centre.x + upto(spread), centre.y + upto(spread),
                          centre.width + upto(spread), centre.height + upto(spread)},
                         1,
                         upto(1000) / 8.0});
  }
  std::shuffle(windows.begin(), windows.end(), random);
  return windows;
}

TEST(Grouping, EqualsTheReferenceForRandomWindows) {
  std::mt19937 random(1);
  std::size_t faces = 0;
  for (int i = 0; i < 400; ++i) {
    const Faces windows = random_windows(random, i % 12);
    for (const int n : {0, 1, 2, 3, 6}) {
      const Faces expected = reference::grouped(windows, n);
      EXPECT_EQ(grouped(windows, n), expected) << "set " << i << ", more than " << n;
      faces += expected.size();
    }
  }
  EXPECT_GT(faces, 1000u);
}

TEST(Grouping, ComparesWithOpenCvsDistanceRoundedDown) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const int sum = i < 1'000'000 ? i : static_cast<int>(random() >> 1);
    const int width = static_cast<int>(random() % (static_cast<unsigned>(sum) + 1));
    const Size size{width, sum - width};
    ASSERT_EQ(similar_within(size, size), static_cast<int>(similarity * sum * 0.5)) << sum;
  }
}

}  // namespace
}  // namespace facesat::test
