#include <gtest/gtest.h>

#include "filters/cpu/filter.hpp"
#include "filters/definition.hpp"
#include "filters/picture_filter.hpp"
#include "tests/filters/filters.hpp"
#include "tests/kit/instruction_sets.hpp"

namespace facesat::test {
namespace {

constexpr int threshold_offset = 5;

// What the definitions give for the windows of a picture.
struct Expected {
  explicit Expected(Size size)
      : mean(size),
        threshold(size),
        deviation(size),
        skewness_pixels(size),
        variance(size),
        skewness(size) {}
  void set(int x, int y, std::uint8_t pixel, const WindowSums& sums) {
    mean.row(y)[x] = rounded_pixel(sums.sum, sums.pixels);
    threshold.row(y)[x] = threshold_pixel(pixel, sums, threshold_offset);
    deviation.row(y)[x] = deviation_pixel(sums);
    variance.row(y)[x] = static_cast<float>(variance_of(sums));
    skewness_pixels.row(y)[x] = skewness_pixel(sums);
    skewness.row(y)[x] = static_cast<float>(skewness_of(sums));
  }

  Image<std::uint8_t> mean, threshold, deviation, skewness_pixels;
  Image<float> variance, skewness;
};

using Bytes = View<std::uint8_t>;
using Reals = View<float>;

void expect_from_tables(View<const std::uint8_t> picture, Radius radius, Border border,
                        const Expected& expected) {
  const std::string name = "tables, " + name_of(picture.size, radius, border);
  cpu::IntegralImages tables;
  tables.build(picture, cpu::Powers::pixels, radius);
  expect_result(expected.mean.view(), name,
                [&](Bytes result) { cpu::box_mean(tables, radius, border, result); });
  expect_result(expected.threshold.view(), name, [&](Bytes result) {
    cpu::adaptive_threshold(tables, picture, radius, border, threshold_offset, result);
  });
  tables.build(picture, cpu::Powers::squares, radius);
  expect_result(expected.deviation.view(), name,
                [&](Bytes result) { cpu::deviation(tables, radius, border, result); });
  expect_result(expected.variance.view(), name,
                [&](Reals result) { cpu::variance(tables, radius, border, result); });
  tables.build(picture, cpu::Powers::cubes, radius);
  expect_result(expected.skewness.view(), name,
                [&](Reals result) { cpu::skewness(tables, radius, border, result); });
  expect_result(expected.skewness_pixels.view(), name,
                [&](Bytes result) { cpu::skewness(tables, radius, border, result); });
}

void expect_without_tables(View<const std::uint8_t> picture, Radius radius, Border border,
                           const Expected& expected) {
  const std::string name = "no tables, " + name_of(picture.size, radius, border);
  expect_result(expected.mean.view(), name,
                [&](Bytes result) { cpu::separable_box_mean(picture, radius, border, result); });
  expect_result(expected.mean.view(), name,
                [&](Bytes result) { cpu::direct_box_mean(picture, radius, border, result); });
  expect_result(expected.threshold.view(), name, [&](Bytes result) {
    cpu::direct_adaptive_threshold(picture, radius, border, threshold_offset, result);
  });
  expect_result(expected.deviation.view(), name,
                [&](Bytes result) { cpu::direct_deviation(picture, radius, border, result); });
  expect_result(expected.variance.view(), name,
                [&](Reals result) { cpu::direct_variance(picture, radius, border, result); });
  expect_result(expected.skewness.view(), name,
                [&](Reals result) { cpu::direct_skewness(picture, radius, border, result); });
  expect_result(expected.skewness_pixels.view(), name,
                [&](Bytes result) { cpu::direct_skewness(picture, radius, border, result); });
}

void expect_as_defined(View<const std::uint8_t> picture, Radius radius, Border border) {
  Expected expected(picture.size);
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 0; x < picture.size.width; ++x)
      expected.set(x, y, picture.row(y)[x], window_at(picture, x, y, radius, border));
  Embedded<std::uint8_t> wide(picture);
  expect_from_tables(wide.view(), radius, border, expected);
  expect_without_tables(wide.view(), radius, border, expected);
}

TEST(Windows, OfAnySize) {
  for (const Size size : filter_sizes)
    for (const Radius radius : filter_radii(size))
      for (const Border border : all_borders)
        expect_as_defined(noise(size, static_cast<unsigned>(size.width)).view(), radius, border);
}

// Tables have bands of 64 rows: windows begin and end in any two of them.
TEST(Windows, OfSeveralBands) {
  for (const Border border : all_borders)
    for (const int radius : {0, 1, 31, 32, 70, 150})
      expect_as_defined(noise({3, 193}, 7).view(), {1, radius}, border);
  for (const int height : {63, 64, 65, 128, 129})
    expect_as_defined(noise({2, height}, 8).view(), {0, 64}, Border::mirror);
}

TEST(Windows, OfExtremes) {
  for (const std::uint8_t value : {0, 255})
    for (const Border border : all_borders)
      for (const Radius radius : {Radius{2, 2}, {40, 30}})
        expect_as_defined(flat({11, 7}, value).view(), radius, border);
}

// Sums of squares of 257 x 257 pixels fit into 32 bits, and those of 257 x 259 do not.
TEST(Windows, WhereSquaresNeed64Bits) {
  for (const Border border : {Border::clamp, Border::reflect101})
    for (const Radius radius : {Radius{128, 128}, {128, 129}, {129, 128}}) {
      expect_as_defined(flat({5, 3}, 255).view(), radius, border);
      expect_as_defined(noise({4, 3}, 9, 250, 256).view(), radius, border);
    }
}

// Columns of 0 and 255 by turns. In the largest windows, products of sums exceed 2^63.
TEST(Windows, OfTheGreatestRadius) {
  for (const int radius : {304, 305, greatest_filter_radius})
    for (const int width : {2, 30}) {
      Image<std::uint8_t> picture(Size{width, 3});
      Expected expected(picture.size());
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < width; ++x) {
          picture.row(y)[x] = x % 2 == 0 ? 0 : 255;
          const std::int64_t side = 2 * radius + 1;
          // Columns x - radius and x + radius are of the same colour.
          const std::int64_t white = (x + radius) % 2 == 0 ? radius : radius + 1;
          const std::int64_t pixels = white * side;
          expected.set(
              x, y, picture.row(y)[x],
              {side * side, pixels * 255, pixels * 65025, static_cast<double>(pixels * 16581375)});
        }
      expect_from_tables(picture.view(), {radius, radius}, Border::wrap, expected);
      expect_result<std::uint8_t>(expected.mean.view(), "separable", [&](Bytes result) {
        cpu::separable_box_mean(picture.view(), {radius, radius}, Border::wrap, result);
      });
    }
  const Image<std::uint8_t> white = flat({40, 70}, 255);
  const Radius radius{greatest_filter_radius, greatest_filter_radius};
  Expected expected(white.size());
  const std::int64_t pixels = radius.area();
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 40; ++x)
      expected.set(x, y, 255,
                   {pixels, 255 * pixels, 65025 * pixels, static_cast<double>(16581375 * pixels)});
  for (const Border border : {Border::clamp, Border::mirror, Border::reflect101, Border::wrap})
    expect_from_tables(white.view(), radius, border, expected);
}

// One pixel is darker by 1, and every window has each pixel once. pixels^2 times the variance is
// pixels - 1, which is not a multiple of 4, but products that are rounded to double are: they
// exceed 2^54.
TEST(Windows, OfASmallVariance) {
  constexpr Radius radius{441, 310};
  Image<std::uint8_t> picture = flat({radius.columns(), radius.rows()}, 255);
  picture.row(200)[100] = 254;
  const std::int64_t pixels = radius.area();
  const WindowSums sums{pixels, 255 * pixels - 1, 65025 * pixels - 65025 + 64516};
  EXPECT_EQ(scaled_variance(sums), pixels - 1);
  Image<float> expected(picture.size()), ours(picture.size());
  for (int y = 0; y < radius.rows(); ++y)
    std::fill_n(expected.row(y), radius.columns(), static_cast<float>(variance_of(sums)));
  cpu::IntegralImages tables;
  tables.build(picture.view(), cpu::Powers::squares, radius);
  cpu::variance(tables, radius, Border::wrap, ours.view());
  EXPECT_TRUE(same(ours.view(), expected.view()));
}

// Tables that were larger, and with other powers, do not show in later results.
TEST(Windows, TablesAreReused) {
  cpu::IntegralImages tables;
  for (const Size size : {Size{9, 130}, {5, 3}, {7, 66}}) {
    const Image<std::uint8_t> picture = noise(size, 10);
    for (const Radius radius : {Radius{130, 130}, {2, 2}}) {
      Image<float> variance(size);
      tables.build(picture.view(), cpu::Powers::squares, radius);
      cpu::variance(tables, radius, Border::wrap, variance.view());
      Image<float> direct(size);
      cpu::direct_variance(picture.view(), radius, Border::wrap, direct.view());
      EXPECT_TRUE(same(variance.view(), direct.view()));
    }
  }
}

// ---- three boxes

TEST(ThreeBoxes, AreBoxMeansOfBoxMeans) {
  cpu::IntegralImages tables;
  for (const Size size : filter_sizes)
    for (const double sigma : {0.5, 1.0, 2.3, 20.0})
      for (const Border border : all_borders) {
        if (sigma > 10 && size.area() > 100) continue;
        Embedded<std::uint8_t> wide(noise(size, 11).view());
        const Image<std::uint8_t> expected = three_means(wide.view(), three_boxes(sigma), border);
        expect_result<std::uint8_t>(expected.view(), name_of(size, {}, border), [&](Bytes result) {
          cpu::three_box_means(wide.view(), sigma, border, result, tables);
        });
      }
  Image<std::uint8_t> picture = flat({3, 3}, 1);
  EXPECT_THROW(cpu::three_box_means(picture.view(), 0, Border::clamp, picture.view(), tables),
               ArgumentError);
}

}  // namespace
}  // namespace facesat::test
