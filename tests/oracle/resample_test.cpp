// Pictures in another size, beside OpenCV's.
#include "results/resample.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

namespace facesat::test {
namespace {

View<const Bgr> view_of(const cv::Mat& picture) {
  return {reinterpret_cast<const Bgr*>(picture.data), {picture.cols, picture.rows}, picture.cols};
}

cv::Mat noise(int width, int height) {
  static cv::RNG random(7);
  cv::Mat picture(height, width, CV_8UC3);
  random.fill(picture, cv::RNG::UNIFORM, 0, 256);
  return picture;
}

void expect_same(const Image<Bgr>& ours, const cv::Mat& theirs) {
  ASSERT_EQ(ours.size(), (Size{theirs.cols, theirs.rows}));
  int wrong = 0;
  for (int y = 0; y < theirs.rows; ++y)
    for (int x = 0; x < theirs.cols; ++x) {
      const Bgr a = ours.row(y)[x];
      wrong += cv::Vec3b(a.b, a.g, a.r) != theirs.at<cv::Vec3b>(y, x);
    }
  EXPECT_EQ(wrong, 0) << theirs.cols << "x" << theirs.rows;
}

TEST(Resample, EnlargesAsOpenCvDoes) {
  for (const cv::Size from : {cv::Size(1, 1), {2, 3}, {24, 24}, {53, 31}})
    for (const cv::Size to : {cv::Size(256, 256), {53, 40}, {100, 1000}}) {
      if (to.width < from.width || to.height < from.height) continue;
      const cv::Mat picture = noise(from.width, from.height);
      cv::Mat theirs;
      cv::resize(picture, theirs, to, 0, 0, cv::INTER_LINEAR_EXACT);
      expect_same(
          resampled(view_of(picture), {0, 0, from.width, from.height}, {to.width, to.height}),
          theirs);
    }
}

// By odd factors, and by 2, OpenCV's rounding is exact, too.
TEST(Resample, ShrinksAsOpenCvDoes) {
  for (const cv::Size factor : {cv::Size(2, 2), {3, 3}, {5, 5}, {3, 5}, {1, 7}}) {
    const cv::Size to(37, 21);
    const cv::Mat picture = noise(to.width * factor.width, to.height * factor.height);
    cv::Mat theirs;
    cv::resize(picture, theirs, to, 0, 0, cv::INTER_AREA);
    expect_same(
        resampled(view_of(picture), {0, 0, picture.cols, picture.rows}, {to.width, to.height}),
        theirs);
  }
}

TEST(Resample, RepeatsTheEdgesBeyondThePicture) {
  const cv::Mat picture = noise(20, 10);
  cv::Mat padded;
  cv::copyMakeBorder(picture, padded, 7, 12, 5, 31, cv::BORDER_REPLICATE);
  const Rect region{-5, -7, padded.cols, padded.rows};
  expect_same(resampled(view_of(picture), region, {padded.cols, padded.rows}), padded);
  cv::Mat theirs;
  cv::resize(padded, theirs, {100, 50}, 0, 0, cv::INTER_LINEAR_EXACT);
  expect_same(resampled(view_of(picture), region, {100, 50}), theirs);
}

TEST(Resample, MakesBlocks) {
  const cv::Mat picture = noise(4, 4);
  cv::Mat theirs;
  cv::resize(picture, theirs, {40, 24}, 0, 0, cv::INTER_NEAREST);
  expect_same(resampled(view_of(picture), {0, 0, 4, 4}, {40, 24}, Enlarging::blocks), theirs);
}

}  // namespace
}  // namespace facesat::test
