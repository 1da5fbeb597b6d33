// sat() in host memory against sums that follow the definition.
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

INSTANTIATE_TEST_SUITE_P(All, HostSat, ::testing::ValuesIn(device_sat_cases()),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Further, HostSat, ::testing::ValuesIn(further_sat_cases()),
                         ::testing::PrintToStringParamName());

TEST(Sat, IntegersWrap) {
  const std::vector<std::uint32_t> input{0xFFFFFFFF, 2, 3, 0x80000000};
  std::vector<std::int32_t> table(4);
  sat(packed(input.data(), {2, 2}, Element::s32), packed(table.data(), {2, 2}, Element::s32));
  EXPECT_EQ(table,
            (std::vector<std::int32_t>{-1, 1, 2, std::numeric_limits<std::int32_t>::min() + 4}));
}

TEST(Sat, TablesOf64BitsDoNotWrap) {
  std::vector<std::uint8_t> bytes(70'000, 255);
  std::vector<std::uint64_t> table(bytes.size());
  const Size size{700, 100};
  const ArrayView to = packed(table.data(), size, Element::u64);
  sat(packed(bytes.data(), size, Element::u8), to, {.squares = true});
  EXPECT_EQ(table.back(), 70'000ull * 255 * 255);
  const std::vector<std::uint16_t> words(table.size(), 65535);
  sat(packed(words.data(), size, Element::u16), to, {.squares = true});
  EXPECT_EQ(table.back(), 70'000ull * 65535 * 65535);
  const std::vector<std::int32_t> negative(table.size(), -2'000'000'000);
  sat(packed(negative.data(), size, Element::s32), packed(table.data(), size, Element::s64));
  EXPECT_EQ(static_cast<std::int64_t>(table.back()), -2'000'000'000ll * 70'000);
}

// Every channel of a picture against the table of that channel alone.
TEST(Sat, ChannelsAreSummedByThemselves) {
  for (const bool exclusive : {false, true})
    for (const int channels : {1, 2, 3, 5})
      for (const Size size : {Size{1, 1}, {1, 7}, {7, 1}, {33, 21}}) {
        const int border = exclusive ? 1 : 0;
        const Size sums{size.width + border, size.height + border};
        const OwnedArray pixels =
            random_array({size.width * channels, size.height}, Element::s16, 6, 9);
        OwnedArray table = poisoned_array({sums.width * channels, sums.height}, Element::s64, 16);
        ConstArrayView from = pixels.view();
        from.size = size;
        ArrayView to = table.view();
        to.size = sums;
        sat(from, to, {.exclusive = exclusive, .channels = channels});
        expect_untouched_gaps(table);
        for (int channel = 0; channel < channels; ++channel) {
          OwnedArray plane = poisoned_array(size, Element::s16, 0);
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) {
              const auto value = pixels.at<std::int16_t>(x * channels + channel, y);
              std::memcpy(plane.bytes.data() + y * plane.pitch + x * 2, &value, 2);
            }
          OwnedArray expected = poisoned_array(sums, Element::s64, 0);
          sat(plane.view(), expected.view(), {.exclusive = exclusive});
          for (int y = 0; y < sums.height; ++y)
            for (int x = 0; x < sums.width; ++x)
              ASSERT_EQ(table.at<std::int64_t>(x * channels + channel, y),
                        expected.at<std::int64_t>(x, y));
        }
      }
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
  sat(packed(input.data(), {width, height}, Element::f32),
      packed(table.data(), {width, height}, Element::f32));
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
  EXPECT_THROW(sat(input, array({8, 8}, Element::u16, 16)), ArgumentError);
  EXPECT_THROW(sat(array({8, 8}, Element::s16, 16), table), ArgumentError);
  EXPECT_THROW(sat(array({8, 8}, Element::s64, 64), array({8, 8}, Element::s64, 64)),
               ArgumentError);
  EXPECT_THROW(sat(input, table, {.channels = 0}), ArgumentError);
  EXPECT_THROW(sat(input, table, {.channels = 2}), ArgumentError);  // a pitch of 8, not 16
  EXPECT_THROW(sat(array({8, 8}, Element::f32, 32), table), ArgumentError);
  EXPECT_THROW(
      sat(array({8, 8}, Element::f32, 32), array({8, 8}, Element::f32, 32), {.squares = true}),
      ArgumentError);
  EXPECT_THROW(sat(input, array({8, 8}, Element::u32, 31)), ArgumentError);
  EXPECT_THROW(sat(input, array({8, 8}, Element::u32, 34)), ArgumentError);
  ArrayView between = table;
  between.data = bytes.data() + 1;
  EXPECT_THROW(sat(input, between), ArgumentError);
  EXPECT_THROW(sat({.data = nullptr, .size = {8, 8}, .pitch = 8}, table), ArgumentError);
  EXPECT_THROW(sat(input, table, {.algorithm = "nehab_2011"}), BackendError);
  ArrayView on_device = table;
  on_device.on_device = true;
  EXPECT_THROW(sat(input, on_device), ArgumentError);
}

TEST(Sat, DevicesRefuseWhatOnlyTheHostSums) {
  std::vector<std::uint64_t> memory(64);
  for (const SatCase& one : further_sat_cases()) {
    const auto array = [&](Element element) {
      return packed(memory.data(), {2, 2}, element, true);
    };
    EXPECT_THROW(sat(array(one.input), array(one.table), {.squares = one.squares}), BackendError)
        << ::testing::PrintToString(one);
  }
  const ArrayView floats = packed(memory.data(), {2, 2}, Element::f32, true);
  EXPECT_THROW(sat(floats, floats, {.channels = 2}), BackendError);
}

}  // namespace
}  // namespace facesat::test
