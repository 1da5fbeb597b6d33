// Two SAT (summed area table) algorithms that take turns.
#include "app/live/panels/sat_pair.hpp"

#include <gtest/gtest.h>

namespace facesat::app {
namespace {

using namespace std::chrono_literals;

const Subject video{1, 1, {640, 480}}, other_video{2, 1, {640, 480}};

TEST(SatPair, AnAlgorithmIsAOrBOrNeither) {
  SatPair pair;
  pair.pin(SatPair::a, "one");
  EXPECT_FALSE(pair.is_complete());
  EXPECT_EQ(pair.next("one"), "");
  pair.pin(SatPair::b, "two");
  EXPECT_TRUE(pair.is_complete());
  pair.pin(SatPair::b, "one");  // moves
  EXPECT_EQ(pair.id(SatPair::a), "");
  EXPECT_EQ(pair.id(SatPair::b), "one");
  pair.pin(SatPair::b, pair.id(SatPair::b));  // unpins
  EXPECT_EQ(pair.id(SatPair::b), "");
}

TEST(SatPair, SwitchesFromAToBAndFromAllOthersToA) {
  SatPair pair;
  pair.pin(SatPair::a, "one");
  pair.pin(SatPair::b, "two");
  EXPECT_EQ(pair.next("one"), "two");
  EXPECT_EQ(pair.next("two"), "one");
  EXPECT_EQ(pair.next("three"), "one");
}

TEST(SatPair, AlternatesAfterEveryTurn) {
  SatPair pair;
  pair.pin(SatPair::a, "one");
  pair.pin(SatPair::b, "two");
  const SatPair::Clock::time_point begin{};
  EXPECT_EQ(pair.due("one", begin), "");
  EXPECT_EQ(pair.due("one", begin + 10s), "");  // not before the user wants it
  pair.alternates = true;
  EXPECT_EQ(pair.due("one", begin + 11999ms), "");
  EXPECT_EQ(pair.due("one", begin + 12s), "two");
  EXPECT_EQ(pair.due("two", begin + 12s), "");
  // The user chooses an algorithm; it has a whole turn.
  EXPECT_EQ(pair.due("three", begin + 13s), "");
  EXPECT_EQ(pair.due("three", begin + 14999ms), "");
  EXPECT_EQ(pair.due("three", begin + 15s), "one");
  pair.pin(SatPair::b, "two");  // unpins
  EXPECT_EQ(pair.due("one", begin + 30s), "");
}

TEST(SatPair, KeepsTheTimesOfBothOnOneSubject) {
  SatPair pair;
  pair.pin(SatPair::a, "one");
  pair.pin(SatPair::b, "two");
  EXPECT_EQ(pair.times(SatPair::a), nullptr);
  pair.keep("one", {1, 10, 60}, video);
  pair.keep("two", {}, video);  // no frame yet
  EXPECT_EQ(pair.times(SatPair::b), nullptr);
  pair.keep("two", {2, 20, 1}, video);
  ASSERT_NE(pair.times(SatPair::a), nullptr);
  EXPECT_EQ(pair.times(SatPair::a)->sat_ms, 1);
  EXPECT_EQ(pair.times(SatPair::b)->detect_ms, 20);
  pair.keep("two", {2, 20, 1}, other_video);
  EXPECT_EQ(pair.times(SatPair::a), nullptr);
  EXPECT_NE(pair.times(SatPair::b), nullptr);
}

TEST(SatPair, FewFramesDoNotReplaceMany) {
  SatPair pair;
  pair.pin(SatPair::a, "one");
  pair.keep("one", {1, 10, 60}, video);
  pair.keep("one", {7, 70, 9}, video);
  EXPECT_EQ(pair.times(SatPair::a)->sat_ms, 1);
  pair.keep("one", {2, 20, 10}, video);
  EXPECT_EQ(pair.times(SatPair::a)->sat_ms, 2);
}

}  // namespace
}  // namespace facesat::app
