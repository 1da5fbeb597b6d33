// The steps of kernels/image against the CPU: grey, equalised and resized pictures, tilted integral
// images; and the plan of an atlas.
#include <random>

#include <gtest/gtest.h>

#include "core/cpu/gray.hpp"
#include "core/cpu/integral.hpp"
#include "kernels/image/atlas.hpp"
#include "kernels/image/steps.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

// ---- the plan of an atlas

using gpu::AtlasPlan;
using gpu::LevelGroup;
using gpu::max_atlas_pixels;
using gpu::plan_atlas;

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

void expect_levels_apart(const Pyramid& pyramid, const AtlasPlan& plan) {
  ASSERT_EQ(plan.places.size(), pyramid.levels.size());
  for (int i = 0; i < std::ssize(plan.places); ++i) {
    const AtlasPlan::Place& place = plan.places[i];
    ASSERT_LT(place.group, std::ssize(plan.groups));
    const Size atlas = plan.groups[place.group].atlas;
    const Rect level = plan.rectangle(pyramid, i);
    EXPECT_GE(level.x, 0);
    EXPECT_EQ(level.x % 16, 0);  // vectors of bytes are aligned
    EXPECT_GE(level.y, 0);
    EXPECT_LE(level.x + level.width, atlas.width);
    EXPECT_LE(level.y + level.height, atlas.height);
    for (int j = 0; j < i; ++j)
      EXPECT_FALSE(plan.places[j].group == place.group &&
                   overlap(level, plan.rectangle(pyramid, j)))
          << "levels " << j << " and " << i;
  }
}

void expect_groups_in_order(const AtlasPlan& plan, std::size_t max_pixels) {
  int next = 0;
  for (int g = 0; g < std::ssize(plan.groups); ++g) {
    const LevelGroup& group = plan.groups[g];
    EXPECT_EQ(group.first, next);
    ASSERT_GE(group.count, 1);
    next += group.count;
    ASSERT_LE(next, std::ssize(plan.places));
    for (int i = group.first; i < next; ++i) EXPECT_EQ(plan.places[i].group, g);
    EXPECT_TRUE(group.count == 1 || group.atlas.area() <= max_pixels);
    EXPECT_EQ(group.atlas.width, plan.largest().width);
    EXPECT_LE(group.atlas.height, plan.largest().height);
  }
  EXPECT_EQ(next, std::ssize(plan.places));
}

TEST(Atlas, HoldsEveryLevelOnceAndApart) {
  std::mt19937 random(1);
  const auto upto = [&](unsigned n) { return 1 + static_cast<int>(random() % n); };
  for (int i = 0; i < 200; ++i) {
    const Size image{20 + upto(600), 20 + upto(600)}, window{2 + upto(30), 2 + upto(30)};
    const DetectOptions options{.scale_factor = 1 + upto(60) / 50.0,
                                .min_size = {upto(60), upto(60)},
                                .scan = i % 2 ? Scan::opencv : Scan::dense};
    const Pyramid pyramid = plan_pyramid(image, window, options);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, image.area() / 3, image.area(),
                                    2 * image.area(), max_atlas_pixels}) {
      const AtlasPlan plan = plan_atlas(pyramid, limit);
      expect_levels_apart(pyramid, plan);
      expect_groups_in_order(plan, limit);
    }
  }
}

TEST(Atlas, OneGroupIfThereIsRoomAndOneForEachLevelIfThereIsNone) {
  const Pyramid pyramid = plan_pyramid({300, 200}, {24, 24}, {});
  EXPECT_EQ(plan_atlas(pyramid).groups.size(), 1u);
  // An atlas with room for little more than the first level, of 60,000 pixels.
  EXPECT_GT(plan_atlas(pyramid, 70000).groups.size(), 2u);
  // Each level alone in an atlas.
  const AtlasPlan alone = plan_atlas(pyramid, 0);
  EXPECT_EQ(alone.groups.size(), pyramid.levels.size());
  EXPECT_EQ(alone.groups[0].atlas, (Size{304, 200}));  // larger than allowed, as it must be
}

TEST(Atlas, OfNoLevelsIsEmpty) {
  const AtlasPlan plan = plan_atlas(plan_pyramid({20, 20}, {24, 24}, {}));
  EXPECT_TRUE(plan.groups.empty());
  EXPECT_EQ(plan.largest(), Size{});
}

// ---- grey

template <class Pixel>
void compare_gray() {
  for (const Size size : {Size{1, 1}, {3, 2}, {4, 5}, {5, 4}, {255, 9}, {257, 3}, {640, 17}}) {
    const Image<std::uint8_t> bytes = noise({3 * size.width, size.height}, 7);
    const auto frame = formula<Pixel>(size, [&](int x, int y) {
      const std::uint8_t* p = bytes.row(y) + 3 * x;
      return Pixel{p[0], p[1], p[2]};
    });
    Image<std::uint8_t> expected(size);
    cpu::to_gray(frame.view(), expected.view());

    const int pitch = (size.width + 15) / 16 * 16;
    std::vector<Pixel> packed(static_cast<std::size_t>(pitch) * size.height, Pixel{1, 2, 3});
    copy(View<const Pixel>(frame.view()), View<Pixel>{packed.data(), size, pitch});
    DeviceArray<Pixel> input(packed);
    under_all_schedules([&] {
      DevicePicture<std::uint8_t> gray(size, 9);
      gpu::enqueue_gray(View<const Pixel>{input.data(), size, pitch}, gray.view(), test_stream());
      gray.expect(expected.view(), ::testing::PrintToString(size));
    });
  }
}

TEST(GrayKernel, EqualsTheCpu) {
  compare_gray<Bgr>();
  compare_gray<Rgb>();
}

TEST(GrayKernel, IgnoresTheFourthByte) {
  for (const Size size : {Size{1, 1}, {3, 2}, {4, 5}, {257, 3}, {640, 17}}) {
    const Image<std::uint8_t> bytes = noise({4 * size.width, size.height}, 8);
    const int pitch = (size.width + 15) / 16 * 16;
    std::vector<Bgra> packed(static_cast<std::size_t>(pitch) * size.height, Bgra{1, 2, 3, 4});
    Image<Bgr> colour(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const std::uint8_t* p = bytes.row(y) + 4 * x;
        packed[y * pitch + x] = {p[0], p[1], p[2], p[3]};
        colour.row(y)[x] = {p[0], p[1], p[2]};
      }
    Image<std::uint8_t> expected(size);
    cpu::to_gray(colour.view(), expected.view());
    DeviceArray<Bgra> input(packed);
    under_all_schedules([&] {
      DevicePicture<std::uint8_t> gray(size, 9);
      gpu::enqueue_gray(View<const Bgra>{input.data(), size, pitch}, gray.view(), test_stream());
      gray.expect(expected.view(), ::testing::PrintToString(size));
    });
  }
}

// ---- equalised histograms

void compare_equalized(const Image<std::uint8_t>& picture, const char* what) {
  Image<std::uint8_t> expected(picture.size());
  cpu::equalize(picture.view(), expected.view());
  under_all_schedules([&] {
    DevicePicture<std::uint8_t> gray(picture.size(), 0);
    DeviceArray<std::uint32_t> workspace(std::vector<std::uint32_t>(gpu::equalize_workspace_words));
    for (int round = 0; round < 2; ++round) {  // the workspace is used twice
      gray.upload(picture.view());
      gpu::enqueue_equalize(gray.view(), workspace.data(), test_stream());
      gray.expect(expected.view(), what);
    }
  });
}

TEST(EqualizeKernel, EqualsTheCpu) {
  compare_equalized(noise({300, 21}, 1), "noise");
  compare_equalized(noise({97, 33}, 2, 60, 61), "one value");
  compare_equalized(noise({97, 33}, 3, 0, 1), "black");
  compare_equalized(noise({97, 33}, 4, 255, 256), "white");
  compare_equalized(noise({130, 9}, 5, 31, 34), "values on both sides of a warp's");
  compare_equalized(noise({1, 1}, 6, 9, 10), "one pixel");
  compare_equalized(noise({200, 17}, 7, 3, 90), "dark");
  if (on_gpu) compare_equalized(noise({1919, 1079}, 8), "large");
}

// ---- all levels of a pyramid

Image<std::uint8_t> resized(View<const std::uint8_t> gray, Size size) {
  Image<std::uint8_t> level(size);
  cpu::resize(gray, level.view(), resize_taps(gray.size.width, size.width),
              resize_taps(gray.size.height, size.height));
  return level;
}

void compare_resized(Size size, double factor, std::size_t most_pixels, Size window = {24, 24}) {
  DetectOptions options;
  options.scale_factor = factor;
  const Pyramid pyramid = plan_pyramid(size, window, options);
  const gpu::AtlasPlan places = gpu::plan_atlas(pyramid, most_pixels);
  const Image<std::uint8_t> image = noise(size, 5);
  DevicePicture<std::uint8_t> gray(size, 0);
  gray.upload(image.view());
  for (const gpu::LevelGroup& group : places.groups) {
    const gpu::ResizePlan plan = gpu::plan_resize(pyramid, places, group);
    Image<std::uint8_t> expected = flat(group.atlas, DevicePicture<std::uint8_t>::poison);
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
      atlas.expect(expected.view(), "atlas of " + ::testing::PrintToString(size));
    });
  }
}

TEST(ResizeKernel, EveryLevelEqualsTheCpu) {
  compare_resized({24, 24}, 1.1, 1 << 20);
  compare_resized({65, 48}, 1.1, 1 << 20);
  compare_resized({131, 97}, 1.3, 1 << 20);
  compare_resized({131, 97}, 1.2, 12000);  // several atlases
  for (int past = 0; past < 4; ++past) {
    compare_resized({128 + past, 32 + past}, 1.05, 1 << 20);
    compare_resized({256 + past, 64}, 2.0, 1 << 20);
    compare_resized({512 + past, 64}, 2.3, 1 << 20);
  }
  for (const Size narrow : {Size{1, 1}, Size{3, 40}, Size{40, 1}})
    compare_resized(narrow, 1.3, 1 << 20, {1, 1});
  if (on_gpu) compare_resized({1919, 1079}, 1.1, 1 << 26);
}

// ---- tilted integral images

void compare_tilted(Size size) {
  const Image<std::uint8_t> picture = noise(size, 4);
  Table expected;
  expected.resize(size);
  cpu::tilted_integral(picture.view(), expected.view());
  DevicePicture<std::uint8_t> input(size, 77);
  input.upload(picture.view());
  under_all_schedules([&] {
    DevicePicture<std::uint32_t> tilted(size, 0);
    // Cones reach in from column -1, so the kernel may write that column.
    for (int y = 0; y < size.height; ++y) tilted.allow_before_row(y, expected.view().row(y)[-1]);
    tilted.clear();
    gpu::enqueue_tilted(input.view(), tilted.view(), test_stream());
    tilted.expect(expected.view(), ::testing::PrintToString(size));
  });
}

TEST(TiltedKernel, EqualsTheCpu) {
  for (const Size size : {Size{1, 1}, {1, 70}, {70, 1}, {31, 33}, {33, 31}, {65, 129}, {130, 64}})
    compare_tilted(size);
  if (on_gpu)
    for (const Size size : {Size{1919, 1079}, {97, 5011}, {5011, 97}, {640, 2300}})
      compare_tilted(size);
}

}  // namespace
}  // namespace facesat::test
