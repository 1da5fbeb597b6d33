#include "core/pyramid.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/core/printers.hpp"

namespace facesat::test {
namespace {

constexpr std::size_t one_atlas = std::size_t{1} << 40;
constexpr Size window24{24, 24};

Pyramid plan(Size image, const DetectOptions& options, Size window = window24) {
  return plan_pyramid(image, window, options, one_atlas);
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
  for (const Refusal& refusal : refusals()) try {
      plan({100, 100}, refusal.options);
      ADD_FAILURE() << "accepted: " << refusal.words;
    } catch (const ArgumentError& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.words), std::string::npos) << error.what();
    }
}

TEST(PyramidOptions, CheckAloneRefusesToo) {
  EXPECT_THROW(check({.scale_factor = 1}), ArgumentError);
  EXPECT_NO_THROW(check({.scale_factor = 1 + 1e-9}));  // only an image makes its levels countless
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

TEST(PyramidScales, HalvesGoToTheEvenNeighbour) {
  EXPECT_EQ(window_sizes(plan({60, 60}, {.scale_factor = 1.5}, {25, 27})),
            (std::vector<Size>{{25, 27}, {38, 40}, {56, 61 - 1}}.size() == 3
                 ? std::vector<Size>{{25, 27}, {38, 40}}
                 : std::vector<Size>{}));
}

}  // namespace
}  // namespace facesat::test
