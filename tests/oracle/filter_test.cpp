// The filters of the CPU against OpenCV's, in every bit.
#include "filters/cpu/filter.hpp"

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>

#include "filters/mask.hpp"
#include "filters/picture_filter.hpp"
#include "tests/kit/compare.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

struct SameBorder {
  Border ours;
  int theirs;
};
// OpenCV's filters refuse BORDER_WRAP.
constexpr SameBorder same_borders[] = {{Border::zero, cv::BORDER_CONSTANT},
                                       {Border::clamp, cv::BORDER_REPLICATE},
                                       {Border::mirror, cv::BORDER_REFLECT},
                                       {Border::reflect101, cv::BORDER_REFLECT_101}};
const cv::Size filter_sizes[] = {{1, 1},   {1, 7},   {9, 1},    {5, 3},
                                 {16, 16}, {37, 23}, {131, 97}, {64, 203}};

// Calls visit(picture, radius, border) for noise of all sizes and radii up to `greatest`.
template <class Visit>
void for_each_case(int greatest, Visit visit) {
  cv::RNG random(1);
  for (const cv::Size size : filter_sizes)
    for (int radius = 1; radius <= greatest; ++radius)
      for (const SameBorder& border : same_borders) {
        SCOPED_TRACE(::testing::PrintToString(size) + ", radius " + std::to_string(radius) + ", " +
                     std::string(name_of(border.ours)));
        visit(random_picture(size, random), radius, border);
      }
}

template <class T>
View<const T> view_as(const cv::Mat& picture) {
  return {
      picture.ptr<T>(), {picture.cols, picture.rows}, static_cast<std::ptrdiff_t>(picture.step1())};
}

Size size_of(const cv::Mat& picture) {
  return {picture.cols, picture.rows};
}

// OpenCV's filters correlate: they run forwards through the mask.
template <class W>
cv::Mat backwards(const std::vector<W>& weights, Radius radius) {
  cv::Mat mask;
  cv::Mat(radius.rows(), radius.columns(), cv::DataType<W>::type, const_cast<W*>(weights.data()))
      .convertTo(mask, CV_64F);
  cv::flip(mask, mask, -1);
  return mask;
}

std::vector<std::int32_t> random_weights(std::int64_t count, cv::RNG& random) {
  std::vector<std::int32_t> weights(static_cast<std::size_t>(count));
  for (std::int32_t& weight : weights) weight = random.uniform(-100, 101);
  return weights;
}

// ---- convolutions

// Sums of integers are exact in double. Masks of 50 weights or more are multiplied by OpenCV as
// Fourier transforms; then the sums are the nearest whole numbers.
TEST(OracleFilters, DirectConvolution) {
  cv::RNG random(2);
  for_each_case(15, [&](const cv::Mat& picture, int r, const SameBorder& border) {
    const Radius radius{r, random.uniform(0, r + 1)};
    const Mask<std::int32_t> mask{radius, random_weights(radius.area(), random), {}, {}, 1};
    cv::Mat theirs;
    cv::filter2D(picture, theirs, CV_64F, backwards(mask.weights, radius), {-1, -1}, 0,
                 border.theirs);
    if (radius.area() >= 50)
      theirs.forEach<double>([](double& sum, const int*) { sum = std::nearbyint(sum); });
    Image<std::int32_t> ours(size_of(picture));
    cpu::convolve_direct(view_of(picture), mask, border.ours, ours.view());
    EXPECT_TRUE(same(ours.view(), view_as<double>(theirs)));
  });
}

TEST(OracleFilters, SeparableConvolution) {
  cv::RNG random(3);
  for_each_case(15, [&](const cv::Mat&, int r, const SameBorder& border) {
    const Radius radius{r, random.uniform(0, 16)};
    const cv::Size size(random.uniform(1, 60), random.uniform(1, 60));
    const cv::Mat picture = random_picture(size, random);
    const Mask<std::int32_t> mask = separable_mask<std::int32_t>(
        random_weights(radius.columns(), random), random_weights(radius.rows(), random), 1);
    cv::Mat theirs;
    cv::sepFilter2D(picture, theirs, CV_64F, backwards(mask.row, {radius.x, 0}),
                    backwards(mask.column, {0, radius.y}), {-1, -1}, 0, border.theirs);
    // Sums reach 255 * (100 * 31)^2: the lower 32 bits count.
    Image<std::int32_t> exact(size_of(picture)), ours(size_of(picture));
    for (int y = 0; y < picture.rows; ++y)
      for (int x = 0; x < picture.cols; ++x)
        exact.row(y)[x] =
            static_cast<std::int32_t>(static_cast<std::int64_t>(theirs.at<double>(y, x)));
    cpu::convolve_separable(view_of(picture), mask, border.ours, ours.view());
    EXPECT_TRUE(same(ours.view(), exact.view()));
  });
}

// Of whole numbers whose sums are exact as floats, so that the order of additions does not matter.
TEST(OracleFilters, ConvolutionOfRealNumbers) {
  cv::RNG random(4);
  for_each_case(4, [&](const cv::Mat& bytes, int r, const SameBorder& border) {
    cv::Mat picture, theirs;
    bytes.convertTo(picture, CV_32F, 1, -128);
    const std::vector<std::int32_t> row = random_weights(2 * r + 1, random),
                                    column = random_weights(3, random);
    const Mask<float> mask =
        separable_mask<float>({row.begin(), row.end()}, {column.begin(), column.end()}, 1);
    cv::sepFilter2D(picture, theirs, CV_32F, backwards(mask.row, {r, 0}),
                    backwards(mask.column, {0, 1}), {-1, -1}, 0, border.theirs);
    Image<float> ours(size_of(picture));
    cpu::convolve_separable(view_as<float>(picture), mask, border.ours, ours.view());
    EXPECT_TRUE(same(ours.view(), view_as<float>(theirs)));
    cpu::convolve_direct(view_as<float>(picture), mask, border.ours, ours.view());
    EXPECT_TRUE(same(ours.view(), view_as<float>(theirs)));
  });
}

TEST(OracleFilters, GaussianBlur) {
  for_each_case(15, [](const cv::Mat& picture, int radius, const SameBorder& border) {
    cv::Mat theirs;
    cv::GaussianBlur(picture, theirs, {2 * radius + 1, 2 * radius + 1}, sigma_of(radius),
                     sigma_of(radius), border.theirs);
    Image<std::uint8_t> ours(size_of(picture));
    cpu::convolve_separable(view_of(picture), gaussian_mask<std::int32_t>(radius), border.ours,
                            ours.view());
    EXPECT_TRUE(same(ours.view(), view_of(theirs)));
  });
}

TEST(OracleFilters, GaussianBlurOfAnySigma) {
  cv::RNG random(5);
  for (int i = 0; i < 500; ++i) {
    const int radius = random.uniform(0, 16);
    const double sigma = random.uniform(0.2, 12.0);
    const cv::Mat picture = random_picture({random.uniform(1, 80), random.uniform(1, 80)}, random);
    cv::Mat theirs;
    cv::GaussianBlur(picture, theirs, {2 * radius + 1, 2 * radius + 1}, sigma, sigma,
                     cv::BORDER_REFLECT_101);
    Image<std::uint8_t> ours(size_of(picture));
    cpu::convolve_separable(view_of(picture), gaussian_mask<std::int32_t>(radius, sigma),
                            Border::reflect101, ours.view());
    EXPECT_TRUE(same(ours.view(), view_of(theirs))) << "radius " << radius << ", sigma " << sigma;
  }
}

// In CV_64F, all sums are exact; in CV_32F, those of radii up to 4; in CV_16S, of radii up to 2.
TEST(OracleFilters, Sobel) {
  for_each_case(
      greatest_sobel_radius, [](const cv::Mat& picture, int radius, const SameBorder& border) {
        for (const bool along_x : {false, true}) {
          Image<std::int32_t> ours(size_of(picture));
          cpu::convolve_separable(view_of(picture), sobel_mask<std::int32_t>(radius, along_x),
                                  border.ours, ours.view());
          const auto theirs = [&](int depth) {
            cv::Mat derivative;
            cv::Sobel(picture, derivative, depth, along_x, !along_x, 2 * radius + 1, 1, 0,
                      border.theirs);
            return derivative;
          };
          EXPECT_TRUE(same(ours.view(), view_as<double>(theirs(CV_64F))));
          if (radius <= 4) {
            EXPECT_TRUE(same(ours.view(), view_as<float>(theirs(CV_32F))));
          }
          if (radius <= 2) {
            EXPECT_TRUE(same(ours.view(), view_as<std::int16_t>(theirs(CV_16S))));
          }
        }
      });
}

// ---- windows

TEST(OracleFilters, BoxFilter) {
  cv::RNG random(6);
  for_each_case(15, [&](const cv::Mat& picture, int r, const SameBorder& border) {
    const Radius radius{r, random.uniform(0, 16)};
    const cv::Size window(radius.columns(), radius.rows());
    cv::Mat sums, means;
    cv::boxFilter(picture, sums, CV_32S, window, {-1, -1}, false, border.theirs);
    Image<std::int32_t> our_sums(size_of(picture));
    cpu::convolve_separable(view_of(picture), box_mask<std::int32_t>(radius), border.ours,
                            our_sums.view());
    EXPECT_TRUE(same(our_sums.view(), view_as<std::int32_t>(sums)));
    // Windows have an odd number of pixels, so that no mean lies between two pixels.
    cv::boxFilter(picture, means, CV_8U, window, {-1, -1}, true, border.theirs);
    cpu::IntegralImages tables;
    tables.build(view_of(picture), cpu::Powers::pixels, radius);
    Image<std::uint8_t> our_means(size_of(picture));
    cpu::box_mean(tables, radius, border.ours, our_means.view());
    EXPECT_TRUE(same(our_means.view(), view_of(means)));
  });
}

// As the window filters a video's frames: on the grey image that detection makes, too.
TEST(OracleFilters, BoxFilterOfAVideosFrame) {
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (!data) GTEST_SKIP() << "skipped: FACESAT_TEST_DATA names no folder";
  cv::VideoCapture video(std::string(data) + "/video/kphotoalbum_movie.avi");
  cv::Mat frame, gray, means;
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(video.read(frame));
  cv::cvtColor(frame, gray, cv::COLOR_BGR2GRAY);
  const std::unique_ptr<PictureFilter> filter = make_cpu_picture_filter();
  Image<std::uint8_t> result(size_of(gray));
  std::vector<FilterTime> times;
  for (const int radius : {1, 5, 15})
    for (const std::string& algorithm : filter->algorithms(FilterKind::box, radius)) {
      filter->apply(view_of(gray), {.radius = radius, .algorithm = algorithm}, result.view(),
                    times);
      cv::boxFilter(gray, means, CV_8U, {2 * radius + 1, 2 * radius + 1});
      EXPECT_TRUE(same(result.view(), view_of(means))) << radius << ", " << algorithm;
    }
}

// The variance from OpenCV's sums of pixels and of squares, which are exact in double.
TEST(OracleFilters, Variance) {
  for_each_case(15, [](const cv::Mat& picture, int r, const SameBorder& border) {
    const cv::Size window(2 * r + 1, 2 * r + 1);
    cv::Mat sums, squares;
    cv::boxFilter(picture, sums, CV_64F, window, {-1, -1}, false, border.theirs);
    cv::sqrBoxFilter(picture, squares, CV_64F, window, {-1, -1}, false, border.theirs);
    Image<float> expected(size_of(picture)), ours(size_of(picture));
    const double pixels = window.area();
    for (int y = 0; y < picture.rows; ++y)
      for (int x = 0; x < picture.cols; ++x) {
        const double sum = sums.at<double>(y, x);
        expected.row(y)[x] =
            static_cast<float>((pixels * squares.at<double>(y, x) - sum * sum) / (pixels * pixels));
      }
    cpu::IntegralImages tables;
    tables.build(view_of(picture), cpu::Powers::squares, {r, r});
    cpu::variance(tables, {r, r}, border.ours, ours.view());
    EXPECT_TRUE(same(ours.view(), expected.view()));
  });
}

TEST(OracleFilters, AdaptiveThreshold) {
  for_each_case(15, [](const cv::Mat& picture, int radius, const SameBorder& border) {
    if (border.theirs != cv::BORDER_REPLICATE) return;  // OpenCV has no other
    cpu::IntegralImages tables;
    tables.build(view_of(picture), cpu::Powers::pixels, {radius, radius});
    for (const int offset : {-300, -17, -1, 0, 1, 5, 40, 300}) {
      cv::Mat theirs;
      cv::adaptiveThreshold(picture, theirs, 255, cv::ADAPTIVE_THRESH_MEAN_C, cv::THRESH_BINARY,
                            2 * radius + 1, offset);
      Image<std::uint8_t> ours(size_of(picture));
      cpu::adaptive_threshold(tables, view_of(picture), {radius, radius}, border.ours, offset,
                              ours.view());
      EXPECT_TRUE(same(ours.view(), view_of(theirs))) << "offset " << offset;
    }
  });
}

}  // namespace
}  // namespace facesat::test
