#include "filters/mask.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "facesat/types.hpp"

namespace facesat::test {
namespace {

using Integers = std::vector<std::int32_t>;

template <class W>
void expect_symmetric(const std::vector<W>& row) {
  EXPECT_TRUE(std::equal(row.begin(), row.end(), row.rbegin()));
}

template <class W>
void expect_product(const Mask<W>& mask) {
  ASSERT_TRUE(mask.is_separable());
  ASSERT_EQ(std::ssize(mask.row), mask.radius.columns());
  ASSERT_EQ(std::ssize(mask.column), mask.radius.rows());
  ASSERT_EQ(std::ssize(mask.weights), mask.radius.area());
  std::size_t i = 0;
  for (const W y : mask.column)
    for (const W x : mask.row) EXPECT_EQ(mask.weights[i++], x * y);
}

TEST(Mask, Box) {
  const auto mask = box_mask<std::int32_t>({3, 1});
  expect_product(mask);
  EXPECT_EQ(mask.weights, Integers(21, 1));
  EXPECT_EQ(mask.divisor, 21);
  EXPECT_TRUE(mask.is_ones());
  EXPECT_TRUE(box_mask<float>({0, 0}).is_ones());
  EXPECT_FALSE(gaussian_mask<std::int32_t>(1).is_ones());
}

TEST(Mask, GaussianOfIntegers) {
  for (const int radius : {0, 1, 2, 3, 5, 15, 40, 300})
    for (const double sigma : {0.0, 0.3, 1.0, 7.5, 400.0}) {
      if (radius > 40 && sigma > 0) continue;
      const auto mask = gaussian_mask<std::int32_t>(radius, sigma);
      if (radius <= 40) expect_product(mask);
      expect_symmetric(mask.row);
      EXPECT_EQ(mask.row, mask.column);
      EXPECT_EQ(std::accumulate(mask.row.begin(), mask.row.end(), 0), 256);
      EXPECT_EQ(mask.divisor, 65536);
    }
  EXPECT_EQ(gaussian_mask<std::int32_t>(0).row, Integers{256});
  EXPECT_EQ(gaussian_mask<std::int32_t>(3).row, gaussian_mask<std::int32_t>(3, sigma_of(3)).row);
}

TEST(Mask, GaussianOfRealNumbers) {
  for (const int radius : {0, 1, 2, 7, 31}) {
    const auto mask = gaussian_mask<float>(radius);
    expect_product(mask);
    expect_symmetric(mask.row);
    EXPECT_EQ(mask.divisor, 1);
    // Each of the weights is rounded once.
    EXPECT_NEAR(std::accumulate(mask.row.begin(), mask.row.end(), 0.0), 1, 0x1p-24);
  }
}

// Weights run backwards.
TEST(Mask, Sobel) {
  EXPECT_EQ(sobel_mask<std::int32_t>(1, true).weights, (Integers{1, 0, -1, 2, 0, -2, 1, 0, -1}));
  EXPECT_EQ(sobel_mask<std::int32_t>(1, false).weights, (Integers{1, 2, 1, 0, 0, 0, -1, -2, -1}));
  const auto second = sobel_mask<std::int32_t>(2, true);
  EXPECT_EQ(second.row, (Integers{1, 2, 0, -2, -1}));
  EXPECT_EQ(second.column, (Integers{1, 4, 6, 4, 1}));
  EXPECT_EQ(sobel_mask<std::int32_t>(3, false).column, (Integers{1, 4, 5, 0, -5, -4, -1}));
  for (int radius = 1; radius <= greatest_sobel_radius; ++radius)
    for (const bool along_x : {false, true}) {
      const auto mask = sobel_mask<std::int32_t>(radius, along_x);
      expect_product(mask);
      // The greatest sum: two such fit into 31 bits, as gradient_pixel() needs.
      std::int64_t positive = 0, ramp = 0;
      const Integers& along = along_x ? mask.row : mask.column;
      for (const std::int32_t weight : mask.weights) positive += weight > 0 ? weight : 0;
      EXPECT_LT(2 * 255 * positive, std::int64_t{1} << 31);
      // On a ramp of slope 1, the derivative is 8 times 16 for each further radius.
      for (int i = 0; i <= 2 * radius; ++i)
        ramp += (radius - i) * std::int64_t{along[static_cast<std::size_t>(i)]} << 2 * radius;
      EXPECT_EQ(ramp, std::int64_t{8} << 4 * (radius - 1));
    }
}

// Of the widths that have two neighbouring odd values, the nearest variance: at most half a step
// away, where a step is one box's from one width to the next.
TEST(Mask, ThreeBoxesHaveTheVarianceOfTheGaussian) {
  for (double sigma = 0.1; sigma <= 1000; sigma *= 1.07) {
    const ThreeBoxes boxes = three_boxes(sigma);
    double variance = 0;
    for (const int radius : boxes.radius) {
      const int width = 2 * radius + 1;
      variance += (width * width - 1) / 12.0;
      EXPECT_GE(radius, 0);
      EXPECT_LE(std::abs(radius - boxes.radius[0]), 1);
    }
    EXPECT_NEAR(variance, sigma * sigma, (2 * boxes.radius[0] + 2) / 6.0 + 1e-9 * sigma * sigma)
        << sigma;
  }
}

TEST(Mask, BadArguments) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_THROW(gaussian_mask<std::int32_t>(-1), ArgumentError);
  for (const double sigma : {-1.0, infinity, nan})
    EXPECT_THROW(gaussian_mask<float>(2, sigma), ArgumentError);
  for (const int radius : {-1, 0, 7}) {
    EXPECT_THROW(sobel_mask<std::int32_t>(radius, true), ArgumentError);
    EXPECT_THROW(sobel_mask<float>(radius, false), ArgumentError);
  }
  for (const double sigma : {-1.0, 0.0, 1000.5, infinity, nan})
    EXPECT_THROW(three_boxes(sigma), ArgumentError);
}

}  // namespace
}  // namespace facesat::test
