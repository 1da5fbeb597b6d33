// Error diffusion: every solver gives the halftone of the definition, bit for bit.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/tasks/error_diffusion.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::HalftoneRule;
using gpu::HalftoneTask;

Image<std::uint8_t> collected(HalftoneRule rule, View<const std::uint8_t> picture) {
  Image<std::uint8_t> halftone(picture.size);
  gpu::visit_rule(rule,
                  [&]<class Rule>(Rule) { gpu::collect_errors<Rule>(picture, halftone.view()); });
  return halftone;
}
Image<std::uint8_t> diffused(HalftoneRule rule, View<const std::uint8_t> picture) {
  Image<std::uint8_t> halftone(picture.size);
  gpu::visit_rule(rule,
                  [&]<class Rule>(Rule) { gpu::diffuse_errors<Rule>(picture, halftone.view()); });
  return halftone;
}

std::size_t differences(View<const std::uint8_t> a, View<const std::uint8_t> b) {
  std::size_t count = 0;
  for (int y = 0; y < a.size.height; ++y)
    for (int x = 0; x < a.size.width; ++x) count += a.row(y)[x] != b.row(y)[x];
  return count;
}

TEST(ErrorDiffusion, ThresholdsAreThoseOfTheRules) {
  EXPECT_FALSE(gpu::RealHalftone::round(0.5f, 0.0f).is_white);
  EXPECT_TRUE(gpu::RealHalftone::round(0.50001f, 0.0f).is_white);
  EXPECT_EQ(gpu::RealHalftone::round(0.25f, 1.0f).error, 0.25f + 7.0f / 16 - 1);
  EXPECT_FALSE(gpu::IntegerHalftone::round({128, 15}, 0).is_white);  // 15/16 is lost
  EXPECT_TRUE(gpu::IntegerHalftone::round({128, 9}, 1).is_white);
  EXPECT_EQ(gpu::IntegerHalftone::round({250, 16 * 60}, 0).error, 0);  // at most 255
}

TEST(ErrorDiffusion, CollectionIsDiffusion) {
  for (std::uint32_t pixel = 0; pixel < 256; ++pixel)
    EXPECT_EQ(gpu::RealHalftone::intensity(gpu::pixel_bits + pixel),
              static_cast<float>(pixel) * (1.0f / 255));
  EXPECT_EQ(255 * (1.0f / 255), 1.0f);
  for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
    for (const Size size : {Size{1, 1}, {1, 40}, {40, 1}, {131, 97}, {640, 480}}) {
      const Image<std::uint8_t> picture = noise(size, 3);
      EXPECT_EQ(differences(diffused(rule, picture.view()).view(),
                            collected(rule, picture.view()).view()),
                0u);
    }
}

// Half of the pixels of a picture of grey 127 or 128 become white, about a quarter of one of 64.
TEST(ErrorDiffusion, KeepsTheBrightness) {
  for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
    for (const int grey : {0, 64, 127, 128, 200, 255}) {
      Image<std::uint8_t> picture(Size{200, 200});
      for (int y = 0; y < 200; ++y)
        std::fill_n(picture.row(y), 200, static_cast<std::uint8_t>(grey));
      const Image<std::uint8_t> halftone = collected(rule, picture.view());
      double sum = 0;
      for (int y = 0; y < 200; ++y)
        for (int x = 0; x < 200; ++x) sum += halftone.row(y)[x];
      EXPECT_NEAR(sum / (200 * 200), grey, 1.5);
    }
}

// Twice on one workspace, with a poisoned halftone and guards around it.
void check(HalftoneRule rule, Size size, unsigned seed) {
  const Image<std::uint8_t> picture = noise(size, seed);
  const Image<std::uint8_t> expected = collected(rule, picture.view());
  DevicePicture<std::uint8_t> input(size, 0), output(size, 0);
  input.upload(picture.view());
  const HalftoneTask task{
      rule, size, input.view().data, input.view().pitch, output.view().data, output.view().pitch};
  for (const gpu::HalftoneSolver& solver : gpu::halftone_solvers()) {
    DeviceArray<std::byte> workspace(std::vector<std::byte>(solver.workspace_bytes(task)));
    for (int run = 0; run < 2; ++run) {
      output.clear();
      solver.enqueue(task, workspace.data(), test_stream());
      output.expect(expected.view(), std::string(solver.id) + ", " + std::to_string(size.width) +
                                         " x " + std::to_string(size.height) + ", run " +
                                         std::to_string(run));
    }
  }
}

TEST(ErrorDiffusion, SolversGiveTheHalftoneOfTheDefinition) {
  under_all_schedules([] {
    unsigned seed = 1;
    for (const Size size : {Size{1, 1}, {31, 33}, {32, 32}, {65, 70}, {1, 140}, {130, 1}})
      check(HalftoneRule::real, size, seed++);
    for (const Size size : {Size{3, 2}, {70, 65}}) check(HalftoneRule::integer, size, seed++);
  });
}

TEST(ErrorDiffusion, StripsOfSeveralWarps) {
  under_one_schedule([] {
    check(HalftoneRule::real, {150, 270}, 7);
    check(HalftoneRule::integer, {97, 129}, 8);
  });
}

TEST(ErrorDiffusion, LargePicturesOnAGpu) {
  if (!on_gpu) GTEST_SKIP() << "too slow without a GPU";
  for (const Size size : {Size{1919, 1079}, {4096, 4096}, {257, 8191}, {10007, 129}})
    for (const HalftoneRule rule : {HalftoneRule::real, HalftoneRule::integer})
      check(rule, size, static_cast<unsigned>(size.width));
}

}  // namespace
}  // namespace facesat::test
