#include "datasets/evaluation.hpp"

#include <cmath>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace facesat::training {
namespace {

using enum Verdict;
using Objects = std::vector<AnnotatedObject>;
using Faces = std::vector<Face>;

constexpr Criterion criteria[] = {Criterion::iou, Criterion::centre, Criterion::opencv,
                                  Criterion::uiuc};

AnnotatedObject object(double x, double y, double width, double height) {
  return {.box = {x, y, width, height}};
}
AnnotatedObject region(double x, double y, double width, double height) {
  return {.box = {x, y, width, height}, .ignored = true};
}
Face face(int x, int y, int width, int height, double score = 0) {
  return {.box = {x, y, width, height}, .score = score};
}

// Whether a detection is right about an object.
bool is_right(Criterion criterion, const AnnotatedObject& one, const Face& found) {
  return match(Objects{one}, Faces{found}, {criterion}).found[0] != 0;
}

void expect_matches(const Objects& objects, const Faces& faces, const MatchOptions& options,
                    const std::vector<int>& found, const std::vector<Verdict>& verdicts) {
  const Matches matches = match(objects, faces, options);
  EXPECT_EQ(std::vector<int>(matches.found.begin(), matches.found.end()), found);
  EXPECT_EQ(matches.verdicts, verdicts);
}

TEST(Criteria, IouIsThatOfAreas) {
  const AnnotatedObject one = object(10, 10, 20, 20);
  EXPECT_DOUBLE_EQ(*distance_of(one.box, {10, 10, 20, 20}, {}), -1);
  EXPECT_DOUBLE_EQ(*distance_of(one.box, {20, 10, 20, 20}, {.iou = 0.3}), -200.0 / 600);
  // 160 of 400: exactly the limit, which is enough.
  EXPECT_TRUE(is_right(Criterion::iou, one, face(10, 10, 8, 20)));
  EXPECT_FALSE(is_right(Criterion::iou, one, face(10, 10, 7, 20)));
  EXPECT_FALSE(is_right(Criterion::iou, one, face(30, 10, 20, 20)));  // they touch
  EXPECT_FALSE(is_right(Criterion::iou, one, face(50, 50, 20, 20)));
}

TEST(Criteria, CentreMeasuresInWidths) {
  const AnnotatedObject one = object(0, 0, 20, 40);
  EXPECT_TRUE(is_right(Criterion::centre, one, face(6, 0, 20, 40)));  // 0.3 widths: enough
  EXPECT_FALSE(is_right(Criterion::centre, one, face(7, 0, 20, 40)));
  EXPECT_TRUE(is_right(Criterion::centre, one, face(0, 6, 20, 40)));
  EXPECT_FALSE(is_right(Criterion::centre, one, face(0, 7, 20, 40)));
  EXPECT_FALSE(is_right(Criterion::centre, one, face(5, 5, 20, 40)));
  EXPECT_TRUE(is_right(Criterion::centre, one, face(-5, -10, 30, 60)));  // 1.5 times the size
  EXPECT_FALSE(is_right(Criterion::centre, one, face(-6, -11, 32, 62)));
  EXPECT_FALSE(is_right(Criterion::centre, one, face(4, 7, 12, 26)));
}

TEST(Criteria, OpencvLimitsAreNotRight) {
  const AnnotatedObject one = object(0, 0, 20, 20);
  EXPECT_TRUE(is_right(Criterion::opencv, one, face(5, 0, 20, 20)));
  EXPECT_FALSE(is_right(Criterion::opencv, one, face(6, 0, 20, 20)));    // 0.3 sizes
  EXPECT_FALSE(is_right(Criterion::opencv, one, face(-5, -5, 30, 30)));  // 1.5 times the size
  EXPECT_TRUE(is_right(Criterion::opencv, one, face(-4, -4, 29, 29)));
  EXPECT_FALSE(is_right(Criterion::opencv, one, face(3, 3, 13, 13)));
  EXPECT_TRUE(is_right(Criterion::opencv, one, face(3, 3, 14, 14)));
  // Sizes are root mean squares: this one's is 30.5. By areas, it would be 20.5.
  EXPECT_FALSE(is_right(Criterion::opencv, one, face(-11, 5, 42, 10)));
}

TEST(Criteria, UiucIsAnEllipsoid) {
  const AnnotatedObject car = object(100, 100, 100, 40);
  EXPECT_TRUE(is_right(Criterion::uiuc, car, face(125, 100, 100, 40)));  // on the ellipsoid
  EXPECT_FALSE(is_right(Criterion::uiuc, car, face(126, 100, 100, 40)));
  EXPECT_TRUE(is_right(Criterion::uiuc, car, face(100, 110, 100, 40)));
  EXPECT_FALSE(is_right(Criterion::uiuc, car, face(100, 111, 100, 40)));
  EXPECT_TRUE(is_right(Criterion::uiuc, car, face(100, 100, 125, 50)));
  EXPECT_FALSE(is_right(Criterion::uiuc, car, face(100, 100, 126, 50)));
  EXPECT_TRUE(is_right(Criterion::uiuc, car, face(115, 108, 100, 40)));  // 0.36 + 0.64
  EXPECT_FALSE(is_right(Criterion::uiuc, car, face(115, 108, 101, 40)));
}

TEST(Matching, TakesTheBestPairsFirst) {
  // The second detection is closer to the first object than the first one, which then takes the
  // second object, although it is closer to the first.
  const Objects objects{object(0, 0, 20, 20), object(6, 0, 20, 20)};
  expect_matches(objects, {face(2, 0, 20, 20), face(1, 0, 20, 20)}, {}, {1, 1}, {right, right});
  // Once there is an object less, it is false.
  expect_matches({objects[0]}, {face(2, 0, 20, 20), face(1, 0, 20, 20)}, {}, {1},
                 {false_alarm, right});
}

TEST(Matching, FurtherDetectionsOfAnObjectAreFalseUnlessAsOpencvCounts) {
  const Objects one{object(0, 0, 20, 20)};
  const Faces twice{face(0, 0, 20, 20), face(1, 0, 20, 20)};
  for (const Criterion criterion : {Criterion::iou, Criterion::centre, Criterion::uiuc}) {
    expect_matches(one, twice, {criterion}, {1}, {right, false_alarm});
    EXPECT_EQ(counts_of(match_each(one, twice, {criterion})).false_alarms, 0u);
  }
  expect_matches(one, twice, {Criterion::opencv}, {1}, {right, right});
  // One detection finds two objects.
  const Objects two{object(0, 0, 20, 20), object(2, 0, 20, 20)};
  expect_matches(two, {face(1, 0, 20, 20)}, {Criterion::opencv}, {1, 1}, {right});
  expect_matches(two, {face(1, 0, 20, 20)}, {Criterion::centre}, {1, 0}, {right});
}

TEST(Matching, OfEqualPairsTheFirstObjectAndDetectionAreTaken) {
  const Objects objects{object(4, 0, 20, 20), object(0, 0, 20, 20)};
  expect_matches(objects, {face(2, 0, 20, 20)}, {}, {1, 0}, {right});
  expect_matches({objects[1]}, {face(2, 0, 20, 20), face(2, 0, 20, 20)}, {}, {1},
                 {right, false_alarm});
}

TEST(Matching, IgnoredObjectsAreNeitherMissedNorWrong) {
  // An ignored object, a crowd, and an object beside them.
  const Objects objects{region(0, 0, 20, 20), region(100, 0, 200, 100), object(30, 0, 20, 20)};
  const Faces faces{face(1, 0, 20, 20),    face(0, 0, 19, 20),
                    face(150, 20, 20, 20), face(290, 20, 20, 20),  // half of it lies in the crowd
                    face(291, 20, 20, 20), face(31, 0, 20, 20)};
  for (const Criterion criterion : criteria)
    expect_matches(objects, faces, {criterion}, {0, 0, 1},
                   {ignored, ignored, ignored, ignored, false_alarm, right});
  // An object in a crowd counts.
  expect_matches({region(0, 0, 100, 100), object(10, 10, 20, 20)},
                 {face(10, 10, 20, 20), face(11, 11, 20, 20)}, {}, {0, 1}, {right, ignored});
}

TEST(Matching, WithoutObjectsOrDetections) {
  for (const Criterion criterion : criteria) {
    expect_matches({}, {face(0, 0, 20, 20)}, {criterion}, {}, {false_alarm});
    expect_matches({object(0, 0, 20, 20)}, {}, {criterion}, {0}, {});
    expect_matches({}, {}, {criterion}, {}, {});
    EXPECT_TRUE(steps_of({}, {}, {criterion}).empty());
  }
  EXPECT_TRUE(curve_of({}).empty());
  EXPECT_EQ(average_precision({}, 0), 0);
  EXPECT_EQ(average_precision({}, 3), 0);
}

// ---- against a plain reference

struct Scene {
  Objects objects;
  Faces faces;
};

// Objects close to each other, and detections of few different sizes, positions and scores, so that
// there are many ties.
Scene random_scene(unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Scene scene;
  for (int i = number(0, 6); i > 0; --i) {
    const int side = 8 * number(2, 4);
    scene.objects.push_back(object(4 * number(0, 12), 4 * number(0, 12), side, side));
    scene.objects.back().ignored = number(0, 3) == 0;
  }
  for (int i = number(0, 20); i > 0; --i) {
    const int side = 4 * number(4, 9);
    scene.faces.push_back(
        face(4 * number(0, 12), 4 * number(0, 12), side, side, 0.5 * number(0, 8)));
  }
  return scene;
}

// Again and again, the closest pair of an object and a detection that are both free.
Counts plain_counts(const Objects& objects, const Faces& faces, const MatchOptions& options,
                    bool each) {
  std::set<std::size_t> found, used;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    std::tuple<double, std::size_t, std::size_t> best{INFINITY, 0, 0};
    for (std::size_t k = 0; k < faces.size(); ++k)
      for (std::size_t i = 0; i < objects.size(); ++i) {
        const auto [x, y, w, h] = faces[k].box;
        const Box box{double(x), double(y), double(w), double(h)};
        const auto distance = distance_of(objects[i].box, box, options);
        if (!distance || objects[i].ignored) continue;
        if (each || options.criterion == Criterion::opencv) {
          found.insert(i);
          used.insert(k);
        } else if (!found.contains(i) && !used.contains(k)) {
          best = std::min(best, {*distance, i, k});
          goes_on = true;
        }
      }
    if (goes_on) {
      found.insert(std::get<1>(best));
      used.insert(std::get<2>(best));
    }
  }
  Counts counts{found.size(), 0};
  for (std::size_t k = 0; k < faces.size(); ++k) {
    const auto [x, y, w, h] = faces[k].box;
    bool is_false = !used.contains(k);
    for (const AnnotatedObject& one : objects) {
      if (!one.ignored) continue;
      const double across =
          std::min(one.box.x + one.box.width, double(x + w)) - std::max(one.box.x, double(x));
      const double down =
          std::min(one.box.y + one.box.height, double(y + h)) - std::max(one.box.y, double(y));
      if (across > 0 && down > 0 && across * down >= 0.5 * w * h) is_false = false;
      if (distance_of(one.box, {double(x), double(y), double(w), double(h)}, options))
        is_false = false;
    }
    counts.false_alarms += is_false;
  }
  return counts;
}

void expect_equal(const Counts& a, const Counts& b) {
  EXPECT_EQ(a.found, b.found);
  EXPECT_EQ(a.false_alarms, b.false_alarms);
}

TEST(Matching, AgreesWithAPlainReference) {
  for (const Criterion criterion : criteria)
    for (unsigned seed = 0; seed < 300; ++seed) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(criterion) << ' ' << seed);
      const auto [objects, faces] = random_scene(seed);
      const MatchOptions options{criterion, 0.3};
      expect_equal(counts_of(match(objects, faces, options)),
                   plain_counts(objects, faces, options, false));
      expect_equal(counts_of(match_each(objects, faces, options)),
                   plain_counts(objects, faces, options, true));
    }
}

TEST(Steps, AddUpToTheCountsAtEveryThreshold) {
  for (const Criterion criterion : criteria)
    for (const bool each : {false, true})
      for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(criterion) << ' ' << each << ' ' << seed);
        const auto [objects, faces] = random_scene(seed);
        const MatchOptions options{criterion, 0.3};
        const std::vector<Step> steps = steps_of(objects, faces, options, each);
        for (double threshold = -0.5; threshold <= 4.5; threshold += 0.5) {
          Counts sum;
          for (const Step& step : steps) {
            if (step.score < threshold) continue;
            sum.found += step.more.found;
            sum.false_alarms += step.more.false_alarms;
          }
          Faces left;
          for (const Face& one : faces)
            if (one.score >= threshold) left.push_back(one);
          expect_equal(sum, plain_counts(objects, left, options, each));
        }
      }
}

void expect_points(const std::vector<OperatingPoint>& curve,
                   const std::vector<std::tuple<double, std::size_t, std::size_t>>& points) {
  ASSERT_EQ(curve.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    EXPECT_EQ(std::tuple(curve[i].value, curve[i].counts.found, curve[i].counts.false_alarms),
              points[i])
        << i;
}

TEST(Curve, HasAPointForEachGainAndTheLastOne) {
  // Two pictures; a score of both is one threshold.
  const std::vector<OperatingPoint> curve =
      curve_of({{5, {1, 0}}, {3, {0, 1}}, {2, {0, 1}}, {5, {0, 1}}, {2, {2, 0}}, {1, {0, 4}}});
  expect_points(curve, {{5, 1, 1}, {2, 3, 3}, {1, 3, 7}});
  // Nothing but false alarms.
  expect_points(curve_of({{2, {0, 1}}, {1, {0, 1}}}), {{1, 0, 2}});
}

TEST(Curve, AveragePrecisionIsTheMeanOfTheBestPrecisions) {
  // 1 of 2 right, then 3 of 4: the first object could be had with a precision of 3/4, too.
  const std::vector<OperatingPoint> curve{{3, {1, 1}}, {2, {3, 1}}, {1, {4, 12}}};
  EXPECT_DOUBLE_EQ(average_precision(curve, 5), (3 * 0.75 + 0.25) / 5);
}

}  // namespace
}  // namespace facesat::training
