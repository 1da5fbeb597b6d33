#include "core/cpu/gray.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/kit/guarded.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"
#include "tests/kit/same.hpp"

namespace facesat::test {
namespace {

constexpr Size sizes[] = {{1, 1},   {1, 7},   {9, 1},   {15, 2},  {16, 3},
                          {17, 17}, {63, 64}, {64, 65}, {65, 63}, {130, 40}};

TEST(Gray, IsTheWeightedSum) {
  for (const Size size : sizes) {
    const Image<Bgr> frame = colour_noise(size, 1);
    Embedded<Bgr> wide(frame.view());
    on_every_instruction_set([&] {
      Guarded<std::uint8_t> gray(size);
      cpu::to_gray(wide.view(), gray.view());
      EXPECT_TRUE(same(gray.view(), reference::gray(frame.view()).view()))
          << ::testing::PrintToString(size);
      EXPECT_TRUE(gray.intact());
    });
  }
}

TEST(Gray, OfKnownColours) {
  Image<Bgr> frame(Size{7, 1});
  const Bgr colours[] = {{0, 0, 0},   {255, 255, 255}, {255, 0, 0}, {0, 255, 0},
                         {0, 0, 255}, {1, 2, 3},       {0, 1, 0}};
  std::copy(std::begin(colours), std::end(colours), frame.row(0));
  Image<std::uint8_t> gray(Size{7, 1});
  cpu::to_gray(frame.view(), gray.view());
  const std::uint8_t expected[] = {0, 255, 29, 150, 76, 2, 1};
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), gray.row(0)));
}

TEST(Gray, OfAllColours) {
  constexpr int side = 256;  // a picture for each value of red
  Image<Bgr> frame(Size{side, side});
  Image<std::uint8_t> gray(frame.size());
  on_every_instruction_set([&] {
    int wrong = 0;
    for (int red = 0; red < 256; ++red) {
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
          frame.row(y)[x] = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
                             static_cast<std::uint8_t>(red)};
      cpu::to_gray(frame.view(), gray.view());
      wrong += !same(gray.view(), reference::gray(frame.view()).view());
    }
    EXPECT_EQ(wrong, 0);
  });
}

Image<std::uint8_t> equalized(View<const std::uint8_t> gray) {
  Guarded<std::uint8_t> result(gray.size);
  cpu::equalize(Embedded<std::uint8_t>(gray).view(), result.view());
  EXPECT_TRUE(result.intact());
  Image<std::uint8_t> copied(gray.size);
  copy<std::uint8_t>(result.view(), copied.view());
  return copied;
}

TEST(Equalize, LeavesAFlatPicture) {
  for (const int value : {0, 1, 128, 255}) {
    const Image<std::uint8_t> picture = flat({7, 5}, static_cast<std::uint8_t>(value));
    EXPECT_TRUE(same(equalized(picture.view()).view(), picture.view()));
  }
}

TEST(Equalize, SpreadsTwoValuesToTheExtremes) {
  Image<std::uint8_t> picture = flat({9, 3}, 100);
  picture.row(1)[4] = 101;
  const Image<std::uint8_t> result = equalized(picture.view());
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 9; ++x) EXPECT_EQ(result.row(y)[x], y == 1 && x == 4 ? 255 : 0);
}

TEST(Equalize, FollowsTheCumulativeHistogram) {
  Image<std::uint8_t> picture(Size{8, 1});
  // 5 pixels are brighter than the darkest: 255 * 3 / 5 = 153, 255 * 4 / 5 = 204.
  const std::uint8_t values[] = {10, 10, 10, 20, 20, 20, 30, 200};
  const std::uint8_t expected[] = {0, 0, 0, 153, 153, 153, 204, 255};
  std::copy(std::begin(values), std::end(values), picture.row(0));
  const Image<std::uint8_t> result = equalized(picture.view());
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), result.row(0)));
}

TEST(Equalize, WorksInPlace) {
  const Image<std::uint8_t> picture = noise({130, 70}, 5, 90, 140);
  Image<std::uint8_t> in_place(picture.size());
  copy<std::uint8_t>(picture.view(), in_place.view());
  cpu::equalize(in_place.view(), in_place.view());
  EXPECT_TRUE(same(in_place.view(), equalized(picture.view()).view()));
  EXPECT_FALSE(same(in_place.view(), picture.view()));
}

TEST(Equalize, OfNothingIsNothing) {
  Image<std::uint8_t> nothing;
  EXPECT_NO_THROW(cpu::equalize(nothing.view(), nothing.view()));
}

}  // namespace
}  // namespace facesat::test
