// How subjects take turns, are checked and fail.
#include "lab/measure.hpp"

#include <gtest/gtest.h>

#include "facesat.hpp"

namespace facesat::lab {
namespace {

// A subject that takes `us` and writes its id into `order` at each run; it is right as long as
// fewer than `right` runs were made.
Subject subject(const std::string& id, std::string& order, double us = 1, int right = 1000) {
  const auto runs = std::make_shared<int>(0);
  return {.id = id, .open = [=, &order] {
            return Runner{[=, &order] {
                            ++*runs;
                            order += id;
                            return us;
                          },
                          [=] { return *runs < right; }};
          }};
}

TEST(Measure, SubjectsTakeTurns) {
  std::string order;
  const std::vector<Subject> subjects{subject("a", order), subject("b", order)};
  const auto measured = measure(subjects, 2, 0);
  EXPECT_EQ(order, "abaabbaabb");  // a round to warm up, then a warm-up before each timed run
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_EQ(measured[0].us.size(), 2u);
  EXPECT_EQ(measured[0].all_right, true);
}

TEST(Measure, WhatTakesLongHasFewerRuns) {
  std::string order;
  EXPECT_EQ(measure(std::vector{subject("a", order, 1e6)}, 9, 0)[0].us.size(), 3u);
  EXPECT_EQ(order, "aaaa");  // one to warm up
  order.clear();
  EXPECT_EQ(measure(std::vector{subject("a", order, 3e5)}, 9, 0)[0].us.size(), 7u);
}

TEST(Measure, EveryTimedRunIsChecked) {
  std::string order;
  EXPECT_EQ(measure(std::vector{subject("a", order, 1, 8)}, 3, 0)[0].all_right, true);
  EXPECT_EQ(measure(std::vector{subject("a", order, 1, 7)}, 3, 0)[0].all_right, false);
  Subject unchecked{.id = "u", .open = [] { return Runner{[] { return 1.0; }}; }};
  EXPECT_EQ(measure(std::vector{unchecked}, 3, 0)[0].all_right, std::nullopt);
}

TEST(Measure, WorkspacesThatDoNotFitTogetherAreMeasuredInGroups) {
  std::string order;
  std::vector<Subject> subjects{subject("a", order), subject("b", order), subject("c", order)};
  for (Subject& one : subjects) one.workspace_bytes = 10;
  measure(subjects, 1, 20);
  EXPECT_EQ(order, "abaabbccc");
  order.clear();
  measure(subjects, 1, 5);  // each alone, even if it is larger
  EXPECT_EQ(order, "aaabbbccc");
}

TEST(Measure, FailuresEndTheSubjectAlone) {
  std::string order;
  Subject refuses{.id = "r", .open = []() -> Runner { throw ArgumentError("not open"); }};
  Subject fails{.id = "f", .open = [] {
                  return Runner{[runs = 0]() mutable -> double {
                    if (++runs == 5) throw DeviceError("lost");  // its second timed run
                    return 1;
                  }};
                }};
  Subject absent{.id = "n", .failure = "not installed", .is_absent = true};
  const auto measured = measure(std::vector{refuses, fails, absent, subject("a", order)}, 4, 0);
  EXPECT_EQ(measured[0].failure, "not open");
  EXPECT_EQ(measured[1].failure, "lost");
  EXPECT_TRUE(measured[1].us.empty());
  EXPECT_EQ(measured[2].failure, "not installed");
  EXPECT_EQ(measured[3].us.size(), 4u);
  EXPECT_EQ(measured[3].failure, "");
}

TEST(Measuring, GoesOnATurnAtATime) {
  std::string order;
  std::vector<Subject> subjects{subject("a", order), subject("b", order), subject("c", order)};
  for (Subject& one : subjects) one.workspace_bytes = 10;
  Measuring measuring(subjects, 2, 20);
  for (const auto& [turns, done] : {std::pair("a", 0u),
                                    {"ab", 0u},
                                    {"abaa", 0u},
                                    {"abaabb", 0u},
                                    {"abaabbaa", 0u},
                                    {"abaabbaabb", 2u},
                                    {"abaabbaabbc", 2u}}) {
    measuring.go_on();
    EXPECT_EQ(order, turns);
    EXPECT_EQ(measuring.done_count(), done);
  }
  EXPECT_EQ(measuring.measurements()[1].us.size(), 2u);
  EXPECT_FALSE(measuring.is_over());
  for (int turn = 0; turn < 2; ++turn) measuring.go_on();
  EXPECT_TRUE(measuring.is_over());
  measuring.go_on();  // does nothing any more
  EXPECT_EQ(order, "abaabbaabbccccc");
}

TEST(Measuring, JoinedSubjectsAreOne) {
  std::string order;
  const auto measured = measure(
      std::vector{joined("all", {subject("a", order, 1), subject("b", order, 2)}),
                  joined("wrong", {subject("a", order), subject("b", order, 1, 2)}),
                  joined("none", {subject("a", order), {.id = "b", .failure = "not there"}})},
      2, 0);
  EXPECT_EQ(order.substr(0, 8), "abababab");
  EXPECT_EQ(measured[0].us, (std::vector<double>{3, 3}));
  EXPECT_EQ(measured[0].all_right, true);
  EXPECT_EQ(measured[1].all_right, false);
  EXPECT_EQ(measured[2].failure, "not there");
}

TEST(Measure, QuantilesAreThoseOfTheNearestRank) {
  EXPECT_EQ(quantile({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0.5), 3);
  EXPECT_EQ(quantile({1, 2, 3}, 0.95), 3);
  EXPECT_EQ(quantile({7}, 0), 7);
}

}  // namespace
}  // namespace facesat::lab
