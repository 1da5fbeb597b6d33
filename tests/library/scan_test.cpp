// scan() in host memory against the definition, and what it refuses.
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "facesat.hpp"
#include "tests/kit/messages.hpp"

namespace facesat::test {
namespace {

template <class T>
ArrayView row_of(std::vector<T>& values, Element element) {
  return {.data = values.data(), .size = {static_cast<int>(values.size()), 1}, .element = element};
}

template <class T>
std::vector<T> scanned(std::vector<T> values, Element element, const ScanOptions& options) {
  std::vector<T> result(values.size());
  scan(row_of(values, element), row_of(result, element), options);
  scan(row_of(values, element), row_of(values, element), options);  // in place
  EXPECT_EQ(values, result);
  return result;
}

TEST(HostScan, CombinesAllElementsUpToEach) {
  using enum ScanOperator;
  const std::vector<int> values{3, -1, 4, 1, -5};
  EXPECT_EQ(scanned(values, Element::s32, {}), (std::vector{3, 2, 6, 7, 2}));
  EXPECT_EQ(scanned(values, Element::s32, {.exclusive = true}), (std::vector{0, 3, 2, 6, 7}));
  EXPECT_EQ(scanned(values, Element::s32, {.op = product}), (std::vector{3, -3, -12, -12, 60}));
  EXPECT_EQ(scanned(values, Element::s32, {.op = maximum}), (std::vector{3, 3, 4, 4, 4}));
  EXPECT_EQ(scanned(values, Element::s32, {.op = minimum, .exclusive = true}),
            (std::vector{std::numeric_limits<int>::max(), 3, -1, -1, -1}));
}

TEST(HostScan, TakesEveryType) {
  EXPECT_EQ(scanned(std::vector<std::uint32_t>{4'000'000'000, 4'000'000'000}, Element::u32, {}),
            (std::vector<std::uint32_t>{4'000'000'000, 3'705'032'704}));
  EXPECT_EQ(scanned(std::vector<std::int64_t>{4'000'000'000, 4'000'000'000}, Element::s64, {}),
            (std::vector<std::int64_t>{4'000'000'000, 8'000'000'000}));
  EXPECT_EQ(scanned(std::vector<float>{0.5f, 0.25f}, Element::f32, {}),
            (std::vector<float>{0.5f, 0.75f}));
  EXPECT_EQ(scanned(std::vector<double>{0.5, 0.25}, Element::f64,
                    {.op = ScanOperator::maximum, .exclusive = true}),
            (std::vector<double>{-std::numeric_limits<double>::infinity(), 0.5}));
}

TEST(HostScan, ARecursiveFilterIsAScanOfMaps) {
  constexpr float c = 0.5f;
  std::vector<float> signal{1, 2, -3, 8, 0, 5}, maps;
  for (const float x : signal) maps.insert(maps.end(), {c, x});
  const std::vector<float> composed = scanned(maps, Element::f32, {.op = ScanOperator::compose});
  float y = 0;
  for (std::size_t i = 0; i < signal.size(); ++i) {
    y = c * y + signal[i];
    EXPECT_EQ(composed[2 * i + 1], y) << i;
    EXPECT_EQ(composed[2 * i], std::pow(c, static_cast<float>(i + 1))) << i;
  }
}

std::string refusal(const ConstArrayView& input, const ArrayView& output,
                    const ScanOptions& options = {}) {
  return message_of<Error>([&] { scan(input, output, options); });
}

TEST(HostScan, SaysWhatItDoesNotTake) {
  std::vector<float> values(8), others(8);
  const ArrayView view = row_of(values, Element::f32), other = row_of(others, Element::f32);
  ArrayView wrong = other;
  wrong.size = {4, 2};
  EXPECT_EQ(refusal(wrong, wrong), "a scan is of an array of one row, not of 4 x 2");
  wrong = other;
  wrong.size.width = 7;
  EXPECT_NE(refusal(view, wrong), "");
  EXPECT_EQ(refusal(wrong, wrong, {.op = ScanOperator::compose}),
            "compose needs maps, pairs of elements, but their number is odd");
  wrong = other;
  wrong.element = Element::u16;
  EXPECT_EQ(refusal(wrong, wrong), "a scan is of s32, u32, s64, f32 or f64");
  wrong.element = Element::f64;
  wrong.size.width = 4;
  EXPECT_EQ(refusal(wrong, wrong, {.op = ScanOperator::compose}), "maps are of u32 or f32");
  wrong = other;
  wrong.data = nullptr;
  EXPECT_EQ(refusal(view, wrong), "the result has no memory");
  wrong = other;
  wrong.data = reinterpret_cast<std::byte*>(others.data()) + 1;
  EXPECT_NE(refusal(view, wrong), "");
  EXPECT_NE(refusal(view, other, {.algorithm = "facesat_scan"}), "");
  std::vector<float> none;
  EXPECT_NE(refusal(row_of(none, Element::f32), row_of(none, Element::f32)), "");
}

}  // namespace
}  // namespace facesat::test
