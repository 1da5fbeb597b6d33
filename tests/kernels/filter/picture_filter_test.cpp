// PictureFilter on a GPU gives the pixels of PictureFilter on the CPU.
#include <gtest/gtest.h>

#include "kernels/filter/algorithm.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {
namespace {

std::string text_of(const PictureFilterSettings& settings) {
  return std::string(filter_names[static_cast<std::size_t>(settings.kind)]) + ", radius " +
         std::to_string(settings.radius) + ", " + std::string(name_of(settings.border)) + ", " +
         settings.algorithm;
}

TEST(CudaPictureFilter, GivesTheSamePixelsAsTheCpu) {
  const auto cpu = make_cpu_picture_filter();
  const auto cuda = gpu::make_cuda_picture_filter(0);
  std::vector<FilterTime> times;
  for (const Size size : {Size{1, 1}, {317, 203}, {1920, 1080}}) {
    const Image<std::uint8_t> gray = noise(size, 5);
    Image<std::uint8_t> expected(size), result(size);
    for (std::size_t kind = 0; kind < filter_names.size(); ++kind)
      for (const int radius : {1, 6, 40})
        for (const Border border : {Border::reflect101, Border::wrap}) {
          PictureFilterSettings settings{static_cast<FilterKind>(kind), radius, border};
          if (settings.kind == FilterKind::sobel && radius > 6) continue;
          if (size.width > 1000 && radius != 6) continue;  // slow on the CPU
          for (const std::string& algorithm : cuda->algorithms(settings.kind, radius)) {
            settings.algorithm = algorithm == "three_boxes" ? algorithm : "";
            cpu->apply(gray.view(), settings, expected.view(), times);
            settings.algorithm = algorithm;
            cuda->apply(gray.view(), settings, result.view(), times);
            EXPECT_EQ(times.size(), 3u);
            EXPECT_TRUE(same(result.view(), expected.view())) << text_of(settings);
          }
        }
  }
}

TEST(CudaPictureFilter, RefusesWhatItDoesNotHave) {
  const auto cuda = gpu::make_cuda_picture_filter(0);
  const Image<std::uint8_t> gray = noise({20, 10}, 1);
  Image<std::uint8_t> result({20, 10});
  std::vector<FilterTime> times;
  const auto apply = [&](const PictureFilterSettings& settings) {
    cuda->apply(gray.view(), settings, result.view(), times);
  };
  EXPECT_THROW(apply({.kind = FilterKind::sobel, .radius = 7}), ArgumentError);
  EXPECT_THROW(apply({.kind = FilterKind::box, .radius = -1}), ArgumentError);
  EXPECT_THROW(apply({.kind = FilterKind::box, .algorithm = "nothing"}), ArgumentError);
}

}  // namespace
}  // namespace facesat::test
