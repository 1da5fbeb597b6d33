#include "core/pyramid.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kit/messages.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

constexpr Size window24{24, 24};

Pyramid plan(Size image, const DetectOptions& options, Size window = window24) {
  return plan_pyramid(image, window, options);
}

// The window of every level, in pixels of the image.
std::vector<Size> window_sizes(const Pyramid& pyramid) {
  std::vector<Size> sizes;
  for (const Level& level : pyramid.levels) {
    const Rect r = window_in_image(level, pyramid.window, 0, 0);
    sizes.push_back({r.width, r.height});
  }
  return sizes;
}

std::vector<Size> level_sizes(const Pyramid& pyramid) {
  std::vector<Size> sizes;
  for (const Level& level : pyramid.levels) sizes.push_back(level.size);
  return sizes;
}

// ---- options ------------------------------------------------------------------------------------

struct Refusal {
  DetectOptions options;
  const char* words;
};

std::vector<Refusal> refusals() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Refusal> all;
  for (const double factor : {1.0, 0.5, 0.0, -2.0, infinity, -infinity, std::nan("")})
    all.push_back({{.scale_factor = factor}, "the scale factor must be greater than 1, not "});
  all.push_back({{.min_neighbors = -1}, "neighbours must not be negative: -1"});
  all.push_back({{.min_size = {-1, 5}}, "smallest face size must not be negative: -1x5"});
  all.push_back({{.min_size = {5, -1}}, "smallest face size must not be negative: 5x-1"});
  all.push_back({{.max_size = {-3, 0}}, "largest face size must not be negative: -3x0"});
  all.push_back({{.max_size = {0, -3}}, "largest face size must not be negative: 0x-3"});
  all.push_back({{.scale_factor = 1 + 1e-9}, "too close to 1"});
  return all;
}

TEST(PyramidOptions, OutsideTheirRangeAreRefusedWithASentence) {
  for (const Refusal& refusal : refusals())
    EXPECT_TRUE(has(message_of<ArgumentError>([&] {
                      plan({100, 100}, refusal.options);
                    }),
                    refusal.words));
}

TEST(PyramidOptions, CheckRefusesWhatIsWrongForEveryImage) {
  EXPECT_THROW(check({.scale_factor = 1}), ArgumentError);
  EXPECT_NO_THROW(check({.scale_factor = 1 + 1e-9}));  // too many levels only for a given image
  EXPECT_NO_THROW(check({.scale_factor = std::nextafter(1.0, 2.0), .min_neighbors = 0}));
}

// ---- scales and limits --------------------------------------------------------------------------

TEST(PyramidScales, ArePowersOfTheFactorAsLongAsTheWindowFits) {
  const Pyramid pyramid = plan({100, 100}, {.scale_factor = 1.1});
  // 24 * 1.1^15 = 100.25, which rounds to 100 and so still fits.
  ASSERT_EQ(pyramid.levels.size(), 16u);
  double f = 1;
  for (const Level& level : pyramid.levels) {
    EXPECT_EQ(level.scale, static_cast<float>(f));
    f *= 1.1;
  }
  EXPECT_EQ(window_sizes(pyramid).back(), (Size{100, 100}));
  EXPECT_EQ(plan({99, 100}, {.scale_factor = 1.1}).levels.size(), 15u);
  EXPECT_EQ(plan({100, 99}, {.scale_factor = 1.1}).levels.size(), 15u);
}

TEST(PyramidScales, AFactorBeyondAnyImageLeavesOneLevel) {
  for (const double factor : {1e8, 1e9, 1e10, 1e100, 1e300})
    EXPECT_EQ(plan({100, 100}, {.scale_factor = factor}).levels.size(), 1u) << factor;
}

TEST(PyramidScales, HalvesGoToTheEvenNeighbour) {
  const Pyramid pyramid = plan({60, 60}, {.scale_factor = 1.5}, {25, 27});  // 37.5 x 40.5
  EXPECT_EQ(window_sizes(pyramid), (std::vector<Size>{{25, 27}, {38, 40}}));
  EXPECT_EQ(plan({60, 40}, {.scale_factor = 1.5}, {25, 27}).levels.size(), 2u);
  EXPECT_EQ(plan({37, 60}, {.scale_factor = 1.5}, {25, 27}).levels.size(), 1u);
}

TEST(PyramidScales, WindowsGoBackToTheImageWithTheirScale) {
  const Level level{.scale = 1.5f};
  EXPECT_EQ(window_in_image(level, {25, 27}, 1, 3), (Rect{2, 4, 38, 40}));
  EXPECT_EQ(window_in_image(level, {25, 27}, 5, 0), (Rect{8, 0, 38, 40}));
}

TEST(PyramidScales, AnImageSmallerThanTheWindowHasNoLevels) {
  for (const Size image : {Size{23, 100}, {100, 23}, {1, 1}, {0, 0}, {23, 23}}) {
    const Pyramid pyramid = plan(image, {.min_size = {5, 5}});
    EXPECT_TRUE(pyramid.levels.empty());
  }
  EXPECT_EQ(plan({24, 24}, {}).levels.size(), 1u);
}

struct Limits {
  Size low, high;
  std::vector<int> windows;  // sides of the windows that remain
};

// An image of 100 x 100 has windows of 24 26 29 32 35 39 43 47 51 57 62 68 75 83 91 100.
std::vector<Limits> limits() {
  const std::vector<int> all = {24, 26, 29, 32, 35, 39, 43, 47, 51, 57, 62, 68, 75, 83, 91, 100};
  return {
      {{0, 0}, {0, 0}, all},
      {{24, 24}, {100, 100}, all},
      {{0, 0}, {60, 0}, all},  // a maximum with a 0 means no maximum
      {{0, 0}, {0, 60}, all},
      {{75, 75}, {0, 0}, {75, 83, 91, 100}},
      {{76, 75}, {0, 0}, {83, 91, 100}},
      {{24, 90}, {0, 0}, {91, 100}},
      {{0, 0}, {29, 29}, {24, 26, 29}},
      {{0, 0}, {28, 1000}, {24, 26}},
      {{0, 0}, {1000, 28}, {24, 26}},
      {{25, 25}, {40, 40}, {26, 29, 32, 35, 39}},
      {{35, 35}, {35, 35}, {35}},
      // Impossible limits leave the size nearest to the minimum; of two equally near, the first.
      {{50, 50}, {40, 40}, {51}},
      {{1000, 1000}, {0, 0}, {100}},
      {{0, 0}, {5, 5}, {24}},
      {{37, 37}, {38, 38}, {35}},
      {{36, 40}, {36, 40}, {39}},
      // 46365 - 24 = 46341, whose square is at least 2^31: OpenCV's distance wraps.
      {{46365, 24}, {0, 0}, {24}},
  };
}

TEST(PyramidLimits, LeaveTheLevelsBetweenThem) {
  for (const Limits& l : limits()) {
    std::vector<Size> expected;
    for (const int side : l.windows) expected.push_back({side, side});
    EXPECT_EQ(window_sizes(plan({100, 100}, {.min_size = l.low, .max_size = l.high})), expected)
        << l.low.width << "x" << l.low.height << " to " << l.high.width << "x" << l.high.height;
  }
}

// ---- levels and grids ---------------------------------------------------------------------------

TEST(PyramidLevels, AreTheImageDividedByTheScale) {
  EXPECT_EQ(level_sizes(plan({640, 480}, {.scale_factor = 2})),
            (std::vector<Size>{{640, 480}, {320, 240}, {160, 120}, {80, 60}, {40, 30}}));
  // Widths: 33, 30, 27.3, 24.8; heights: 35, 31.8, 28.9, 26.3.
  EXPECT_EQ(level_sizes(plan({33, 35}, {.scale_factor = 1.1})),
            (std::vector<Size>{{33, 35}, {30, 32}, {27, 29}, {25, 26}}));
}

TEST(PyramidLevels, TakeEverySecondPositionBelowScale2) {
  const Pyramid pyramid = plan({640, 480}, {.scale_factor = 1.99999999});
  ASSERT_EQ(pyramid.levels.size(), 5u);
  // In f32 the second scale is 2.
  EXPECT_EQ(pyramid.levels[0].step, 2);
  EXPECT_EQ(pyramid.levels[1].step, 1);
  EXPECT_EQ(pyramid.levels[0].grid, (Size{309, 229}));
  EXPECT_EQ(pyramid.levels[1].grid, (Size{297, 217}));
  EXPECT_EQ(pyramid.levels[4].grid, (Size{17, 7}));
  EXPECT_EQ(plan({640, 480}, {.scale_factor = 1.99999}).levels[1].step, 2);
}

TEST(PyramidLevels, DenseScanTakesEveryPosition) {
  const Pyramid pyramid = plan({88, 30}, {.scale_factor = 1.2, .scan = Scan::dense});
  ASSERT_EQ(pyramid.levels.size(), 2u);
  for (const Level& level : pyramid.levels) {
    EXPECT_EQ(level.step, 1);
    EXPECT_EQ(level.grid, (Size{level.size.width - 23, level.size.height - 23}));
  }
}

struct Stripes {
  Size image, grid;
};

// The grids of a window of 24 x 24. h is the number of rows of positions; S the number of stripes,
// one for each 32 positions across, rounded up. Every second row is visited, but only within the
// first S * max(ceil(floor(h / 2) / S), 1) * 2 rows.
constexpr Stripes stripes[] = {
    {{24, 24}, {1, 1}},    // h = 1, S = 1
    {{24, 25}, {1, 1}},    // h = 2
    {{24, 26}, {1, 1}},    // h = 3: row 2 is left out
    {{24, 27}, {1, 2}},    // h = 4
    {{24, 28}, {1, 2}},    // h = 5: row 4 is left out
    {{55, 26}, {16, 1}},   // 32 positions across: still S = 1
    {{56, 26}, {17, 2}},   // 33: S = 2, and row 2 is visited
    {{56, 28}, {17, 2}},   // h = 5: 2 stripes of 2 rows; row 4 is left out
    {{56, 30}, {17, 4}},   // h = 7: 2 stripes of 4 rows
    {{56, 32}, {17, 4}},   // h = 9: row 8 is left out
    {{88, 28}, {33, 3}},   // S = 3, h = 5: 3 stripes of 2 rows
    {{88, 30}, {33, 3}},   // h = 7: row 6 is left out
    {{400, 28}, {189, 3}}  // more stripes than rows
};

TEST(PyramidStripes, MayLeaveOutTheLastRow) {
  for (const Stripes& s : stripes) {
    const Pyramid pyramid = plan(s.image, {.scale_factor = 100});
    ASSERT_EQ(pyramid.levels.size(), 1u);
    EXPECT_EQ(pyramid.levels[0].grid, s.grid) << s.image.width << "x" << s.image.height;
  }
}

TEST(PyramidStripes, AreCountedOnTheFirstLevelChosen) {
  const auto second_grid = [](Size min_size) {
    return plan({100, 45}, {.scale_factor = 1.5, .min_size = min_size}).levels.back().grid;
  };
  // The second level has 67 x 30 pixels, h = 7.
  EXPECT_EQ(second_grid({0, 0}), (Size{22, 3}));    // S = 3: the first level is 100 pixels wide
  EXPECT_EQ(second_grid({30, 30}), (Size{22, 4}));  // S = 2: the first level is this one, 67 wide
}

// ---- resize taps --------------------------------------------------------------------------------

struct Tap {
  int first, second, first_weight, second_weight;
  bool operator==(const Tap&) const = default;
};

void PrintTo(const Tap& t, std::ostream* out) {
  *out << t.first_weight << " of " << t.first << ", " << t.second_weight << " of " << t.second;
}

std::vector<Tap> taps(int source, int count) {
  std::vector<Tap> plain;
  for (const ResizeTap& t : resize_taps(source, count))
    plain.push_back({t.first, t.second, t.first_weight, t.second_weight});
  return plain;
}

TEST(ResizeTaps, AreThoseWorkedByHand) {
  EXPECT_EQ(taps(2, 1), (std::vector<Tap>{{0, 1, 128, 128}}));
  EXPECT_EQ(taps(3, 2), (std::vector<Tap>{{0, 1, 192, 64}, {1, 2, 64, 192}}));
  EXPECT_EQ(taps(3, 4),  // positions -0.125, 0.625, 1.375, 2.125
            (std::vector<Tap>{{0, 0, 256, 0}, {0, 1, 96, 160}, {1, 2, 160, 96}, {2, 2, 256, 0}}));
  EXPECT_EQ(taps(10, 3),  // positions 1.1667, 4.5, 7.8333; 42.67 becomes 43
            (std::vector<Tap>{{1, 2, 213, 43}, {4, 5, 128, 128}, {7, 8, 43, 213}}));
  EXPECT_EQ(taps(1, 3), (std::vector<Tap>(3, {0, 0, 256, 0})));
  EXPECT_EQ(taps(5, 1), (std::vector<Tap>{{2, 3, 256, 0}}));
}

TEST(ResizeTaps, SumTo256AndStayWithinTheSource) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const int source = 1 + static_cast<int>(random() % 3000), count = 1 + random() % 3000;
    int last = 0;
    for (const Tap& t : taps(source, count)) {
      ASSERT_EQ(t.first_weight + t.second_weight, 256) << source << " to " << count;
      ASSERT_GE(t.first, last);
      ASSERT_LE(t.first, t.second);
      ASSERT_LE(t.second, t.first + 1);
      ASSERT_LT(t.second, source);
      last = t.first;
    }
  }
}

}  // namespace
}  // namespace facesat::test
