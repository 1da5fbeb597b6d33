#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include <gtest/gtest.h>

#include "filters/cpu/filter.hpp"
#include "filters/cpu/rows.hpp"
#include "filters/definition.hpp"
#include "tests/filters/filters.hpp"
#include "tests/kit/instruction_sets.hpp"

namespace facesat::test {
namespace {

// Elements and weights of all bits that sums of their type can take.
template <class T>
T random_element(std::mt19937& random) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random));
  else
    return static_cast<T>(random());
}

template <class T>
Image<T> random_picture(Size size, std::mt19937& random) {
  return formula<T>(size, [&](int, int) { return random_element<T>(random); });
}

template <class W>
std::vector<W> random_weights(std::int64_t count, std::mt19937& random) {
  std::vector<W> weights(static_cast<std::size_t>(count));
  for (W& weight : weights) {
    weight = random_element<W>(random);
    if constexpr (std::is_integral_v<W>) weight %= 100;
  }
  return weights;
}

// Not symmetric in any way. Their factors are products below 2^31.
template <class W>
Mask<W> random_separable(Radius radius, W divisor, std::mt19937& random) {
  return separable_mask<W>(random_weights<W>(radius.columns(), random),
                           random_weights<W>(radius.rows(), random), divisor);
}
template <class W>
Mask<W> random_mask(Radius radius, W divisor, std::mt19937& random) {
  return {radius, random_weights<W>(radius.area(), random), {}, {}, divisor};
}

template <class In, class Out>
void expect_convolution(View<const In> picture, const Mask<std::int32_t>& mask, Border border) {
  const std::string name = name_of(picture.size, mask.radius, border);
  Image<Out> expected(picture.size);
  convolve<std::uint32_t>(picture, mask, border, expected.view());
  const View<const Out> view = expected.view();
  expect_result(view, "direct, " + name,
                [&](View<Out> result) { cpu::convolve_direct(picture, mask, border, result); });
  if (mask.is_separable())
    expect_result(view, "separable, " + name, [&](View<Out> result) {
      cpu::convolve_separable(picture, mask, border, result);
    });
}

template <class In, class Out>
void expect_convolutions() {
  std::mt19937 random(1);
  for (const Size size : filter_sizes)
    for (const Radius radius : filter_radii(size))
      for (const Border border : all_borders) {
        const Image<In> picture = random_picture<In>(size, random);
        Embedded<In> wide(picture.view());
        // Divisors with which some results are clamped and others not.
        const auto divisor = 1 + static_cast<std::int32_t>(random() % 3000);
        expect_convolution<In, Out>(wide.view(), random_separable(radius, divisor, random), border);
        if (radius.x > 40) continue;
        expect_convolution<In, Out>(wide.view(), random_mask(radius, divisor, random), border);
      }
}

TEST(Convolution, OfBytesToBytes) {
  expect_convolutions<std::uint8_t, std::uint8_t>();
}
TEST(Convolution, OfBytesToIntegers) {
  expect_convolutions<std::uint8_t, std::int32_t>();
}
TEST(Convolution, OfIntegersThatWrap) {
  expect_convolutions<std::int32_t, std::int32_t>();
}

// Rounding errors, with u = 2^-24: a sum of n products has at most n roundings on the way of each
// product, and its division one more. By factors, these are a sum of columns, one of rows, the
// rounding of each weight from its factors, and the division. One roundoff more covers those of the
// reference, which is computed in double. With n roundings, the error is at most gamma_n times the
// sum of |weight * element|, with gamma_n = n u / (1 - n u).
// Source: N. Higham, "Accuracy and stability of numerical algorithms", section 3.1.
void expect_real_convolution(View<const float> picture, const Mask<float>& mask, Border border,
                             bool is_separable) {
  Image<double> expected(picture.size);
  convolve<double>(picture, mask, border, expected.view());
  const Image<double> sums = sums_of_magnitudes(picture, mask, border);
  const std::int64_t roundings =
      2 + (is_separable ? mask.radius.columns() + mask.radius.rows() + 1 : mask.radius.area());
  const double error = static_cast<double>(roundings) * 0x1p-24;
  const double gamma = error / (1 - error);
  on_every_instruction_set([&] {
    Guarded<float> result(picture.size);
    is_separable ? cpu::convolve_separable(picture, mask, border, result.view())
                 : cpu::convolve_direct(picture, mask, border, result.view());
    for (int y = 0; y < picture.size.height; ++y)
      for (int x = 0; x < picture.size.width; ++x)
        ASSERT_LE(std::abs(result.view().row(y)[x] - expected.row(y)[x]), gamma * sums.row(y)[x])
            << name_of(picture.size, mask.radius, border) << " at " << x << ", " << y;
    EXPECT_TRUE(result.intact());
  });
}

TEST(Convolution, OfRealNumbers) {
  std::mt19937 random(2);
  for (const Size size : filter_sizes)
    for (const Radius radius : filter_radii(size))
      for (const Border border : all_borders) {
        const Image<float> picture = random_picture<float>(size, random);
        Embedded<float> wide(picture.view());
        const Mask<float> mask = random_separable(radius, 3.0f, random);
        expect_real_convolution(wide.view(), mask, border, true);
        if (radius.x > 40) continue;
        expect_real_convolution(wide.view(), random_mask(radius, 0.7f, random), border, false);
      }
}

// Infinity is not lost where a weight is 0, nor spread further than the mask reaches.
TEST(Convolution, OfInfinity) {
  auto picture = formula<float>({9, 5}, [](int, int) { return 1; });
  picture.row(2)[4] = std::numeric_limits<float>::infinity();
  const Mask<float> mask = separable_mask<float>({1, 0, 1}, {1, 1, 1}, 1);
  for (const bool is_separable : {false, true}) {
    Image<float> result(picture.size());
    is_separable
        ? cpu::convolve_separable<float, float>(picture.view(), mask, Border::clamp, result.view())
        : cpu::convolve_direct<float, float>(picture.view(), mask, Border::clamp, result.view());
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 9; ++x) {
        const bool in_reach = std::abs(x - 4) <= 1 && std::abs(y - 2) <= 1;
        EXPECT_EQ(std::isfinite(result.row(y)[x]), !in_reach) << x << ", " << y;
        EXPECT_EQ(std::isnan(result.row(y)[x]), in_reach && x == 4) << x << ", " << y;
      }
  }
}

// More products than direct_row() keeps in memory, and more rows and columns than a block of them.
TEST(Convolution, OfLargeMasksAndPictures) {
  std::mt19937 random(3);
  expect_convolution<std::uint8_t, std::int32_t>(
      random_picture<std::uint8_t>({7, 5}, random).view(),
      random_mask<std::int32_t>({40, 33}, 1, random), Border::mirror);
  const Image<std::uint8_t> wide = random_picture<std::uint8_t>({2100, 70}, random);
  expect_convolution<std::uint8_t, std::uint8_t>(wide.view(), gaussian_mask<std::int32_t>(2),
                                                 Border::reflect101);
}

// Rows whose parts, of 32768 columns, are filtered one by one; the last part has 1 or 1000 columns,
// fewer than the radius or more.
TEST(Convolution, OfLongRows) {
  std::mt19937 random(5);
  for (const Size size : {Size{32768 + 1, 1}, {2 * 32768 + 1000, 2}})
    for (const Border border : all_borders) {
      expect_convolution<std::uint8_t, std::int32_t>(
          random_picture<std::uint8_t>(size, random).view(), random_separable({9, 1}, 1, random),
          border);
      expect_convolution<std::int32_t, std::int32_t>(
          random_picture<std::int32_t>(size, random).view(), random_separable({3, 0}, 1, random),
          border);
    }
}

TEST(Convolution, GaussianOfExtremes) {
  for (const std::uint8_t value : {0, 255})
    for (const Border border : all_borders) {
      if (border == Border::zero) continue;
      const Image<std::uint8_t> picture = flat({37, 23}, value);
      for (const int radius : {0, 1, 5, 15, 40}) {
        const auto mask = gaussian_mask<std::int32_t>(radius);
        const auto name = name_of(picture.size(), mask.radius, border);
        expect_result(picture.view(), name, [&](View<std::uint8_t> result) {
          cpu::convolve_separable<std::uint8_t>(picture.view(), mask, border, result);
        });
      }
    }
}

TEST(Convolution, RoundedQuotients) {
  const auto check = [](std::int64_t sum, std::int64_t divisor) {
    const std::uint8_t expected = rounded_pixel(sum, divisor);
    const cpu::RoundedQuotient pixel(static_cast<double>(divisor));
    if (sum >= 0 && sum <= UINT32_MAX) {
      ASSERT_EQ(pixel(static_cast<std::uint32_t>(sum)), expected) << sum << " / " << divisor;
    }
    if (sum >= INT32_MIN && sum <= INT32_MAX) {
      ASSERT_EQ(pixel(static_cast<std::int32_t>(sum)), expected) << sum << " / " << divisor;
    }
  };
  std::mt19937 random(4);
  std::vector<std::int64_t> divisors{1, 2, 3, 4, 9, 255, 256, 65536, 4095 * 4095, INT32_MAX};
  for (int i = 0; i < 100; ++i) divisors.push_back(1 + (random() >> (1 + random() % 30)));
  for (const std::int64_t divisor : divisors) {
    for (int pixel = -1; pixel <= 257; ++pixel)
      for (int nearby = -2; nearby <= 2; ++nearby) {
        check(pixel * divisor + nearby, divisor);
        check(pixel * divisor + divisor / 2 + nearby, divisor);
      }
    for (const std::int64_t sum : {std::int64_t{INT32_MIN}, std::int64_t{INT32_MAX},
                                   std::int64_t{UINT32_MAX}, std::int64_t{0}})
      check(sum, divisor);
  }
}

// ---- Sobel's gradient

Image<std::uint8_t> defined_gradient(View<const std::uint8_t> picture, int radius, Border border) {
  Image<std::int32_t> dx(picture.size), dy(picture.size);
  convolve<std::uint32_t>(picture, sobel_mask<std::int32_t>(radius, true), border, dx.view());
  convolve<std::uint32_t>(picture, sobel_mask<std::int32_t>(radius, false), border, dy.view());
  return formula<std::uint8_t>(picture.size, [&](int x, int y) {
    return gradient_pixel(dx.row(y)[x], dy.row(y)[x], radius);
  });
}

TEST(SobelGradient, AsDefined) {
  for (const Size size : filter_sizes)
    for (const int radius : {1, 2, 6})
      for (const Border border : all_borders) {
        const Image<std::uint8_t> noisy = noise(size, 5), smooth = clouds(size, 6, 3);
        for (const Image<std::uint8_t>* picture : {&noisy, &smooth}) {
          Embedded<std::uint8_t> wide(picture->view());
          const Image<std::uint8_t> expected = defined_gradient(picture->view(), radius, border);
          expect_result<std::uint8_t>(expected.view(), name_of(size, {radius, radius}, border),
                                      [&](View<std::uint8_t> result) {
                                        cpu::sobel_gradient(wide.view(), radius, border, result);
                                      });
        }
      }
}

// The greatest sums: black on one side, white on the other.
TEST(SobelGradient, OfAnEdge) {
  const auto picture = formula<std::uint8_t>({30, 20}, [](int x, int) { return x < 15 ? 0 : 255; });
  for (int radius = 1; radius <= greatest_sobel_radius; ++radius)
    expect_result<std::uint8_t>(defined_gradient(picture.view(), radius, Border::clamp).view(),
                                "edge", [&](View<std::uint8_t> result) {
                                  cpu::sobel_gradient(picture.view(), radius, Border::clamp,
                                                      result);
                                });
}

// On the ramp of 2 x + y, the derivatives are 8 times 2 and 1 in units of radius 1.
TEST(SobelGradient, OfARamp) {
  const auto picture = formula<std::uint8_t>({60, 40}, [](int x, int y) { return 2 * x + y; });
  for (int radius = 1; radius <= greatest_sobel_radius; ++radius) {
    Image<std::uint8_t> gradient(picture.size());
    cpu::sobel_gradient(picture.view(), radius, Border::zero, gradient.view());
    EXPECT_EQ(gradient.row(20)[30], 24) << radius;
  }
  Image<std::uint8_t> gradient(picture.size());
  for (const int radius : {-1, 0, 7})
    EXPECT_THROW(cpu::sobel_gradient(picture.view(), radius, Border::zero, gradient.view()),
                 ArgumentError);
}

}  // namespace
}  // namespace facesat::test
