// The stages before evaluation, against the plain reference: grey images, integral images, levels.
#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/cpu/gray.hpp"
#include "core/cpu/integral.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

constexpr Size sizes[] = {{1, 1},   {1, 7},   {9, 1},   {15, 2},  {16, 3},
                          {17, 17}, {63, 64}, {64, 65}, {65, 63}, {130, 40}};

// In either order of colours.
TEST(Gray, IsTheWeightedSum) {
  for (const Size size : sizes) {
    const Image<Bgr> frame = colour_noise(size, 1);
    const auto reversed = formula<Rgb>(size, [&](int x, int y) {
      const auto [b, g, r] = frame.row(y)[x];
      return Rgb{r, g, b};
    });
    const auto compare = [&](auto pixels) {
      Guarded<std::uint8_t> gray(size);
      cpu::to_gray(pixels, gray.view());
      EXPECT_TRUE(same(gray.view(), reference::gray(frame.view()).view()))
          << ::testing::PrintToString(size);
      EXPECT_TRUE(gray.intact());
    };
    Embedded<Bgr> wide(frame.view());
    Embedded<Rgb> wide_reversed(reversed.view());
    on_every_instruction_set([&] {
      compare(wide.view());
      compare(wide_reversed.view());
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

// Lengths around those of vectors, which have up to 16 pixels.
constexpr int awkward_lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50};

using Tables = Guarded<std::uint32_t>;

// The table with its row -1 and column -1.
View<const std::uint32_t> with_borders(Tables& table) {
  const View<std::uint32_t> v = table.view();
  return {v.row(-1) - 1, {v.size.width + 1, v.size.height + 1}, v.pitch};
}

void expect_as_defined_here(const Image<std::uint8_t>& picture) {
  const auto size = ::testing::PrintToString(picture.size());
  Embedded<std::uint8_t> wide(picture.view());
  Tables sum(picture.size(), 1), squared(picture.size(), 1), tilted(picture.size(), 1);
  cpu::integral(wide.view(), sum.view(), squared.view());
  cpu::tilted_integral(wide.view(), tilted.view());
  EXPECT_TRUE(same(with_borders(sum), reference::sums(picture.view()).view())) << size;
  EXPECT_TRUE(same(with_borders(squared), reference::squared_sums(picture.view()).view())) << size;
  EXPECT_TRUE(same(with_borders(tilted), reference::tilted_sums(picture.view()).view())) << size;
  for (const Tables* table : {&sum, &squared, &tilted}) EXPECT_TRUE(table->intact()) << size;
}

void expect_as_defined(const Image<std::uint8_t>& picture) {
  on_every_instruction_set([&] { expect_as_defined_here(picture); });
}

TEST(Integral, OfNoiseAtVectorEdges) {
  for (const int width : awkward_lengths)
    for (const int height : awkward_lengths) expect_as_defined(noise({width, height}, width));
}

TEST(Integral, OfExtremes) {
  for (const Size size : {Size{1, 1}, {65, 64}, {64, 129}}) {
    expect_as_defined(flat(size, 0));
    expect_as_defined(flat(size, 255));
  }
}

// One pixel shows exactly where a table counts it.
TEST(Integral, OfSinglePixels) {
  for (const Size size : {Size{1, 1}, {5, 4}, {3, 66}, {66, 3}})
    for (const int x : {0, size.width / 2, size.width - 1})
      for (const int y : {0, size.height / 2, size.height - 1}) {
        Image<std::uint8_t> picture = flat(size, 0);
        picture.row(y)[x] = 255;
        expect_as_defined(picture);
      }
}

TEST(Integral, WithoutSquares) {
  const Image<std::uint8_t> picture = noise({50, 20}, 5);
  Tables sum(picture.size(), 1);
  cpu::integral(picture.view(), sum.view(), {});
  EXPECT_TRUE(same(with_borders(sum), reference::sums(picture.view()).view()));
  EXPECT_TRUE(sum.intact());
}

// split_columns() reorders the elements of each row, counted from column -1: even ones to the
// front, odd ones from element `odd` on.
TEST(SplitColumns, OfAnyWidth) {
  on_every_instruction_set([] {
    for (int width = 1; width < 70; ++width) {
      constexpr int odd = 40;
      Guarded<std::uint32_t> memory({odd + 40, 3});
      const View<std::uint32_t> table{memory.view().row(1) + 1, {width, 2}, memory.view().pitch};
      const auto value = [](int x, int y) { return static_cast<std::uint32_t>(1000 * y + x); };
      for (int y = -1; y < 2; ++y)
        for (int x = -1; x < width; ++x) table.row(y)[x] = value(x + 1, y + 1);
      cpu::split_columns(table, odd);
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x <= width; ++x)
          ASSERT_EQ(memory.view().row(y)[x / 2 + x % 2 * odd], value(x, y)) << width;
      EXPECT_TRUE(memory.intact());
    }
  });
}

// 17,220,000 pixels of 255: the sum exceeds 2^32, the squared sum does so 260 times.
TEST(Integral, WrapsModulo2To32) {
  const Image<std::uint8_t> picture = flat({4200, 4100}, 255);
  Table sum, squared;
  sum.resize(picture.size());
  squared.resize(picture.size());
  cpu::integral(picture.view(), sum.view(), squared.view());
  for (int y = -1; y < 4100; ++y)
    for (int x = -1; x < 4200; ++x) {
      const auto pixels = static_cast<std::uint32_t>(x + 1) * static_cast<std::uint32_t>(y + 1);
      ASSERT_EQ(sum.view().row(y)[x], 255 * pixels) << x << ", " << y;
      ASSERT_EQ(squared.view().row(y)[x], 65025 * pixels) << x << ", " << y;
    }
}

// The picture is wide enough that the cones of column `width / 2` are complete: (y + 1)^2 pixels.
TEST(TiltedIntegral, WrapsModulo2To32) {
  const Image<std::uint8_t> picture = flat({8300, 4140}, 255);
  Table tilted;
  tilted.resize(picture.size());
  cpu::tilted_integral(picture.view(), tilted.view());
  for (int y = 0; y < 4140; ++y) {
    const auto side = static_cast<std::uint32_t>(y + 1);
    ASSERT_EQ(tilted.view().row(y)[4150], 255 * side * side) << y;
  }
}

void expect_as_defined(const Image<std::uint8_t>& gray, Size size) {
  const std::vector<ResizeTap> columns = resize_taps(gray.size().width, size.width),
                               rows = resize_taps(gray.size().height, size.height);
  Embedded<std::uint8_t> wide(gray.view());
  const Image<std::uint8_t> expected = reference::resized(gray.view(), size);
  on_every_instruction_set([&] {
    Guarded<std::uint8_t> level(size);
    cpu::resize(wide.view(), level.view(), columns, rows);
    EXPECT_TRUE(same(level.view(), expected.view()))
        << ::testing::PrintToString(gray.size()) << " to " << ::testing::PrintToString(size);
    EXPECT_TRUE(level.intact());
  });
}

TEST(Resize, OfThinPicturesAndAtVectorEdges) {
  constexpr int lengths[] = {1, 2, 3, 31, 32, 33, 63, 64, 65};
  const auto noise_of = [](int width, int height) { return noise({width, height}, 1); };
  for (const int a : lengths)
    for (const int b : lengths) {
      expect_as_defined(noise_of(a, b), {b, a});
      expect_as_defined(noise_of(a, 50), {b, 40});
      expect_as_defined(noise_of(50, a), {40, b});
    }
}

TEST(Resize, OfRandomSizes) {
  std::mt19937 random(2);
  const auto length = [&] { return 1 + static_cast<int>(random() % 150); };
  for (int i = 0; i < 150; ++i)
    expect_as_defined(noise({length(), length()}, i), {length(), length()});
}

TEST(Resize, OfExtremes) {
  for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{255}}) {
    expect_as_defined(flat({90, 70}, value), {61, 47});
    expect_as_defined(flat({90, 70}, value), {101, 99});
  }
  expect_as_defined(noise({120, 110}, 3, 254, 256), {77, 66});
}

TEST(Resize, OfOneAxisOnly) {
  expect_as_defined(noise({100, 80}, 4), {100, 79});
  expect_as_defined(noise({100, 80}, 5), {99, 80});
  expect_as_defined(noise({100, 80}, 6), {100, 81});
}

TEST(Resize, ToTheSameSize) {
  expect_as_defined(noise({67, 33}, 7), {67, 33});
}

// A part of a level has the same pixels as in the whole level.
TEST(Resize, OfAPartOfALevel) {
  const Image<std::uint8_t> gray = noise({120, 90}, 8);
  const Size size{71, 53};
  const std::vector<ResizeTap> columns = resize_taps(gray.size().width, size.width),
                               rows = resize_taps(gray.size().height, size.height);
  const Image<std::uint8_t> whole = reference::resized(gray.view(), size);
  std::mt19937 random(9);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 200; ++i) {
    const int x = below(size.width), y = below(size.height);
    const Rect place{x, y, 1 + below(size.width - x), 1 + below(size.height - y)};
    Guarded<std::uint8_t> part({place.width, place.height});
    cpu::resize(gray.view(), part.view(), std::span(columns).subspan(x, place.width),
                std::span(rows).subspan(y, place.height));
    EXPECT_TRUE(same(part.view(), whole.view().sub(place)));
    EXPECT_TRUE(part.intact());
  }
}

}  // namespace
}  // namespace facesat::test
