// The contract of kernels/sat/algorithm.hpp, for every algorithm in the registry.
#include <set>

#include "core/cpu/integral.hpp"
#include "kernels/sat/algorithm.hpp"
#include "tests/kernels/device_memory.hpp"

namespace facesat::test {
namespace {

using gpu::SatAlgorithm;

enum class Content { noise, zeros, white, impulses };

Image<std::uint8_t> picture_of(Size size, Content content) {
  Image<std::uint8_t> picture = noise(size, static_cast<unsigned>(size.width * 31 + size.height));
  if (content == Content::noise) return picture;
  for (int y = 0; y < size.height; ++y)
    std::fill_n(picture.row(y), size.width, content == Content::white ? 255 : 0);
  if (content == Content::impulses)
    for (const int y : {0, size.height - 1})
      for (const int x : {0, size.width - 1})
        picture.row(y)[x] = static_cast<std::uint8_t>(1 + x % 200);
  return picture;
}

void check(const SatAlgorithm& algorithm, Size size, Content content) {
  const std::string what = std::string(algorithm.id) + " on " + std::to_string(size.width) + "x" +
                           std::to_string(size.height);
  const Image<std::uint8_t> picture = picture_of(size, content);
  Table sum, squared_sum;
  sum.resize(size);
  squared_sum.resize(size);
  cpu::integral(picture.view(), sum.view(), squared_sum.view());

  DevicePicture<std::uint8_t> input(size, 77);
  input.upload(picture.view());
  under_all_schedules([&] {
    DevicePicture<std::uint32_t> out_sum(size, 0), out_squared_sum(size, 0);
    DeviceArray<std::byte> workspace(std::vector<std::byte>(algorithm.workspace_bytes(size)));
    for (int round = 0; round < (on_gpu ? 3 : 2);
         ++round) {  // a workspace is left ready for the next use
      out_sum.clear();
      out_squared_sum.clear();
      algorithm.enqueue({input.view(), out_sum.view(), out_squared_sum.view()}, workspace.data(),
                        test_stream());
      out_sum.expect(sum.view(), what + ", sum");
      out_squared_sum.expect(squared_sum.view(), what + ", squared sum");
    }
  });
}

class Sat : public ::testing::TestWithParam<const SatAlgorithm*> {};

TEST_P(Sat, Sizes) {  // tile edges: 4, 32, 64 and 128
  for (const Size size : {Size{1, 1},
                          {1, 70},
                          {133, 1},
                          {3, 5},
                          {31, 33},
                          {32, 32},
                          {63, 65},
                          {127, 63},
                          {128, 64},
                          {129, 65},
                          {260, 129}})
    check(*GetParam(), size, Content::noise);
  if (on_gpu)
    for (const Size size : {Size{1919, 1079},
                            {1280, 720},
                            {4096, 4096},
                            {1920, 6528},
                            {97, 20011},
                            {20011, 97},
                            {8191, 1023}})
      check(*GetParam(), size, Content::noise);
}

TEST_P(Sat, Contents) {
  for (const Content content : {Content::zeros, Content::white, Content::impulses})
    check(*GetParam(), {140, 70}, content);
  if (on_gpu) check(*GetParam(), {8300, 8300}, Content::white);  // sums wrap
}

INSTANTIATE_TEST_SUITE_P(Registry, Sat,
                         ::testing::ValuesIn(gpu::sat_algorithms().begin(),
                                             gpu::sat_algorithms().end()),
                         [](const auto& tested) { return std::string(tested.param->id); });

TEST(SatRegistry, IdsAreUniqueAndFound) {
  std::set<std::string_view> ids;
  for (const SatAlgorithm* algorithm : gpu::sat_algorithms()) {
    EXPECT_TRUE(ids.insert(algorithm->id).second) << algorithm->id;
    EXPECT_EQ(gpu::find_sat(algorithm->id), algorithm);
    EXPECT_GT(algorithm->launches, 0);
  }
  EXPECT_EQ(gpu::find_sat("no such algorithm"), nullptr);
}

}  // namespace
}  // namespace facesat::test
