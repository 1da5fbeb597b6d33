// Comparisons of SAT (summed area table) algorithms: what is measured, and in which order.
#include "app/live/detection/comparison.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "app/live/detection/detection.hpp"
#include "app/live/panels/sat_chart.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/image/atlas.hpp"
#include "tests/app/live/live_kit.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"

namespace facesat::app {
namespace {

using facesat::test::cpu_settings;
using facesat::test::eventually;
using facesat::test::next_result;

std::vector<std::string> ids_in(const Comparison& comparison) {
  std::vector<std::string> ids;
  for (const SatRank& rank : comparison.ranks) ids.push_back(rank.id);
  return ids;
}

TEST(ComparisonRun, RanksGrowOneByOneTheFastestFirstAndFailuresLast) {
  const auto measure = [](const std::string& id) -> SatRank {
    if (id == "broken") throw std::runtime_error("a reason");
    return {id, id == "slow" ? 3.0 : 1.0, 5, true, {}};
  };
  ComparisonRun run({}, {"broken", "slow", "fast"}, measure);
  EXPECT_EQ(run.comparison().count, 3u);
  for (const std::string id : {"broken", "slow", "fast"}) {
    EXPECT_FALSE(run.is_over());
    EXPECT_EQ(run.comparison().running, id);
    run.measure_next();
  }
  EXPECT_TRUE(run.is_over());
  EXPECT_EQ(ids_in(run.comparison()), (std::vector<std::string>{"fast", "slow", "broken"}));
  EXPECT_EQ(run.comparison().ranks[2].failure, "a reason");
  run.measure_next();  // does nothing any more
  EXPECT_EQ(run.comparison().ranks.size(), 3u);
}

TEST(ComparisonRun, KeepsWhatItHasWhenItIsStopped) {
  ComparisonRun run({}, {"one", "two"}, [](const std::string& id) {
    return SatRank{id, 1, 0, true, {}};
  });
  run.measure_next();
  run.stop("another source");
  EXPECT_TRUE(run.is_over());
  EXPECT_EQ(ids_in(run.comparison()), std::vector<std::string>{"one"});
  EXPECT_EQ(run.comparison().message, "another source");
}

TEST(MedianOfRuns, WhatIsSlowRunsLessOften) {
  int runs = 0;
  // The runs take 0, 1, 2, ... milliseconds; the first three are not counted.
  const SatTimes quick = median_of_runs([&] {
    const auto ms = static_cast<double>(runs++);
    return SatTimes{ms, 2 * ms};
  });
  EXPECT_EQ(runs, 18);
  EXPECT_EQ(quick.sat_ms, 10);
  EXPECT_EQ(quick.detect_ms, 20);
  runs = 0;
  median_of_runs([&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return SatTimes{};
  });
  EXPECT_EQ(runs, 4);  // one to warm up
}

class ComparisonTest : public test::ProgramTest {
 protected:
  ComparisonTest() { add_face("face.pgm"); }
  CapturedFrame face() const { return {*open_source(path("face.pgm"))->next()}; }
  ComparedFrame compared() const {
    return {find_cascade("frontalface_default"), {}, face().picture, {1e9, 0}};
  }
};

TEST_F(ComparisonTest, ThePlanHasTheFloorOfThePyramid) {
  const ComparedFrame frame = compared();
  const Pyramid pyramid = plan_pyramid(frame.picture.pixels.size, {24, 24}, {});
  double pixels = 0;
  for (const Level& level : pyramid.levels) pixels += static_cast<double>(level.size.area());
  const Comparison plan = plan_comparison(frame, true);
  EXPECT_EQ(plan.image, frame.picture.pixels.size);
  EXPECT_EQ(plan.levels, pyramid.levels.size());
  EXPECT_EQ(plan.atlas, gpu::plan_atlas(pyramid).largest());
  // 1 byte is read and 8 are written per pixel, at 1e9 bytes per second.
  EXPECT_DOUBLE_EQ(plan.floor_ms, 9 * pixels / 1e6);
  EXPECT_EQ(plan.message, "");
  ComparedFrame small = frame;
  small.picture.pixels.size = {10, 10};
  EXPECT_NE(plan_comparison(small, true).message, "");
}

TEST_F(ComparisonTest, AlgorithmsOfADeviceAreTimedWithTheWholeDetection) {
  BackendOptions options;
  options.choice = BackendChoice::cpu;  // it has only one algorithm, without a name
  const MeasureSat measure = measure_on_device(options, compared());
  for (int i = 0; i < 2; ++i) {
    const SatRank rank = measure("");
    EXPECT_TRUE(rank.identical);
    EXPECT_GT(rank.sat_ms, 0);
    EXPECT_GT(rank.detect_ms, rank.sat_ms);
  }
  EXPECT_ANY_THROW(measure("scanner"));
}

TEST_F(ComparisonTest, TheAlgorithmsOfTheCpuGiveTheSameTables) {
  const MeasureSat measure = measure_on_cpu(compared());
  for (const SatFacts& facts : cpu_sat_facts()) {
    const SatRank rank = measure(facts.id);
    EXPECT_EQ(rank.id, facts.id);
    EXPECT_TRUE(rank.identical) << facts.id;
    EXPECT_GT(rank.sat_ms, 0);
  }
}

TEST_F(ComparisonTest, DetectionComparesTheCpusOwn) {
  Detection detection(cpu_settings());
  detection.put(face());
  detection.compare();
  ASSERT_TRUE(eventually([&] {
    const auto comparison = detection.comparison();
    return comparison && comparison->running.empty();
  }));
  const Comparison comparison = *detection.comparison();
  EXPECT_EQ(comparison.message, "");
  EXPECT_FALSE(comparison.on_device);
  EXPECT_EQ(comparison.ranks.size(), cpu_sat_facts().size());
  EXPECT_GT(comparison.floor_ms, 0);
  EXPECT_TRUE(eventually([&] { return detection.idle(); }));
}

// What on_result() does happens in detection's own thread, between two algorithms.
class BetweenAlgorithms : public ComparisonTest {
 protected:
  // Calls act() for each new comparison, with the number of algorithms that are measured.
  template <class Act>
  void compare(Act act) {
    std::size_t measured = 0;
    Detection* running = nullptr;  // set before on_result() is first called
    Detection detection(cpu_settings(), [&] {
      const auto comparison = running->comparison();
      if (!comparison || comparison->ranks.size() == measured) return;
      act(*running, measured = comparison->ranks.size());
    });
    running = &detection;
    detection.put(face());
    detection.compare();
    ASSERT_TRUE(eventually([&] {
      const auto comparison = detection.comparison();
      return comparison && comparison->running.empty();
    }));
    result = *detection.comparison();
  }
  Comparison result;
};

TEST_F(BetweenAlgorithms, NewFramesAreDetected) {
  double position = 0;  // of the frame that is detected by the time the second one is measured
  compare([&](Detection& detection, std::size_t measured) {
    CapturedFrame next = face();
    next.position = 5;
    if (measured == 1) detection.put(next);
    if (measured != 2) return;
    if (const auto detected = detection.take()) position = detected->frame.position;
  });
  EXPECT_EQ(position, 5);
  EXPECT_EQ(result.ranks.size(), 3u);  // the comparison goes on, on its own frame
  EXPECT_EQ(result.message, "");
}

TEST_F(BetweenAlgorithms, AnotherSourceEndsTheComparison) {
  compare([&](Detection& detection, std::size_t measured) {
    CapturedFrame other = face();
    other.source = 7;
    if (measured == 1) detection.put(other);
  });
  EXPECT_EQ(result.ranks.size(), 1u);
  EXPECT_NE(result.message.find("source"), std::string::npos);
}

TEST_F(BetweenAlgorithms, AnotherMachineEndsTheComparison) {
  compare([&](Detection& detection, std::size_t measured) {
    LiveSettings other = cpu_settings();
    other.backend.device = "1";
    if (measured == 1) detection.set(other);
  });
  EXPECT_EQ(result.ranks.size(), 1u);
  EXPECT_NE(result.message, "");
}

TEST_F(ComparisonTest, SaysWhyNothingCanBeCompared) {
  const LiveSettings none = cpu_settings({});
  Detection detection(none);
  detection.put(face());
  detection.compare();
  ASSERT_TRUE(eventually([&] { return detection.comparison() != nullptr; }));
  EXPECT_EQ(detection.comparison()->message, "no cascade is chosen");
  detection.set(cpu_settings());
  detection.compare();
  EXPECT_TRUE(eventually([&] { return detection.comparison()->ranks.size() == 3; }));
}

TEST_F(ComparisonTest, AResultOfAnotherAlgorithmIsOfTheSameSubjectButForIt) {
  LiveSettings chosen = cpu_settings();
  Detection detection(chosen);
  detection.put(face());
  const LiveResult first = next_result(detection);
  chosen.backend.sat = "scanner";  // fails on the CPU; only the choice matters here
  detection.set(chosen);
  const LiveResult other_sat = next_result(detection);
  EXPECT_NE(other_sat.subject, first.subject);
  EXPECT_EQ(other_sat.any_sat, first.any_sat);
  chosen.detect.scale_factor = 1.2;
  detection.set(chosen);
  EXPECT_NE(next_result(detection).any_sat, first.any_sat);
}

}  // namespace
}  // namespace facesat::app
