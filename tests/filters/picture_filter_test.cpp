#include "filters/picture_filter.hpp"

#include <gtest/gtest.h>

#include "filters/definition.hpp"
#include "filters/halftone.hpp"
#include "tests/filters/filters.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {
namespace {

constexpr FilterKind all_kinds[] = {FilterKind::box,       FilterKind::gaussian,
                                    FilterKind::sobel,     FilterKind::adaptive_threshold,
                                    FilterKind::deviation, FilterKind::skewness,
                                    FilterKind::halftone};

void convolved(View<const std::uint8_t> picture, const Mask<std::int32_t>& mask, Border border,
               View<std::uint8_t> result) {
  convolve<std::uint32_t>(picture, mask, border, result);
}

Image<std::uint8_t> defined(View<const std::uint8_t> picture, const PictureFilterSettings& s) {
  Image<std::uint8_t> result(picture.size);
  if (s.kind == FilterKind::halftone) {
    collect_errors<IntegerHalftone>(picture, result.view());
    return result;
  }
  if (s.kind == FilterKind::gaussian && s.algorithm == "three_boxes") {
    copy<std::uint8_t>(picture, result.view());
    for (const int radius : three_boxes(sigma_of(s.radius)).radius) {
      Image<std::uint8_t> mean(picture.size);
      convolved(result.view(), box_mask<std::int32_t>({radius, radius}), s.border, mean.view());
      result = std::move(mean);
    }
    return result;
  }
  if (s.kind == FilterKind::gaussian) {
    convolved(picture, gaussian_mask<std::int32_t>(s.radius), s.border, result.view());
    return result;
  }
  Image<std::int32_t> dx(picture.size), dy(picture.size);
  if (s.kind == FilterKind::sobel)
    for (const bool along_x : {false, true})
      convolve<std::uint32_t>(picture, sobel_mask<std::int32_t>(s.radius, along_x), s.border,
                              along_x ? dx.view() : dy.view());
  for (int y = 0; y < picture.size.height; ++y)
    for (int x = 0; x < picture.size.width; ++x) {
      const WindowSums sums = window_at(picture, x, y, {s.radius, s.radius}, s.border);
      result.row(y)[x] = s.kind == FilterKind::box         ? rounded_pixel(sums.sum, sums.pixels)
                         : s.kind == FilterKind::deviation ? deviation_pixel(sums)
                         : s.kind == FilterKind::skewness  ? skewness_pixel(sums)
                         : s.kind == FilterKind::sobel
                             ? gradient_pixel(dx.row(y)[x], dy.row(y)[x], s.radius)
                             : threshold_pixel(picture.row(y)[x], sums, s.offset);
    }
  return result;
}

TEST(PictureFilter, AsDefined) {
  const auto filter = make_cpu_picture_filter();
  for (const Size size : {Size{1, 1}, {5, 3}, {37, 23}}) {
    const Image<std::uint8_t> picture = clouds(size, 1, 1);
    Embedded<std::uint8_t> wide(picture.view());
    for (const FilterKind kind : all_kinds)
      for (const int radius : {0, 1, 4})
        for (const Border border : all_borders) {
          if (kind == FilterKind::sobel && radius == 0) continue;
          std::vector<std::string> algorithms = filter->algorithms(kind, radius);
          ASSERT_FALSE(algorithms.empty());
          algorithms.push_back("");
          for (const std::string& algorithm : algorithms) {
            const PictureFilterSettings settings{kind, radius, border, -3, algorithm};
            Guarded<std::uint8_t> result(size);
            std::vector<FilterTime> times{{"of an earlier call", 1}};
            filter->apply(wide.view(), settings, result.view(), times);
            const std::string name = std::string(filter_names[static_cast<std::size_t>(kind)]) +
                                     " " + algorithm + ", " +
                                     name_of(size, {radius, radius}, border);
            EXPECT_TRUE(same(result.view(), defined(picture.view(), settings).view())) << name;
            EXPECT_TRUE(result.intact()) << name;
            ASSERT_FALSE(times.empty());
            for (const FilterTime& time : times) {
              EXPECT_NE(time.step, "of an earlier call");
              EXPECT_GE(time.us, 0);
            }
          }
        }
  }
}

TEST(PictureFilter, StepsAreNamed) {
  const auto filter = make_cpu_picture_filter();
  const Image<std::uint8_t> picture = noise({9, 9}, 2);
  Image<std::uint8_t> result(picture.size());
  std::vector<FilterTime> times;
  filter->apply(picture.view(), {.kind = FilterKind::box}, result.view(), times);
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].step, "integral image");
  EXPECT_EQ(times[1].step, "box");
}

void expect_refused(const PictureFilterSettings& settings, const std::string& message) {
  const Image<std::uint8_t> picture = noise({9, 9}, 3);
  Image<std::uint8_t> result(picture.size());
  std::vector<FilterTime> times;
  EXPECT_EQ(message_of<ArgumentError>([&] {
              make_cpu_picture_filter()->apply(picture.view(), settings, result.view(), times);
            }),
            message);
}

TEST(PictureFilter, BadArguments) {
  expect_refused({.kind = FilterKind::box, .radius = -1},
                 "the filter box takes a radius from 0 to 1450, not -1");
  expect_refused({.kind = FilterKind::adaptive_threshold, .radius = 1451},
                 "the filter adaptive-threshold takes a radius from 0 to 1450, not 1451");
  for (const int radius : {0, 7})
    expect_refused({.kind = FilterKind::sobel, .radius = radius},
                   "the filter sobel takes a radius from 1 to 6, not " + std::to_string(radius));
  expect_refused({.kind = FilterKind::gaussian, .algorithm = "integral"},
                 "the filter gaussian has no algorithm 'integral' on the CPU; it has: separable, "
                 "three_boxes, direct");
}

// A halftone has no radius.
TEST(PictureFilter, HalftoneTakesAnyRadius) {
  const Image<std::uint8_t> picture = noise({9, 9}, 4);
  Image<std::uint8_t> result(picture.size());
  std::vector<FilterTime> times;
  make_cpu_picture_filter()->apply(picture.view(), {.kind = FilterKind::halftone, .radius = -1},
                                   result.view(), times);
  EXPECT_EQ(times.size(), 1u);
}

}  // namespace
}  // namespace facesat::test
