// The public train(), on images in memory.
#include <cmath>
#include <stdexcept>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "facesat.hpp"
#include "tests/kit/drawn_letter.hpp"
#include "tests/kit/messages.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

constexpr Size letter_size{10, 9};
const BackendOptions on_cpu{.choice = BackendChoice::cpu};

ImageView view_of(const Image<std::uint8_t>& gray) {
  return {.pixels = gray.row(0),
          .size = gray.size(),
          .pitch = gray.view().pitch,
          .format = PixelFormat::gray};
}

// Letters, and pictures without.
struct Letters {
  Letters() {
    for (unsigned i = 0; i < 60; ++i) crops.push_back(drawn_letter(letter_size, i));
    for (unsigned i = 0; i < 5; ++i)
      photos.push_back(clouds({90 + 11 * static_cast<int>(i), 70}, i, 2));
    for (const Image<std::uint8_t>& crop : crops) positives.push_back({view_of(crop)});
    for (const Image<std::uint8_t>& photo : photos) negatives.push_back({view_of(photo)});
  }

  Training run(const OnStage& on_stage = {}, const ShouldStop& should_stop = {},
               const std::shared_ptr<const Cascade>& from = {}) const {
    return train(positives, negatives, samples, options, on_cpu, on_stage, should_stop, from);
  }

  std::vector<Image<std::uint8_t>> crops, photos;
  std::vector<TrainingImage> positives, negatives;
  SampleOptions samples{.window = letter_size};
  TrainOptions options{
      .stages = 3, .hit_rate = 0.97, .false_alarms = 0.3, .goal = 1e-9, .trees = 4};
};

class LibraryTraining : public Letters, public ::testing::Test {};

TEST_F(LibraryTraining, MakesACascadeThatFinds) {
  const Training training = run();
  const CascadeInfo info = info_of(*training.cascade);
  EXPECT_EQ(info.stages, 3);
  EXPECT_EQ(info.window, letter_size);
  EXPECT_EQ(training.ending, "all 3 stages are trained");
  EXPECT_TRUE(training.warnings.empty());
  ASSERT_EQ(training.stages.size(), 3u);
  int trees = 0;
  for (int i = 0; i < 3; ++i) {
    const TrainedStage& stage = training.stages[i];
    EXPECT_EQ(stage.number, i);
    EXPECT_EQ(info_of(*stage.cascade).stages, i + 1);
    EXPECT_LE(stage.positives, 54u);
    EXPECT_GE(stage.hit_rate, 0.97);
    EXPECT_EQ(stage.negatives, stage.positives);
    EXPECT_GT(stage.seconds, 0);
    trees += stage.trees;
  }
  EXPECT_EQ(info.trees, trees);

  Image<std::uint8_t> scene = clouds({80, 60}, 77, 2);
  const Image<std::uint8_t> letter = drawn_letter(letter_size, 99);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 10; ++x) scene.row(20 + y)[30 + x] = letter.row(y)[x];
  const auto read_again = cascade_from_bytes(cascade_to_xml(*training.cascade, "a comment"));
  const Detector detector({read_again}, {.min_neighbors = 0}, on_cpu);
  bool is_found = false;
  for (const Face& face : detector.detect(view_of(scene)).faces)
    is_found |= face.box == Rect{30, 20, 10, 9};
  EXPECT_TRUE(is_found);
}

TEST_F(LibraryTraining, IsTheSameForAnyNumberOfThreads) {
  samples.copies = 1;
  samples.shift = 0.1;
  samples.mirror = true;
  const std::string several = cascade_to_xml(*run().cascade);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(cascade_to_xml(*run().cascade), several);
  samples.seed = 2;
  EXPECT_NE(cascade_to_xml(*run().cascade), several);
}

TEST_F(LibraryTraining, UsesImagesForBoth) {
  for (std::size_t i = 0; i < photos.size(); ++i) {
    std::vector<Rect> boxes;
    for (int k = 0; k < 4; ++k) {
      const Image<std::uint8_t> letter =
          drawn_letter(letter_size, static_cast<unsigned>(i * 4 + k));
      const Rect box{2 + 20 * k, 30, 10, 9};
      boxes.push_back(box);
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 10; ++x) photos[i].row(box.y + y)[box.x + x] = letter.row(y)[x];
    }
    negatives[i] = {view_of(photos[i]), boxes};
  }
  const Training from_both = train(negatives, negatives, samples, options, on_cpu);
  EXPECT_EQ(from_both.stages[0].positives, 18u);
  EXPECT_EQ(from_both.stages[0].hit_rate, 1);
}

TEST_F(LibraryTraining, EndsWhereItIsToldAndGoesOnFromThere) {
  const Training whole = run();
  std::vector<int> told;
  const Training ended = run([&](const TrainedStage& stage) {
    told.push_back(stage.number);
    return stage.number < 1;
  });
  EXPECT_EQ(told, (std::vector<int>{0, 1}));
  EXPECT_EQ(ended.ending, "ended after stage 1");
  EXPECT_EQ(cascade_to_xml(*ended.cascade), cascade_to_xml(*whole.stages[1].cascade));

  const Training longer = run({}, {}, ended.cascade);
  ASSERT_EQ(longer.stages.size(), 1u);
  EXPECT_EQ(longer.stages[0].number, 2);
  EXPECT_EQ(info_of(*longer.cascade).stages, 3);
  EXPECT_THROW(run({}, [] { return true; }), Stopped);
  EXPECT_THROW(run([](const TrainedStage&) -> bool { throw std::runtime_error("enough"); }),
               std::runtime_error);
}

TEST_F(LibraryTraining, ReadsColourAsTheDetectorDoes) {
  const std::string gray = cascade_to_xml(*run().cascade);
  std::vector<Image<Bgr>> coloured_crops;
  for (const Image<std::uint8_t>& crop : crops) coloured_crops.emplace_back(coloured(crop.view()));
  for (std::size_t i = 0; i < crops.size(); ++i)
    positives[i].image = image_view(coloured_crops[i].view());
  EXPECT_EQ(cascade_to_xml(*run().cascade), gray);
}

TEST_F(LibraryTraining, MistakesAreNamed) {
  const auto with = [&](auto change) {
    Letters changed;
    change(changed);
    return message_of<ArgumentError>([&] { changed.run(); });
  };
  EXPECT_EQ(with([](auto& t) { t.options.hit_rate = 1.5; }),
            "hit_rate: expected a number from 0.5 to 1, not 1.5");
  EXPECT_EQ(with([](auto& t) { t.options.false_alarms = std::nan(""); }),
            "false_alarms: expected a number from 1e-06 to 1, not nan");
  EXPECT_EQ(with([](auto& t) { t.options.bins = 1; }),
            "bins: expected 0 or a whole number from 2 to 256, not 1");
  EXPECT_EQ(with([](auto& t) { t.samples.copies = -1; }),
            "copies: expected a whole number from 0 to 10000, not -1");
  EXPECT_EQ(with([](auto& t) {
              t.samples.window = {2, 9};
            }),
            "window: expected sides from 3 to 1000, not 2x9");
  EXPECT_TRUE(has(with([](auto& t) { t.positives.resize(9); }),
                  "8 positives to learn from (1 held out): too few"));
  EXPECT_EQ(with([](auto& t) { t.negatives.clear(); }),
            "there are no images to look for negatives in");
  EXPECT_EQ(with([](auto& t) {
              t.positives[3].objects = {{40, 2, 5, 5}};
            }),
            "image 3: the box 40 2 5 5 lies outside its 10x9 pixels");
  EXPECT_EQ(with([](auto& t) { t.positives[3].image = {}; }), "image 3 is empty");
  EXPECT_TRUE(has(with([](auto& t) {
                    t.samples.window = {120, 90};
                    t.options.features = FeatureSet::lbp;
                  }),
                  "less than the window"));
  const auto other_kind = find_cascade("frontalface_default");
  EXPECT_TRUE(has(message_of<ArgumentError>([&] { run({}, {}, other_kind); }),
                  "a cascade of haar features in windows of 24x24"));
}

}  // namespace
}  // namespace facesat::test
