// Arrays of all element types for tests of sat(), in host memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "facesat.hpp"

namespace facesat::test {

struct SatCase {
  const char* name;
  Element input, table;
  bool squares = false, exclusive = false;

  friend void PrintTo(const SatCase& one, std::ostream* out) {
    *out << one.name << (one.squares ? "_squares" : "") << (one.exclusive ? "_exclusive" : "");
  }
};

inline std::vector<SatCase> device_sat_cases() {
  std::vector<SatCase> all;
  for (const bool exclusive : {false, true}) {
    for (const bool squares : {false, true}) {
      all.push_back({"u8_u32", Element::u8, Element::u32, squares, exclusive});
      all.push_back({"u8_s32", Element::u8, Element::s32, squares, exclusive});
      all.push_back({"u8_f32", Element::u8, Element::f32, squares, exclusive});
    }
    all.push_back({"s32", Element::s32, Element::s32, false, exclusive});
    all.push_back({"u32", Element::u32, Element::u32, false, exclusive});
    all.push_back({"f32", Element::f32, Element::f32, false, exclusive});
    all.push_back({"f64", Element::f64, Element::f64, false, exclusive});
  }
  return all;
}

// Those that only the host makes.
inline std::vector<SatCase> further_sat_cases() {
  std::vector<SatCase> all;
  for (const bool exclusive : {false, true}) {
    for (const bool squares : {false, true}) {
      all.push_back({"u8_u64", Element::u8, Element::u64, squares, exclusive});
      all.push_back({"u8_s64", Element::u8, Element::s64, squares, exclusive});
      all.push_back({"u8_f64", Element::u8, Element::f64, squares, exclusive});
      all.push_back({"u16_u32", Element::u16, Element::u32, squares, exclusive});
      all.push_back({"u16_s32", Element::u16, Element::s32, squares, exclusive});
      all.push_back({"u16_u64", Element::u16, Element::u64, squares, exclusive});
      all.push_back({"u16_s64", Element::u16, Element::s64, squares, exclusive});
      all.push_back({"u16_f64", Element::u16, Element::f64, squares, exclusive});
      all.push_back({"s16_s32", Element::s16, Element::s32, squares, exclusive});
      all.push_back({"s16_s64", Element::s16, Element::s64, squares, exclusive});
      all.push_back({"s16_f64", Element::s16, Element::f64, squares, exclusive});
    }
    all.push_back({"u32_u64", Element::u32, Element::u64, false, exclusive});
    all.push_back({"u32_s64", Element::u32, Element::s64, false, exclusive});
    all.push_back({"u32_f64", Element::u32, Element::f64, false, exclusive});
    all.push_back({"s32_s64", Element::s32, Element::s64, false, exclusive});
    all.push_back({"s32_f64", Element::s32, Element::f64, false, exclusive});
    all.push_back({"f32_f64", Element::f32, Element::f64, false, exclusive});
  }
  return all;
}

inline Size table_size(Size input, const SatCase& one) {
  return one.exclusive ? Size{input.width + 1, input.height + 1} : input;
}

inline SatOptions options_of(const SatCase& one) {
  return {.squares = one.squares, .exclusive = one.exclusive};
}

struct OwnedArray {
  std::vector<std::uint8_t> bytes;
  Size size;
  std::ptrdiff_t pitch = 0;
  Element element = Element::u8;

  ArrayView view() { return {bytes.data(), size, pitch, element}; }
  ConstArrayView view() const { return {bytes.data(), size, pitch, element}; }
  template <class T>
  T at(int x, int y) const {
    T value;
    std::memcpy(&value, bytes.data() + y * pitch + x * sizeof(T), sizeof(T));
    return value;
  }
  // As a number that every test's sums fit into exactly.
  double number(int x, int y) const {
    switch (element) {
      case Element::u8:
        return at<std::uint8_t>(x, y);
      case Element::u16:
        return at<std::uint16_t>(x, y);
      case Element::s16:
        return at<std::int16_t>(x, y);
      case Element::u32:
        return at<std::uint32_t>(x, y);
      case Element::s32:
        return at<std::int32_t>(x, y);
      case Element::u64:
        return static_cast<double>(at<std::uint64_t>(x, y));
      case Element::s64:
        return static_cast<double>(at<std::int64_t>(x, y));
      case Element::f32:
        return at<float>(x, y);
      case Element::f64:
        break;
    }
    return at<double>(x, y);
  }
};

constexpr std::uint8_t poison = 0xA5;

// `gap`: bytes between two rows.
inline OwnedArray poisoned_array(Size size, Element element, int gap) {
  const std::ptrdiff_t pitch =
      static_cast<std::ptrdiff_t>(size.width) * bytes_per_element(element) + gap;
  return {std::vector<std::uint8_t>(static_cast<std::size_t>(pitch) * size.height, poison), size,
          pitch, element};
}

// Small whole numbers, so that floating-point sums, also of squares, are exact in any order.
inline OwnedArray random_array(Size size, Element element, int gap, unsigned seed) {
  OwnedArray array = poisoned_array(size, element, gap);
  std::mt19937 random(seed);
  const auto fill = [&](auto zero, int low, unsigned count) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto value = static_cast<decltype(zero)>(low + static_cast<int>(random() % count));
        std::memcpy(array.bytes.data() + y * array.pitch + x * sizeof(value), &value,
                    sizeof(value));
      }
  };
  switch (element) {
    case Element::u8:
      fill(std::uint8_t{}, 0, 8);
      break;
    case Element::u16:
      fill(std::uint16_t{}, 0, 100);
      break;
    case Element::s16:
      fill(std::int16_t{}, -50, 100);
      break;
    case Element::u32:
      fill(std::uint32_t{}, 0, 100);
      break;
    case Element::s32:
      fill(std::int32_t{}, -50, 100);
      break;
    case Element::u64:
      fill(std::uint64_t{}, 0, 100);
      break;
    case Element::s64:
      fill(std::int64_t{}, -50, 100);
      break;
    case Element::f32:
      fill(float{}, -50, 100);
      break;
    case Element::f64:
      fill(double{}, -50, 100);
  }
  return array;
}

inline void expect_sums(const OwnedArray& input, const OwnedArray& table, const SatCase& one) {
  const auto [width, height] = input.size;
  const int border = one.exclusive ? 1 : 0;
  std::vector<double> columns(static_cast<std::size_t>(width));
  int wrong = 0;
  const auto expect = [&](int x, int y, double sum) {
    if (table.number(x, y) != sum && ++wrong <= 3)
      ADD_FAILURE() << ::testing::PrintToString(one) << " " << width << "x" << height << " at " << x
                    << ", " << y << ": " << table.number(x, y) << ", not " << sum;
  };
  for (int x = 0; x < table.size.width && one.exclusive; ++x) expect(x, 0, 0);
  for (int y = 0; y < height; ++y) {
    if (one.exclusive) expect(0, y + 1, 0);
    double along = 0;
    for (int x = 0; x < width; ++x) {
      const double value = input.number(x, y);
      columns[x] += one.squares ? value * value : value;
      expect(x + border, y + border, along += columns[x]);
    }
  }
}

inline void expect_untouched_gaps(const OwnedArray& table) {
  const std::size_t row =
      static_cast<std::size_t>(table.size.width) * bytes_per_element(table.element);
  for (int y = 0; y < table.size.height; ++y)
    for (auto i = row; i < static_cast<std::size_t>(table.pitch); ++i)
      ASSERT_EQ(table.bytes[y * table.pitch + i], poison) << "after row " << y;
}

}  // namespace facesat::test
