// sat() in host memory against sums that follow the definition.
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "tests/library/arrays.hpp"

namespace facesat::test {
namespace {

class HostSat : public ::testing::TestWithParam<SatCase> {};

TEST_P(HostSat, EqualsItsDefinition) {
  for (const Size size : {Size{1, 1}, {1, 9}, {9, 1}, {31, 33}, {64, 64}, {257, 100}})
    for (const int gap : {0, 8, 24}) {
      const OwnedArray input = random_array(size, GetParam().input, gap, 5);
      OwnedArray table = poisoned_array(table_size(size, GetParam()), GetParam().table, gap);
      sat(input.view(), table.view(), options_of(GetParam()));
      expect_sums(input, table, GetParam());
      expect_untouched_gaps(table);
    }
}

INSTANTIATE_TEST_SUITE_P(All, HostSat, ::testing::ValuesIn(all_sat_cases()),
                         ::testing::PrintToStringParamName());

TEST(Sat, IntegersWrap) {
  const std::vector<std::uint32_t> input{0xFFFFFFFF, 2, 3, 0x80000000};
  std::vector<std::int32_t> table(4);
  sat({.data = const_cast<std::uint32_t*>(input.data()),
       .size = {2, 2},
       .pitch = 8,
       .element = Element::s32},
      {.data = table.data(), .size = {2, 2}, .pitch = 8, .element = Element::s32});
  EXPECT_EQ(table,
            (std::vector<std::int32_t>{-1, 1, 2, std::numeric_limits<std::int32_t>::min() + 4}));
}

// Bit for bit: numpy.cumsum(numpy.cumsum(x, axis=0), axis=1).
TEST(Sat, FloatsAreSummedDownAndThenAlong) {
  constexpr int width = 37, height = 29;
  std::mt19937 random(3);
  std::vector<float> input(width * height), columns, table(input.size());
  for (float& x : input) x = std::uniform_real_distribution<float>(-1, 1)(random);
  input[0] = input[1] = -0.0f;
  columns = input;
  for (std::size_t i = width; i < columns.size(); ++i) columns[i] += columns[i - width];
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (i % width != 0) columns[i] += columns[i - 1];
  sat({.data = input.data(), .size = {width, height}, .pitch = 4 * width, .element = Element::f32},
      {.data = table.data(), .size = {width, height}, .pitch = 4 * width, .element = Element::f32});
  EXPECT_EQ(std::memcmp(table.data(), columns.data(), 4 * table.size()), 0);
}

TEST(Sat, RefusesWhatItCannotSum) {
  std::vector<std::uint8_t> bytes(4096);
  const auto array = [&](Size size, Element element, std::ptrdiff_t pitch) {
    return ArrayView{.data = bytes.data(), .size = size, .pitch = pitch, .element = element};
  };
  const ArrayView input = array({8, 8}, Element::u8, 8), table = array({8, 8}, Element::u32, 32);
  EXPECT_NO_THROW(sat(input, table));
  EXPECT_THROW(sat(array({0, 8}, Element::u8, 8), table), ArgumentError);
  EXPECT_THROW(sat(array({32769, 1}, Element::u8, 0), array({32769, 1}, Element::u32, 0)),
               ArgumentError);
  EXPECT_THROW(sat(input, array({8, 9}, Element::u32, 32)), ArgumentError);
  EXPECT_THROW(sat(input, table, {.exclusive = true}), ArgumentError);
  EXPECT_THROW(sat(input, array({8, 8}, Element::f64, 64)), ArgumentError);
  EXPECT_THROW(sat(array({8, 8}, Element::f32, 32), table), ArgumentError);
  EXPECT_THROW(
      sat(array({8, 8}, Element::f32, 32), array({8, 8}, Element::f32, 32), {.squares = true}),
      ArgumentError);
  EXPECT_THROW(sat(input, array({8, 8}, Element::u32, 31)), ArgumentError);
  EXPECT_THROW(sat(input, array({8, 8}, Element::u32, 34)), ArgumentError);
  EXPECT_THROW(sat({.data = nullptr, .size = {8, 8}, .pitch = 8}, table), ArgumentError);
  EXPECT_THROW(sat(input, table, {.algorithm = "nehab_2011"}), BackendError);
  ArrayView on_device = table;
  on_device.on_device = true;
  EXPECT_THROW(sat(input, on_device), ArgumentError);
}

}  // namespace
}  // namespace facesat::test
