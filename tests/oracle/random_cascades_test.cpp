// Random cascades against OpenCV: every rule of evaluation, and every position of the grid for all
// small sizes, which trained cascades on a few pictures hardly cover.
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include "tests/kit/cascades.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/oracle/opencv_adapter.hpp"

namespace facesat::test {
namespace {

// One cascade, read from the same text by OpenCV and by us.
class Both {
 public:
  explicit Both(const Cascade& cascade) {
    const std::string xml = to_xml(cascade);
    const cv::FileStorage storage(xml, cv::FileStorage::READ | cv::FileStorage::MEMORY);
    EXPECT_TRUE(opencv_.read(storage.getFirstTopLevelNode()));
    ours_ = std::make_shared<Cascade>(parse_cascade(xml, "random"));
  }

  // Expects the same windows from both; returns their number.
  std::size_t compare(const cv::Mat& gray, const DetectOptions& options) {
    FrameDetector detector(ours_, options, make_cpu_backend());
    const std::vector<Rect> theirs = detect_opencv(opencv_, gray, options);
    on_every_instruction_set(
        [&] { EXPECT_EQ(boxes(detector.detect(view_of(gray))), theirs) << gray.size(); });
    return theirs.size();
  }

 private:
  cv::CascadeClassifier opencv_;
  std::shared_ptr<const Cascade> ours_;
};

cv::Mat noise(cv::Size size, cv::RNG& random, int low = 0, int high = 256) {
  cv::Mat picture(size, CV_8UC1);
  random.fill(picture, cv::RNG::UNIFORM, low, high);
  return picture;
}

// Every visited position gives a window.
TEST(OracleGrid, OfEverySmallSize) {
  Both both(half_cascade({8, 9}, 1, 1, 0));
  cv::RNG random(1);
  std::size_t windows = 0;
  for (int width = 7; width <= 110; ++width)
    for (int height = 8; height <= 34; ++height)
      windows +=
          both.compare(noise({width, height}, random), {.scale_factor = 1.37, .min_neighbors = 0});
  EXPECT_GT(windows, 100'000u);
}

TEST(OracleGrid, OfRandomSizesWithinRandomLimits) {
  Both both(half_cascade({8, 9}, 1, 1, 0));
  cv::RNG random(2);
  const auto side = [&] { return random.uniform(0, 40); };
  for (int i = 0; i < 3000; ++i)
    both.compare(noise({random.uniform(1, 120), random.uniform(1, 60)}, random),
                 {.scale_factor = random.uniform(1.02, 2.5),
                  .min_neighbors = random.uniform(0, 3),
                  .min_size = {side(), side()},
                  .max_size = {side(), side()}});
}

class OracleRandom : public ::testing::TestWithParam<NamedShape> {};

TEST_P(OracleRandom, CascadesFindTheSameWindows) {
  cv::RNG random(3);
  std::size_t windows = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Both both(random_cascade(seed, GetParam().shape));
    const DetectOptions options{.scale_factor = random.uniform(1.05, 1.8), .min_neighbors = 0};
    const cv::Size size(random.uniform(20, 90), random.uniform(20, 90));
    cv::Mat soft;
    cv::GaussianBlur(noise(size, random), soft, {}, random.uniform(0.5, 2.0));
    windows += both.compare(soft, options);
    windows += both.compare(noise(size, random), options);
    windows += both.compare(noise(size, random, 100, 136), options);
  }
  EXPECT_GT(windows, 60'000u);
}

// Windows up to the largest Haar windows, and LBP windows far beyond them.
TEST(OracleRandomCascades, HaveLargeWindows) {
  cv::RNG random(6);
  for (const auto& [kind, across, down] : {std::tuple{FeatureKind::haar, 16, 16},
                                           {FeatureKind::haar, 70, 3},
                                           {FeatureKind::haar, 1, 300},
                                           {FeatureKind::lbp, 30, 30},
                                           {FeatureKind::lbp, 600, 2},
                                           {FeatureKind::lbp, 3, 400}}) {
    std::size_t windows = 0;
    for (unsigned seed = 0; seed < 6; ++seed) {
      const Cascade cascade =
          enlarged(random_cascade(seed, {.kind = kind, .tree_factor = 30}), across, down);
      Both both(cascade);
      cv::Mat soft;
      cv::GaussianBlur(
          noise({cascade.window.width * 5 / 4 + 40, cascade.window.height * 5 / 4 + 40}, random),
          soft, {}, 4);
      cv::normalize(soft, soft, 0, 255, cv::NORM_MINMAX);
      windows += both.compare(soft, {.scale_factor = 1.15, .min_neighbors = 0});
    }
    EXPECT_GT(windows, 50u) << across << " x " << down;
  }
}

INSTANTIATE_TEST_SUITE_P(OpenCv, OracleRandom, ::testing::ValuesIn(cascade_shapes),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace facesat::test
