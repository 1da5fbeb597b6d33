// Cascades that training has just made: OpenCV loads their files, and finds the same windows and
// faces.
#include <filesystem>
#include <memory>

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include "datasets/negatives.hpp"
#include "datasets/training_folder.hpp"
#include "media/codec.hpp"
#include "tests/kit/drawn_letter.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/oracle/opencv.hpp"
#include "training/trainer.hpp"

namespace facesat::test {
namespace {

namespace fs = std::filesystem;

struct TrainedCase {
  const char* name;
  FeatureSet features;
  Boosting boosting;
  int depth, stages;

  friend void PrintTo(const TrainedCase& one, std::ostream* out) { *out << one.name; }
};

// Clouds, with letters of several sizes.
cv::Mat scene(int index) {
  const Image<std::uint8_t> ground =
      test::clouds({150 + 9 * index, 110}, 50u + static_cast<unsigned>(index), 2);
  cv::Mat picture(ground.size().height, ground.size().width, CV_8UC1);
  for (int y = 0; y < picture.rows; ++y)
    std::copy_n(ground.row(y), picture.cols, picture.ptr<std::uint8_t>(y));
  for (int i = 0; i < 3; ++i) {
    const Image<std::uint8_t> letter =
        drawn_letter({12, 11}, static_cast<unsigned>(100 * index + i));
    const cv::Mat small(11, 12, CV_8UC1, const_cast<std::uint8_t*>(letter.row(0)),
                        static_cast<std::size_t>(letter.view().pitch));
    const cv::Rect place(10 + 45 * i, 20 + 9 * i, 12 * (i + 2) / 2, 11 * (i + 2) / 2);
    cv::resize(small, picture(place), place.size(), 0, 0, cv::INTER_LINEAR);
  }
  return picture;
}

class OracleTrained : public ::testing::TestWithParam<TrainedCase> {
 protected:
  OracleTrained()
      : folder_(fs::path(::testing::TempDir()) / (std::string("trained_") + GetParam().name)) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~OracleTrained() override { fs::remove_all(folder_); }

  // Returns the cascade's file.
  fs::path train() const {
    constexpr Size window{12, 11};
    training::NegativeSources backgrounds;
    for (int i = 0; i < 4; ++i) {
      backgrounds.inputs.push_back((folder_ / (std::to_string(i) + ".png")).string());
      const Image<std::uint8_t> ground = test::clouds({130, 90}, static_cast<unsigned>(i), 2);
      write_picture(backgrounds.inputs.back(), coloured(ground.view()).view());
    }
    const training::FeaturePool pool = training::make_pool(GetParam().features, window);
    training::TrainingSets sets{
        .positives = {.window = window, .pixels = {}},
        .held_out_positives = {.window = window, .pixels = {}},
        .negatives = training::open_mine(std::make_shared<training::Negatives>(backgrounds), {})};
    for (unsigned i = 0; i < 200; ++i) sets.positives.add(drawn_letter(window, i).view());
    training::TrainingOptions options{
        .features = GetParam().features, .stages = GetParam().stages, .goal = 1e-9};
    options.stage.boosting = GetParam().boosting;
    options.stage.depth = GetParam().depth;
    options.stage.max_trees = 3;
    options.stage.max_false_alarm = 0.5;
    Cascade none;
    none.kind = pool.kind;
    none.window = window;
    training::TrainingObserver silent;
    const fs::path file = folder_ / "cascade.xml";
    training::TrainingFolder store(folder_ / "state", file, "made by\na test -- of <this>");
    const Cascade cascade = training::train(pool, none, sets, options, store, silent, {}).cascade;
    EXPECT_EQ(std::ssize(cascade.stages), GetParam().stages);
    return file;
  }

  fs::path folder_;
};

TEST_P(OracleTrained, OpenCvFindsTheSame) {
  const fs::path file = train();
  cv::CascadeClassifier opencv;
  ASSERT_TRUE(opencv.load(file.string()));
  const auto ours = std::make_shared<const Cascade>(load_cascade(file));
  EXPECT_EQ(opencv.getOriginalWindowSize(), to_cv(ours->window));
  std::size_t windows = 0, faces = 0;
  for (int i = 0; i < 5; ++i) {
    const cv::Mat picture = scene(i);
    for (const double factor : {1.1, 1.37})
      for (const int neighbours : {0, 2}) {
        const DetectOptions options{.scale_factor = factor, .min_neighbors = neighbours};
        const std::vector<Rect> theirs = detect_opencv(opencv, picture, options);
        FrameDetector detector(ours, options, make_cpu_backend());
        on_every_instruction_set(
            [&] { EXPECT_EQ(boxes(detector.detect(view_of(picture))), theirs) << i; });
        (neighbours == 0 ? windows : faces) += theirs.size();
      }
  }
  EXPECT_GT(windows, 100u);
  EXPECT_GT(faces, 5u);
}

INSTANTIATE_TEST_SUITE_P(
    OpenCv, OracleTrained,
    ::testing::Values(TrainedCase{"HaarTrees", FeatureSet::haar_basic, Boosting::gentle, 2, 3},
                      TrainedCase{"TiltedHaar", FeatureSet::haar_all, Boosting::logit, 1, 3},
                      TrainedCase{"CoreHaarTrees", FeatureSet::haar_core, Boosting::discrete, 3, 3},
                      TrainedCase{"Lbp", FeatureSet::lbp, Boosting::gentle, 1, 3},
                      TrainedCase{"LbpTrees", FeatureSet::lbp, Boosting::real, 2, 1}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace facesat::test
