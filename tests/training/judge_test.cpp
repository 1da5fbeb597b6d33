#include "training/judge.hpp"

#include <gtest/gtest.h>

#include "core/backend.hpp"
#include "tests/kit/cascades.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/reference.hpp"
#include "training/window_positions.hpp"

namespace facesat::training {
namespace {

// The windows of all levels of a picture, cut out, in the order of their numbers.
Samples all_windows(View<const std::uint8_t> picture, const WindowPositions& positions) {
  Samples samples{positions.pyramid().window, {}};
  Image<std::uint8_t> window(samples.window);
  for (std::uint64_t number = 0; number < positions.count(); ++number) {
    positions.cut(picture, positions.place(number), window.view());
    samples.add(window.view());
  }
  return samples;
}

// The detector's windows, with their scores, are those that pass.
void expect_as_detector(const Cascade& cascade, View<const std::uint8_t> picture) {
  const WindowPositions positions(picture.size, cascade.window, 1.3);
  const std::unique_ptr<Backend> backend = make_cpu_backend();
  backend->prepare(std::make_shared<Cascade>(cascade), positions.pyramid(),
                   {.scale_factor = 1.3, .min_neighbors = 0, .scan = Scan::dense});
  backend->load(picture);
  backend->run();
  backend->collect();
  std::vector<std::pair<std::uint64_t, double>> found, expected;
  for (const Window& w : backend->windows())
    expected.emplace_back(positions.number({w.level, w.x, w.y}), w.score);

  const Samples samples = all_windows(picture, positions);
  const std::vector<Judgement> judgements = judge(cascade, samples);
  ASSERT_EQ(judgements.size(), positions.count());
  for (std::size_t i = 0; i < judgements.size(); ++i) {
    const test::reference::Judgement by_definition = test::reference::judge(cascade, samples[i]);
    ASSERT_EQ(judgements[i].stages_passed, by_definition.stages_passed) << "window " << i;
    ASSERT_EQ(judgements[i].score, by_definition.score) << "window " << i;
    if (judgements[i].stages_passed == std::ssize(cascade.stages))
      found.emplace_back(i, judgements[i].score);
  }
  EXPECT_EQ(found, expected);
}

class JudgeTest : public ::testing::TestWithParam<test::NamedShape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, JudgeTest, ::testing::ValuesIn(test::cascade_shapes),
                         [](const auto& one) { return one.param.name; });

TEST_P(JudgeTest, IsExactlyTheDetector) {
  const Image<std::uint8_t> picture = test::clouds({41, 33}, 5, 3);
  for (unsigned seed = 1; seed <= 6; ++seed)
    expect_as_detector(test::random_cascade(seed, GetParam().shape), picture.view());
}

TEST(JudgeTest, RejectsLowVarianceBeforeTheFirstStage) {
  const Size window{12, 10};
  const Image<std::uint8_t> flat = test::flat(window, 90);
  const Judge judge(test::half_cascade(window, 1, 1, 0));
  const Judgement result = judge(flat.view());
  EXPECT_EQ(result.stages_passed, -1);
  EXPECT_FALSE(judge.passes(result));
}

TEST(JudgeTest, ManyThreadsCanStop) {
  Samples samples{{12, 10}, {}};
  for (unsigned i = 0; i < 5000; ++i) samples.add(test::noise(samples.window, i).view());
  const Cascade cascade = test::half_cascade(samples.window, 1, 0, 1);
  const std::vector<Judgement> judgements = judge(cascade, samples);
  ASSERT_EQ(judgements.size(), samples.count());
  for (std::size_t i = 0; i < judgements.size(); ++i)
    ASSERT_EQ(judgements[i].score, test::reference::judge(cascade, samples[i]).score);
  EXPECT_THROW(judge(cascade, samples, [] { return true; }), Stopped);
}

}  // namespace
}  // namespace facesat::training
