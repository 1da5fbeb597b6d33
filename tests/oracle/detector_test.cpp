// The promise of the project: the same windows and faces as cv::CascadeClassifier on one thread, in
// the same order, for every cascade of Debian's opencv-data, every picture and a grid of
// parameters; and for random cascades: every rule of evaluation, and every position of the grid for
// all small sizes, which trained cascades on a few pictures hardly cover.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/kit/cascades.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/oracle/opencv.hpp"

namespace facesat::test {
namespace {

// Counts over the whole run, reported at its end.
struct Tally : ::testing::Environment {
  static inline std::size_t compared = 0, with_windows = 0, mismatches = 0;
  void TearDown() override {
    fmt::print(
        "oracle: {} configurations compared with OpenCV {}, {} of them with detections, {} "
        "mismatches\n",
        compared, CV_VERSION, with_windows, mismatches);
  }
};
const auto* const tally = ::testing::AddGlobalTestEnvironment(new Tally);

// One cascade in both detectors.
struct Pair {
  explicit Pair(const std::filesystem::path& file)
      : opencv(file.string()), cascade(std::make_shared<Cascade>(load_cascade(file))) {}

  void compare(const NamedPicture& picture, const DetectOptions& options) {
    const std::vector<Rect> theirs = detect_opencv(opencv, picture.gray, options);
    on_every_instruction_set([&] { compare(picture, options, theirs); });
  }

  // Enough for photographs, where OpenCV's detector and the scalar code take minutes: that all
  // instruction sets give the same windows is seen on smaller pictures.
  void compare_in_turn(const NamedPicture& picture, const DetectOptions& options) {
    const std::vector<Rect> theirs = detect_opencv(opencv, picture.gray, options);
    on_instruction_sets_in_turn([&] { compare(picture, options, theirs); });
  }

  void compare(const NamedPicture& picture, const DetectOptions& options,
               const std::vector<Rect>& theirs) const {
    FrameDetector detector(cascade, options, make_cpu_backend());
    const std::vector<Rect> ours = boxes(detector.detect(view_of(picture.gray)));
    ++Tally::compared;
    Tally::with_windows += !theirs.empty();
    Tally::mismatches += ours != theirs;
    EXPECT_EQ(ours, theirs) << cascade->name << " on " << picture.name << ", factor "
                            << options.scale_factor << ", neighbours " << options.min_neighbors
                            << ", min " << options.min_size.width << "x" << options.min_size.height
                            << ", max " << options.max_size.width << "x" << options.max_size.height;
  }

  cv::CascadeClassifier opencv;
  std::shared_ptr<const Cascade> cascade;
};

class Oracle : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  Pair pair{GetParam()};
};

TEST_P(Oracle, GeneratedPictures) {
  std::size_t n = 0;
  for (const NamedPicture& picture : generated_pictures())
    for (const double factor : factors)
      for (const int minimum : neighbors) {
        const SizeLimits& limits = size_limits[n++ % std::size(size_limits)];
        pair.compare(picture, {factor, minimum, limits.low, limits.high});
      }
}

TEST_P(Oracle, Photographs) {
  const std::vector<NamedPicture> pictures = photographs(320 * 240);
  if (pictures.empty())
    GTEST_SKIP() << "skipped: neither FACESAT_ALBUM nor FACESAT_TEST_DATA names a folder";
  std::size_t n = 0;
  for (const NamedPicture& picture : pictures) {
    pair.compare_in_turn(picture, {1.1, 0, {}, {}});
    for (int i = 0; i < 2; ++i, ++n) {
      // 20: pairs of a factor and a minimum of neighbours, before the next limits.
      const SizeLimits& limits = size_limits[n / 20 % std::size(size_limits)];
      pair.compare_in_turn(picture, {factors[n % 5], neighbors[n % 4], limits.low, limits.high});
    }
  }
}

// The largest score and the number of windows of each face equal those that OpenCV reports.
TEST_P(Oracle, ScoresAndNeighbors) {
  std::vector<NamedPicture> pictures = photographs(320 * 240);
  pictures.resize(std::min<std::size_t>(pictures.size(), 12));
  pictures.push_back(generated_pictures()[14]);  // the drawn faces
  for (const NamedPicture& picture : pictures) {
    const DetectOptions options{1.1, 2, {}, {}};
    FrameDetector detector(pair.cascade, options, make_cpu_backend());
    std::vector<std::pair<Rect, int>> our_counts, their_counts;
    std::vector<std::pair<Rect, double>> our_scores, their_scores;
    cv::setNumThreads(1);
    for (const Face& face : detector.detect(view_of(picture.gray))) {
      our_counts.emplace_back(face.box, face.neighbors);
      our_scores.emplace_back(face.box, face.score);
    }
    std::vector<cv::Rect> rects;
    std::vector<int> counts, levels;
    std::vector<double> weights;
    pair.opencv.detectMultiScale(picture.gray, rects, counts, 1.1, 2);
    for (std::size_t i = 0; i < rects.size(); ++i)
      their_counts.emplace_back(from_cv(rects[i]), counts[i]);
    pair.opencv.detectMultiScale(picture.gray, rects, levels, weights, 1.1, 2, 0, {}, {}, true);
    for (std::size_t i = 0; i < rects.size(); ++i)
      their_scores.emplace_back(from_cv(rects[i]), weights[i]);
    EXPECT_EQ(our_counts, their_counts) << picture.name;
    EXPECT_EQ(our_scores, their_scores) << picture.name;
  }
}

// In the whole portrait, thousands of windows pass the smile cascade, some of them only just: the
// result depends on the margin of 1e-5, and on whether low-variance windows count as rejected by
// the first stage.
TEST(OracleCases, SmilesOnPortraits) {
  Pair smile(std::filesystem::path(FACESAT_CASCADE_DIR) / "haarcascades/haarcascade_smile.xml");
  std::size_t compared = 0;
  for (const NamedPicture& picture : photographs(640 * 640))
    if (picture.name == "grace_hopper.jpg" || picture.name == "anne_helene.jpg" ||
        picture.name == "jesper_2.jpg") {
      smile.compare_in_turn(picture, {1.1, 0});
      smile.compare_in_turn(picture, {1.05, 0});
      ++compared;
    }
  if (compared == 0) GTEST_SKIP() << "skipped: FACESAT_ALBUM names no folder with the demo album";
}

// A 4K picture, whose larger levels consist of many tiles.
TEST(OracleCases, LargePicture) {
  const char* data = std::getenv("FACESAT_TEST_DATA");
  if (!data) GTEST_SKIP() << "skipped: FACESAT_TEST_DATA names no folder";
  const NamedPicture mosaic{"mosaic", cv::imread(std::string(data) + "/bench/mosaic_3840x2160.png",
                                                 cv::IMREAD_GRAYSCALE)};
  ASSERT_FALSE(mosaic.gray.empty());
  for (const char* name :
       {"haarcascades/haarcascade_frontalface_default", "haarcascades/haarcascade_frontalface_alt2",
        "lbpcascades/lbpcascade_frontalface"}) {
    Pair pair(std::filesystem::path(FACESAT_CASCADE_DIR) / (std::string(name) + ".xml"));
    pair.compare_in_turn(mosaic, {1.1, 3});
  }
}

INSTANTIATE_TEST_SUITE_P(OpenCv, Oracle, ::testing::ValuesIn(opencv_cascade_files()),
                         [](const auto& tested) { return tested.param.stem().string(); });

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

// Every visited position gives a window.
TEST(OracleGrid, OfEverySmallSize) {
  Both both(half_cascade({8, 9}, 1, 1, 0));
  cv::RNG random(1);
  std::size_t windows = 0;
  for (int width = 7; width <= 110; ++width)
    for (int height = 8; height <= 34; ++height)
      windows += both.compare(random_picture({width, height}, random),
                              {.scale_factor = 1.37, .min_neighbors = 0});
  EXPECT_GT(windows, 100'000u);
}

TEST(OracleGrid, OfRandomSizesWithinRandomLimits) {
  Both both(half_cascade({8, 9}, 1, 1, 0));
  cv::RNG random(2);
  const auto side = [&] { return random.uniform(0, 40); };
  for (int i = 0; i < 3000; ++i)
    both.compare(random_picture({random.uniform(1, 120), random.uniform(1, 60)}, random),
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
    cv::GaussianBlur(random_picture(size, random), soft, {}, random.uniform(0.5, 2.0));
    windows += both.compare(soft, options);
    windows += both.compare(random_picture(size, random), options);
    windows += both.compare(random_picture(size, random, 100, 136), options);
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
          random_picture({cascade.window.width * 5 / 4 + 40, cascade.window.height * 5 / 4 + 40},
                         random),
          soft, {}, 4);
      cv::normalize(soft, soft, 0, 255, cv::NORM_MINMAX);
      windows += both.compare(soft, {.scale_factor = 1.15, .min_neighbors = 0});
    }
    EXPECT_GT(windows, 50u) << across << " x " << down;
  }
}

INSTANTIATE_TEST_SUITE_P(OpenCv, OracleRandom, ::testing::ValuesIn(cascade_shapes),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace facesat::test
