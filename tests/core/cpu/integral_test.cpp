#include "core/cpu/integral.hpp"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kit/guarded.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"
#include "tests/kit/same.hpp"

namespace facesat::test {
namespace {

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

}  // namespace
}  // namespace facesat::test
