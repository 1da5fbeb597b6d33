// Comparisons of SAT (summed area table) algorithms: what is measured, and in which order.
#include "app/live/detection/comparison.hpp"

#include <algorithm>

#include "app/live/comparison_files.hpp"
#include "app/live/detection/detection.hpp"
#include "app/live/gui/drawing.hpp"
#include "app/live/panels/sat_parts.hpp"
#include "cascades/cascade_store.hpp"
#include "kernels/image/atlas.hpp"
#include "lab/problems/on_cpu.hpp"
#include "support/errors.hpp"
#include "tests/app/live/panel_test.hpp"
#include "tests/kit/eventually.hpp"
#include "tests/kit/program.hpp"
#include "tests/lab/bench.hpp"

namespace facesat::app {
namespace {

using facesat::test::cpu_settings;
using facesat::test::eventually;
using test::result_of;
using test::result_with;

std::vector<std::string> ids_in(const Comparison& comparison) {
  std::vector<std::string> ids;
  for (const SatRank& rank : comparison.ranks) ids.push_back(rank.id);
  return ids;
}

// An algorithm that takes this time, and `detect_us` with the whole detection.
ComparedSat invented(const std::string& id, double us, double detect_us) {
  const auto whole = std::make_shared<std::vector<double>>();
  return {{.id = id,
           .open =
               [=] {
                 if (id == "broken") throw UsageError("a reason");
                 return lab::Runner{[=] { return us; },
                                    [=] {
                                      whole->push_back(detect_us);
                                      return id != "wrong";
                                    }};
               }},
          whole};
}

// Measures the next algorithm to its end.
void complete_next(ComparisonRun& run) {
  while (!run.go_on()) ASSERT_FALSE(run.is_over());
}

TEST(ComparisonRun, RanksGrowOneByOneTheFastestFirstAndFailuresLast) {
  ComparisonRun run({}, {invented("broken", 1, 1),
                         invented("slow", 3000, 5000),
                         invented("wrong", 2000, 4000),
                         {{.id = "fast", .open = [] { return lab::Runner{[] { return 1.0; }}; }}}});
  EXPECT_EQ(run.comparison().count, 4u);
  for (const std::string id : {"broken", "slow", "wrong", "fast"}) {
    EXPECT_FALSE(run.is_over());
    EXPECT_EQ(run.comparison().running, id);
    complete_next(run);
  }
  EXPECT_TRUE(run.is_over());
  EXPECT_EQ(ids_in(run.comparison()),
            (std::vector<std::string>{"fast", "wrong", "slow", "broken"}));
  const std::vector<SatRank>& ranks = run.comparison().ranks;
  EXPECT_EQ(ranks[0].detect_ms, 0);  // was not measured
  EXPECT_FALSE(ranks[1].identical);
  EXPECT_EQ(ranks[2].sat_ms, 3);
  EXPECT_EQ(ranks[2].detect_ms, 5);
  EXPECT_TRUE(ranks[2].identical);
  EXPECT_EQ(ranks[3].failure, "a reason");
  EXPECT_FALSE(run.go_on());  // does nothing any more
  EXPECT_EQ(ranks.size(), 4u);
}

TEST(ComparisonRun, KeepsWhatItHasWhenItIsStopped) {
  ComparisonRun run({}, {invented("one", 1, 1), invented("two", 1, 1)});
  complete_next(run);
  run.stop("another source");
  EXPECT_TRUE(run.is_over());
  EXPECT_EQ(ids_in(run.comparison()), std::vector<std::string>{"one"});
  EXPECT_EQ(run.comparison().message, "another source");
}

TEST(ComparisonOfPictures, TimesAreSummedAndAFailureStays) {
  Comparison one, two, sum;
  one.levels = two.levels = 5;
  one.floor_ms = two.floor_ms = 1;
  one.ranks = {{"a", 1, 3, true, ""}, {"b", 2, 4, true, ""}, {"c", 3, 5, true, ""}};
  two.ranks = {{"b", 1, 2, false, ""}, {"a", 4, 6, true, ""}, {"c", 0, 0, true, "a reason"}};
  sum.pictures = 0;
  add_picture(sum, one);
  add_picture(sum, two);
  EXPECT_EQ(sum.pictures, 2u);
  EXPECT_EQ(sum.levels, 10u);
  EXPECT_EQ(sum.floor_ms, 2);
  EXPECT_EQ(ids_in(sum), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(sum.ranks[0].sat_ms, 3);
  EXPECT_EQ(sum.ranks[0].detect_ms, 6);
  EXPECT_FALSE(sum.ranks[0].identical);
  EXPECT_EQ(sum.ranks[1].sat_ms, 5);
  EXPECT_EQ(sum.ranks[2].sat_ms, 0);
  EXPECT_EQ(sum.ranks[2].failure, "a reason");
}

class ComparisonTest : public test::FaceTest {
 protected:
  ComparedFrame compared() const {
    return {find_cascade("frontalface_default"), {}, face().picture, {1e9, 0}};
  }
  static std::vector<SatRank> ranks_of(const std::vector<ComparedSat>& sats) {
    ComparisonRun run({}, sats);
    while (!run.is_over()) run.go_on();
    return run.comparison().ranks;
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
  const std::vector<SatRank> ranks =
      ranks_of(sats_on_device(options, compared(), {"", "", "scanner"}));
  for (const SatRank& rank : {ranks[0], ranks[1]}) {
    EXPECT_EQ(rank.failure, "");
    EXPECT_TRUE(rank.identical);
    EXPECT_GT(rank.sat_ms, 0);
    EXPECT_GT(rank.detect_ms, rank.sat_ms);
  }
  EXPECT_EQ(ranks[2].id, "scanner");
  EXPECT_NE(ranks[2].failure, "");
}

TEST_F(ComparisonTest, TheAlgorithmsOfTheCpuGiveTheSameTables) {
  std::vector<std::string> known, measured;
  for (const SatFacts& facts : cpu_sat_facts()) known.push_back(facts.id);
  for (const SatRank& rank : ranks_of(sats_on_cpu(compared()))) {
    measured.push_back(rank.id);
    EXPECT_TRUE(rank.identical) << rank.id;
    EXPECT_GT(rank.sat_ms, 0);
    EXPECT_EQ(rank.detect_ms, 0);
  }
  EXPECT_TRUE(std::ranges::is_permutation(measured, known));
}

TEST(ComparisonCsv, HasALineForEachAlgorithm) {
  Comparison comparison;
  comparison.source_name = "a, \"b\".png";
  comparison.image = {640, 480};
  comparison.levels = 9;
  comparison.floor_ms = 2;
  comparison.ranks = {
      {"one", 3, 9.5, true, ""}, {"two", 5, 0, false, ""}, {"three", 0, 0, true, "why, then"}};
  EXPECT_EQ(comparison_csv(comparison),
            "algorithm,sat_ms,times_copy,detect_ms,identical,failure,frame,pictures,width,height,"
            "levels,copy_ms\n"
            "one,3,1.5,9.5,true,,\"a, \"\"b\"\".png\",1,640,480,9,2\n"
            "two,5,2.5,,false,,\"a, \"\"b\"\".png\",1,640,480,9,2\n"
            "three,,,,,\"why, then\",\"a, \"\"b\"\".png\",1,640,480,9,2\n");
}

// Where the program has no CUDA there are none.
TEST(SatFactsOfGpus, HaveTheTimesAndDrawingsOfTheDocumentation) {
  const std::vector<SatFacts> facts = facts_of(gpu::sat_algorithms());
  EXPECT_TRUE(facts.empty() || facts.front().documented_us > 0);
  for (const SatFacts& sat : facts) EXPECT_NE(drawing_of_sat(sat.id), nullptr) << sat.id;
}

TEST(ComparisonPage, HasARowForEachAlgorithmAndWhatIsKnownOfIt) {
  Comparison comparison;
  comparison.source_name = "a <b>.png";
  comparison.image = {640, 480};
  comparison.levels = 9;
  comparison.floor_ms = 2;
  comparison.ranks = {{lab::id_2r2w, 3, 0, true, ""},
                      {lab::id_4r1w, 5, 0, false, ""},
                      {lab::id_backend, 0, 0, true, "why, then"}};
  const test::Page page(comparison_page(comparison));
  EXPECT_EQ(page.words("//section/h2/small"), "a <b>.png, 640 × 480, 9 levels of its pyramid");
  for (const char* id : {"memcpy", lab::id_2r2w, lab::id_4r1w, lab::id_backend})
    EXPECT_NE(page.words(fmt::format("//tr[@id='id-{}']/td[1]", id)), "") << id;
  test::expect_words(page.words("//p"), {"1 rows checked and correct; 1 WRONG; 1 could not be",
                                         "in one thread of the CPU"});
  test::expect_words(page.words("//table"), {"3\u202f000", "1.50", "why, then"});
}

TEST_F(ComparisonTest, DetectionComparesTheCpusOwn) {
  Detection detection(cpu_settings());
  detection.put(face());
  detection.compare();
  const Comparison comparison = test::finished_comparison(detection);
  EXPECT_EQ(comparison.message, "");
  EXPECT_FALSE(comparison.on_device);
  EXPECT_EQ(comparison.ranks.size(), cpu_sat_facts().size());
  EXPECT_GT(comparison.floor_ms, 0);
  EXPECT_TRUE(eventually([&] { return detection.idle(); }));
}

TEST_F(ComparisonTest, DetectionComparesOnThePicturesOfAList) {
  SourceNames pictures;
  for (const char* name : {"a.png", "broken.png", "small.png", "b.png"})
    pictures.push_back(path(name));
  write_picture(pictures[0], face().picture.pixels);
  write_text("broken.png", "no picture");
  write_picture(pictures[2], Image<Bgr>({8, 8}).view());
  write_picture(pictures[3], face().picture.pixels);
  Detection detection(cpu_settings());
  detection.put(face());
  detection.compare(pictures);
  const Comparison comparison = test::finished_comparison(detection);
  EXPECT_EQ(comparison.message, "");
  EXPECT_EQ(comparison.pictures, 2u);
  EXPECT_EQ(comparison.levels, 2 * plan_comparison(compared(), false).levels);
  EXPECT_EQ(comparison.ranks.size(), cpu_sat_facts().size());
  for (const SatRank& rank : comparison.ranks) EXPECT_TRUE(rank.identical) << rank.id;
  const test::Page page(comparison_page(comparison));
  test::expect_words(page.words("//section/h2/small"), {"sums over 2 of 4 pictures"});
  detection.compare({pictures[1], pictures[2]});
  EXPECT_TRUE(eventually(
      [&] { return detection.comparison()->message == "none of the pictures could be measured"; }));
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
    result = test::finished_comparison(detection);
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
  const LiveResult first = result_of(detection, face());
  chosen.backend.sat = "scanner";  // fails on the CPU; only the choice matters here
  const LiveResult other_sat = result_with(detection, chosen);
  EXPECT_NE(other_sat.subject, first.subject);
  EXPECT_EQ(other_sat.any_sat, first.any_sat);
  chosen.detect.scale_factor = 1.2;
  EXPECT_NE(result_with(detection, chosen).any_sat, first.any_sat);
}

}  // namespace
}  // namespace facesat::app
