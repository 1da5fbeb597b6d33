#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/cpu/gray.hpp"
#include "tests/kit/guarded.hpp"
#include "tests/kit/instruction_sets.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"
#include "tests/kit/same.hpp"

namespace facesat::test {
namespace {

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
