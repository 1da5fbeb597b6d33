// The panel of SAT (summed area table) algorithms, with invented algorithms and results; and two
// algorithms that take turns.
#include <gtest/gtest.h>

#include "app/live/gui/drawing.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"

namespace facesat::app {
namespace {

using namespace std::chrono_literals;
using test::eventually;

class SatPanelTest : public test::OnePanelTest {
 protected:
  SatPanelTest() : OnePanelTest(make_sat_panel()) {
    machine.sats = facts_of(sats);
    result.sat = "one";
    context.comparison = &comparison;
    comparison.on_device = true;
    comparison.levels = 5;
    comparison.floor_ms = 1;
  }
  void pin_both() {
    wishes_after("A", "one");
    wishes_after("B", "three");
  }
  // Presses the key X. Returns whether it has changed the algorithm.
  bool switch_algorithm() {
    context.wishes = {};
    EXPECT_TRUE(panel->handle_key({'X', false}, context));
    return context.wishes.settings;
  }
  // Returns whether the algorithm changes at this time.
  bool alternates_at(std::chrono::steady_clock::time_point now) {
    context.wishes = {};
    context.now = now;
    panel->begin(context);
    return context.wishes.settings;
  }

  const gpu::SatAlgorithm one{"one", "One", "Ann, Bob: A paper", 2001, 1, 1, 1, {}, {}, {}, {}},
      two{"two", "Two", "A remark", 2001, 0, 2, 2, {}, {}, {}, {}},
      three{"three", "Three", "Cid: Another paper", 2002, 1, 1, 1, {}, {}, {}, {}};
  const gpu::SatAlgorithm* const sats[3]{&one, &two, &three};
  Comparison comparison;
  LiveSettings& settings = choices.settings;
};

TEST_F(SatPanelTest, FactsOfAnAlgorithm) {
  const std::vector<SatFacts> facts = facts_of(sats);
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0].id, "one");
  EXPECT_EQ(facts[2].id, "three");
  EXPECT_EQ(facts[0].authors, "Ann, Bob 2001");
  EXPECT_EQ(facts[1].authors, "A remark");
  EXPECT_EQ(explanation_of(facts[0]),
            "One\nAnn, Bob: A paper\n1 read and 1 write per element; launches: 1");
  EXPECT_NE(explanation_of(facts[1]).find("one launch per anti-diagonal"), std::string::npos);
}

TEST_F(SatPanelTest, MeasuredAlgorithmsComeFirst) {
  comparison.ranks = {{"three", 2, 9, true, {}}, {"gone", 3, 9, true, {}}};
  const std::vector<SatRow> rows = rows_of(facts_of(sats), comparison);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].facts.id, "three");
  EXPECT_TRUE(rows[0].rank);
  EXPECT_EQ(rows[1].facts.id, "one");
  EXPECT_FALSE(rows[1].rank);
  EXPECT_EQ(rows[2].facts.id, "two");
}

TEST_F(SatPanelTest, TheSlowestDoesNotFlattenTheOthers) {
  EXPECT_EQ(chart_end(comparison), 1);  // the floor
  comparison.ranks = {{"a", 2, 0, true, {}}, {"b", 3, 0, true, {}}, {"c", 8, 0, true, {}}};
  EXPECT_EQ(chart_end(comparison), 8);
  comparison.ranks[2].sat_ms = 100;
  EXPECT_EQ(chart_end(comparison), 9);  // three times the median
  comparison.ranks.push_back({"d", 0, 0, true, "a reason"});
  EXPECT_EQ(chart_end(comparison), 9);
  comparison.floor_ms = 20;
  EXPECT_EQ(chart_end(comparison), 20);
}

TEST_F(SatPanelTest, NumbersHaveAFewDigits) {
  EXPECT_EQ(time_text(0.01234), "0.012 ms");
  EXPECT_EQ(time_text(12.34), "12.34 ms");
  EXPECT_EQ(time_text(123.45), "123.5 ms");
  EXPECT_EQ(factor_text(1.44, 1), "1.4 x");
  EXPECT_EQ(factor_text(250, 1), "250 x");
  EXPECT_EQ(factor_text(1, 0), "");
  const std::string text = measured_text({"one", 1.4, 9, false, {}}, comparison);
  EXPECT_NE(text.find("1.4 x the time of a plain copy"), std::string::npos) << text;
  EXPECT_NE(text.find("9.000 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("DIFFERENT"), std::string::npos) << text;
  EXPECT_NE(measured_text({"one", 0, 0, true, "a reason"}, comparison).find("a reason"),
            std::string::npos);
}

TEST_F(SatPanelTest, PointingAtARowShowsWhatTheAlgorithmDoes) {
  for (const char* id : {"facesat_one_exchange", "kasagi_2014_2r1w"}) {
    const Drawing* const drawing = drawing_of_sat(id);
    ASSERT_NE(drawing, nullptr) << id;
    EXPECT_GT(drawing->size().x, 100) << id;
  }
  EXPECT_EQ(drawing_of_sat("two"), nullptr);
  machine.sats[1].id = "kasagi_2014_2r1w";
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {1300, 900};
  constexpr ImU32 written = IM_COL32(0xD9, 0x72, 0x2E, 255);
  std::vector<ImVec2> corners;
  for (io.MousePos = {100, 0}; corners.empty() && io.MousePos.y < 400; io.MousePos.y += 8) {
    for (int i = 0; i < 40; ++i) drawn();  // until the tooltip comes
    corners = corners_of(written);
  }
  ASSERT_FALSE(corners.empty());
  for (const ImVec2& corner : corners) {  // beside the panel, within the window
    EXPECT_GT(corner.x, 380);
    EXPECT_LT(corner.x, 1300);
    EXPECT_LT(corner.y, 900);
  }
}

TEST_F(SatPanelTest, AClickOnARowUsesItsAlgorithm) {
  EXPECT_TRUE(wishes_after("two").settings);
  EXPECT_EQ(settings.backend.sat, "two");
  comparison.ranks = {{"three", 2, 9, true, {}}};
  EXPECT_TRUE(wishes_after("three").settings);
  EXPECT_EQ(settings.backend.sat, "three");
  context.wishes = {};
  frame([this] { draw(); });
  EXPECT_FALSE(context.wishes.settings);  // drawing alone changes nothing
}

TEST_F(SatPanelTest, TheButtonNeedsAFrameAndNoComparisonThatRuns) {
  EXPECT_FALSE(wishes_after("time all on this frame").comparison);
  const Bgr pixel{};
  result.frame.picture.pixels = {&pixel, {1, 1}, 1};
  EXPECT_TRUE(wishes_after("time all on this frame").comparison);
  source.count = 26;
  EXPECT_TRUE(wishes_after("###list").list_comparison);
  comparison.count = 3;
  comparison.running = "two";
  EXPECT_FALSE(wishes_after("time all on this frame").comparison);
}

TEST_F(SatPanelTest, OnTheCpuNoneCanBeChosen) {
  result.sat.clear();
  EXPECT_FALSE(wishes_after("two").settings);
  EXPECT_EQ(settings.backend.sat, "");
  EXPECT_FALSE(wishes_after("cpu_2r2w").settings);
  const int idle = drawn();
  comparison.ranks = {{"cpu_2r2w", 2, 0, true, {}}};
  EXPECT_EQ(drawn(), idle);  // the results of a device are not those of the CPU
  comparison.on_device = false;
  EXPECT_NE(drawn(), idle);
}

// What is said about a comparison moves no algorithm.
TEST_F(SatPanelTest, StaysAsHighAsItIs) {
  comparison.levels = 0;
  const float before = end();
  comparison.levels = 5;
  comparison.running = "two";
  comparison.count = 3;
  EXPECT_EQ(end(), before);
  comparison.running.clear();
  comparison.message = std::string(200, 'm');
  comparison.ranks = {{"three", 2, 9, true, {}}, {"two", 0, 0, true, std::string(200, 'f')}};
  EXPECT_EQ(end(), before);
}

TEST_F(SatPanelTest, PinnedAlgorithmsAreSwitched) {
  EXPECT_FALSE(switch_algorithm());
  pin_both();
  EXPECT_EQ(settings.backend.sat, "");  // a pin alone changes nothing; "one" is the fastest
  EXPECT_TRUE(wishes_after("switch (X)").settings);
  EXPECT_EQ(settings.backend.sat, "three");
  EXPECT_TRUE(switch_algorithm());  // the key X
  EXPECT_EQ(settings.backend.sat, "one");
  settings.backend.choice = BackendChoice::cpu;
  EXPECT_FALSE(switch_algorithm());
}

TEST_F(SatPanelTest, PinnedAlgorithmsAlternate) {
  pin_both();
  wishes_after("alternate");
  const std::chrono::steady_clock::time_point begin{};
  EXPECT_FALSE(alternates_at(begin));
  EXPECT_TRUE(alternates_at(begin + 2s));
  EXPECT_EQ(settings.backend.sat, "three");
  settings.backend.choice = BackendChoice::cpu;
  EXPECT_FALSE(alternates_at(begin + 9s));
}

TEST_F(SatPanelTest, TimesOfThePinnedAreThoseOfTheHistory) {
  pin_both();
  Sample sample;
  sample.ms[live_step(Step::sat)] = 2;
  sample.detect_ms = 7;
  history.add(sample, {});
  const SatPair::Times times = SatPair::times_of(history);
  EXPECT_EQ(times.sat_ms, 2);
  EXPECT_EQ(times.detect_ms, 7);
  EXPECT_EQ(times.frames, 1u);
  const int none = drawn();
  panel->note_times(history, result);
  const int of_a = drawn();
  EXPECT_NE(of_a, none);
  result.sat = "three";
  panel->note_times(history, result);
  EXPECT_NE(drawn(), of_a);  // the numbers of B, and the ratio
}

TEST_F(SatPanelTest, TheCpusOwnAreTimedAndShown) {
  add_face("face.pgm");
  settings = test::cpu_settings();
  detection.set(settings);
  detection.put(test::first_frame(path("face.pgm")));
  result = test::next_result(detection);
  const int unmeasured = drawn();
  ASSERT_TRUE(wishes_after("time all on this frame").comparison);
  detection.compare();
  comparison = test::finished_comparison(detection);
  ASSERT_EQ(comparison.ranks.size(), 3u);
  EXPECT_NE(drawn(), unmeasured);
}

const Subject first_video{1, 1, {640, 480}}, other_video{2, 1, {640, 480}};

class PairTest : public ::testing::Test {
 protected:
  PairTest() {
    pair.pin(SatPair::a, "one");
    pair.pin(SatPair::b, "two");
  }
  SatPair pair;
};

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

TEST_F(PairTest, SwitchesFromAToBAndFromAllOthersToA) {
  EXPECT_EQ(pair.next("one"), "two");
  EXPECT_EQ(pair.next("two"), "one");
  EXPECT_EQ(pair.next("three"), "one");
}

TEST_F(PairTest, AlternatesAfterEveryTurn) {
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

TEST_F(PairTest, KeepsTheTimesOfBothOnOneSubject) {
  EXPECT_EQ(pair.times(SatPair::a), nullptr);
  pair.keep("one", {1, 10, 60}, first_video);
  pair.keep("two", {}, first_video);  // no frame yet
  EXPECT_EQ(pair.times(SatPair::b), nullptr);
  pair.keep("two", {2, 20, 1}, first_video);
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
  pair.keep("one", {1, 10, 60}, first_video);
  pair.keep("one", {7, 70, 9}, first_video);
  EXPECT_EQ(pair.times(SatPair::a)->sat_ms, 1);
  pair.keep("one", {2, 20, 10}, first_video);
  EXPECT_EQ(pair.times(SatPair::a)->sat_ms, 2);
}

}  // namespace
}  // namespace facesat::app
