// Screens on GPUs: what is trained does not depend on the device.
#include "kernels/boosting/cuda_screen.hpp"

#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "boosting/stage_trainer.hpp"
#include "kernels/device/gpu_info.hpp"
#include "tests/kit/drawn_nodes.hpp"

namespace facesat::test {
namespace {

std::vector<int> all_devices() {
  std::vector<int> devices;
  for (const DeviceInfo& device : gpu::devices()) devices.push_back(device.id);
  return devices;
}

void expect_same(const std::vector<training::TrainedTree>& trees,
                 const std::vector<training::TrainedTree>& expected) {
  ASSERT_EQ(trees.size(), expected.size());
  for (std::size_t t = 0; t < trees.size(); ++t) {
    ASSERT_EQ(trees[t].leaves, expected[t].leaves) << "tree " << t;
    ASSERT_EQ(trees[t].nodes.size(), expected[t].nodes.size()) << "tree " << t;
    for (std::size_t n = 0; n < trees[t].nodes.size(); ++n) {
      const Node &a = trees[t].nodes[n], &b = expected[t].nodes[n];
      EXPECT_EQ(a.feature, b.feature) << "tree " << t;
      EXPECT_EQ(a.threshold, b.threshold) << "tree " << t;
      EXPECT_EQ(a.subset, b.subset) << "tree " << t;
    }
  }
}

std::vector<training::TrainedTree> trained(const training::FeaturePool& pool,
                                           const training::StageSamples& samples,
                                           training::StageOptions options,
                                           const training::MakeScreen& make_screen) {
  options.make_screen = make_screen;
  training::StageTrainer trainer(pool, samples, options);
  for (int tree = 0; tree < 6 && trainer.train_tree();) ++tree;
  return trainer.trees();
}

TEST(CudaScreen, TrainsTheTreesOfTheCpu) {
  const std::vector<int> devices = all_devices();
  std::size_t trees = 0;
  for (const auto& [set, window, count] : {std::tuple{FeatureSet::haar_basic, Size{14, 12}, 900},
                                           {FeatureSet::haar_all, {8, 9}, 2800},
                                           {FeatureSet::lbp, {16, 15}, 1500}}) {
    const training::FeaturePool pool = training::make_pool(set, window);
    const training::StageSamples samples{.positives = mixed_samples(window, count / 2, 1),
                                         .negatives = mixed_samples(window, count, 2),
                                         .held_out_positives = mixed_samples(window, 50, 3),
                                         .held_out_negatives = mixed_samples(window, 60, 4)};
    for (const Boosting boosting :
         {Boosting::gentle, Boosting::real, Boosting::discrete, Boosting::logit})
      for (const int depth : {1, 3})
        for (const int bins : {0, 100}) {
          SCOPED_TRACE(testing::Message()
                       << pool.count() << " features, boosting " << static_cast<int>(boosting)
                       << ", depth " << depth << ", bins " << bins);
          const training::StageOptions options{
              .boosting = boosting, .max_false_alarm = 0, .depth = depth, .bins = bins};
          const auto expected = trained(pool, samples, options, training::make_cpu_screen);
          expect_same(trained(pool, samples, options, gpu::make_cuda_screens({0})), expected);
          if (depth == 1)  // most bins are computed again for each node
            expect_same(trained(pool, samples, options, gpu::make_cuda_screens({0}, 1 << 20)),
                        expected);
          if (devices.size() > 1)
            expect_same(trained(pool, samples, options, gpu::make_cuda_screens(devices)), expected);
          trees += expected.size();
        }
  }
  EXPECT_GT(trees, 200u);
}

}  // namespace
}  // namespace facesat::test
