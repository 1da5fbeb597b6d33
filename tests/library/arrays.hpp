// Arrays of all element types for tests of sat(), and images of all formats and layouts for tests
// of detectors, in host memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "core/image.hpp"
#include "facesat.hpp"

namespace facesat::test {

// ---- images

struct OwnedView {
  std::string name;
  std::vector<std::uint8_t> bytes;
  ImageView view;
};

// The rows of a view one below the other, `gap` poisoned bytes apart, upwards if wanted.
inline OwnedView laid_out(const ImageView& image, int gap, bool upwards, std::string name) {
  const int row = image.size.width * bytes_per_pixel(image.format);
  const std::ptrdiff_t pitch = row + gap;
  OwnedView owned{std::move(name), {}, image};
  owned.bytes.assign(static_cast<std::size_t>(pitch) * image.size.height, 0xA5);
  for (int y = 0; y < image.size.height; ++y)
    std::memcpy(owned.bytes.data() + (upwards ? image.size.height - 1 - y : y) * pitch,
                static_cast<const std::uint8_t*>(image.pixels) + y * image.pitch,
                static_cast<std::size_t>(row));
  owned.view.pixels = owned.bytes.data() + (upwards ? (image.size.height - 1) * pitch : 0);
  owned.view.pitch = upwards ? -pitch : pitch;
  return owned;
}

// A colour picture, also in the other order and with a fourth byte, in all layouts.
inline std::vector<OwnedView> all_layouts(View<const Bgr> colour) {
  Image<Bgra> wide(colour.size);
  Image<Rgb> reversed(colour.size);
  for (int y = 0; y < colour.size.height; ++y)
    for (int x = 0; x < colour.size.width; ++x) {
      const auto [b, g, r] = colour.row(y)[x];
      wide.row(y)[x] = {b, g, r, static_cast<std::uint8_t>(x + y)};
      reversed.row(y)[x] = {r, g, b};
    }
  const ImageView bgra{.pixels = wide.view().data,
                       .size = colour.size,
                       .pitch = wide.view().pitch * 4,
                       .format = PixelFormat::bgra};
  std::vector<OwnedView> all;
  for (const int gap : {0, 1, 2, 3, 64})
    for (const bool upwards : {false, true}) {
      const std::string layout =
          " with a gap of " + std::to_string(gap) + (upwards ? ", upwards" : "");
      all.push_back(laid_out(image_view(colour), gap, upwards, "BGR" + layout));
      all.push_back(laid_out(bgra, gap, upwards, "BGRA" + layout));
      all.push_back(
          laid_out(image_view(View<const Rgb>(reversed.view())), gap, upwards, "RGB" + layout));
    }
  return all;
}

// ---- arrays

struct SatCase {
  const char* name;
  Element input, table;
  bool squares = false, exclusive = false;

  friend void PrintTo(const SatCase& one, std::ostream* out) {
    *out << one.name << (one.squares ? "_squares" : "") << (one.exclusive ? "_exclusive" : "");
  }
};

// All of these, inclusive and exclusive, those of the first list with squares and without.
inline std::vector<SatCase> variants(const std::vector<SatCase>& squared,
                                     const std::vector<SatCase>& plain) {
  std::vector<SatCase> all;
  for (const bool exclusive : {false, true}) {
    for (const bool squares : {false, true})
      for (const SatCase& one : squared)
        all.push_back({one.name, one.input, one.table, squares, exclusive});
    for (const SatCase& one : plain)
      all.push_back({one.name, one.input, one.table, false, exclusive});
  }
  return all;
}

inline std::vector<SatCase> device_sat_cases() {
  using enum Element;
  return variants({{"u8_u32", u8, u32}, {"u8_s32", u8, s32}, {"u8_f32", u8, f32}},
                  {{"s32", s32, s32}, {"u32", u32, u32}, {"f32", f32, f32}, {"f64", f64, f64}});
}

// Those that only the host makes.
inline std::vector<SatCase> further_sat_cases() {
  using enum Element;
  return variants({{"u8_u64", u8, u64},
                   {"u8_s64", u8, s64},
                   {"u8_f64", u8, f64},
                   {"u16_u32", u16, u32},
                   {"u16_s32", u16, s32},
                   {"u16_u64", u16, u64},
                   {"u16_s64", u16, s64},
                   {"u16_f64", u16, f64},
                   {"s16_s32", s16, s32},
                   {"s16_s64", s16, s64},
                   {"s16_f64", s16, f64}},
                  {{"u32_u64", u32, u64},
                   {"u32_s64", u32, s64},
                   {"u32_f64", u32, f64},
                   {"s32_s64", s32, s64},
                   {"s32_f64", s32, f64},
                   {"f32_f64", f32, f64}});
}

inline Size table_size(Size input, const SatCase& one) {
  return one.exclusive ? Size{input.width + 1, input.height + 1} : input;
}

inline SatOptions options_of(const SatCase& one) {
  return {.squares = one.squares, .exclusive = one.exclusive};
}

// Calls visit() with a zero of the element's type.
template <class Visit>
auto with_type(Element element, Visit visit) {
  switch (element) {
    case Element::u8:
      return visit(std::uint8_t{});
    case Element::u16:
      return visit(std::uint16_t{});
    case Element::s16:
      return visit(std::int16_t{});
    case Element::u32:
      return visit(std::uint32_t{});
    case Element::s32:
      return visit(std::int32_t{});
    case Element::u64:
      return visit(std::uint64_t{});
    case Element::s64:
      return visit(std::int64_t{});
    case Element::f32:
      return visit(float{});
    case Element::f64:
      break;
  }
  return visit(double{});
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
    return with_type(element,
                     [&](auto zero) { return static_cast<double>(at<decltype(zero)>(x, y)); });
  }
};

// The view of an array whose rows follow each other without gaps.
inline ArrayView packed(const void* data, Size size, Element element, bool on_device = false) {
  return {.data = const_cast<void*>(data),
          .size = size,
          .pitch = static_cast<std::ptrdiff_t>(size.width) * bytes_per_element(element),
          .element = element,
          .on_device = on_device};
}

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
  with_type(element, [&](auto zero) {
    using T = decltype(zero);
    const int low = std::is_signed_v<T> ? -50 : 0;
    const unsigned count = sizeof(T) == 1 ? 8 : 100;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto value = static_cast<T>(low + static_cast<int>(random() % count));
        std::memcpy(array.bytes.data() + y * array.pitch + x * sizeof(T), &value, sizeof(T));
      }
  });
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
