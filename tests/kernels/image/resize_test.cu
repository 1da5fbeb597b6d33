#include "core/cpu/gray.hpp"
#include "kernels/image/resize.hpp"
#include "tests/kit/device_memory.hpp"

namespace facesat::test {
namespace {

Image<std::uint8_t> resized(View<const std::uint8_t> gray, Size size) {
  Image<std::uint8_t> level(size);
  cpu::resize(gray, level.view(), resize_taps(gray.size.width, size.width),
              resize_taps(gray.size.height, size.height));
  return level;
}

void compare(Size size, double factor, std::size_t max_atlas_pixels, Size window = {24, 24}) {
  DetectOptions options;
  options.scale_factor = factor;
  const Pyramid pyramid = plan_pyramid(size, window, options);
  const gpu::AtlasPlan places = gpu::plan_atlas(pyramid, max_atlas_pixels);
  const Image<std::uint8_t> image = noise(size, 5);
  DevicePicture<std::uint8_t> gray(size, 0);
  gray.upload(image.view());
  for (const gpu::LevelGroup& group : places.groups) {
    const gpu::ResizePlan plan = gpu::plan_resize(pyramid, places, group);
    Image<std::uint8_t> expected(group.atlas);
    for (int y = 0; y < group.atlas.height; ++y)
      std::fill_n(expected.row(y), group.atlas.width, DevicePicture<std::uint8_t>::poison);
    for (int i = group.first; i < group.first + group.count; ++i) {
      const Image<std::uint8_t> level = resized(image.view(), pyramid.levels[i].size);
      const Rect place = places.rectangle(pyramid, i);
      for (int y = 0; y < place.height; ++y)
        for (int x = 0; x < divide_up(place.width, 4) * 4; ++x)
          expected.row(place.y + y)[place.x + x] = level.row(y)[std::min(x, place.width - 1)];
    }
    under_all_schedules([&] {
      DeviceArray<gpu::ResizeLevel> levels(plan.levels);
      DeviceArray<gpu::FourTaps> taps(plan.taps);
      DeviceArray<gpu::ResizeTile> tiles(plan.tiles);
      DevicePicture<std::uint8_t> atlas(group.atlas, 3);
      gpu::enqueue_resize(
          gray.view(), atlas.view(),
          {levels.data(), taps.data(), tiles.data(), static_cast<int>(plan.tiles.size())},
          test_stream());
      atlas.expect(expected.view(),
                   "atlas of " + std::to_string(size.width) + "x" + std::to_string(size.height));
    });
  }
}

TEST(ResizeKernel, EveryLevelEqualsTheCpu) {
  compare({24, 24}, 1.1, 1 << 20);
  compare({65, 48}, 1.1, 1 << 20);
  compare({131, 97}, 1.3, 1 << 20);
  compare({131, 97}, 1.2, 12000);  // several atlases
  for (int past = 0; past < 4; ++past) {
    compare({128 + past, 32 + past}, 1.05, 1 << 20);
    compare({256 + past, 64}, 2.0, 1 << 20);
    compare({512 + past, 64}, 2.3, 1 << 20);
  }
  for (const Size narrow : {Size{1, 1}, Size{3, 40}, Size{40, 1}})
    compare(narrow, 1.3, 1 << 20, {1, 1});
  if (on_gpu) compare({1919, 1079}, 1.1, 1 << 26);
}

}  // namespace
}  // namespace facesat::test
