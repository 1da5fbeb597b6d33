// The CPU's SAT algorithms of `facesat bench sat` against a plain double loop; its prefix scans,
// and the settings that a search goes through.
#include "lab/problems/on_cpu.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"
#include "tests/kit/compare.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"
#include "tests/kit/reference.hpp"

namespace facesat::test {
namespace {

using lab::Summed;

// Integers with random bits, whose sums wrap; real numbers so small that every sum is exact in any
// order.
template <class In, class Out>
Image<In> noise_of(Size size) {
  std::mt19937 random(7);
  return formula<In>(
      size, [&](int, int) { return std::is_floating_point_v<Out> ? random() % 50 : random(); });
}

// The table is surrounded by a border of zeros, which must be unchanged afterwards.
template <Summed summed, class Out, class In, class Algorithm>
void check(View<const In> picture, Algorithm algorithm, const std::string& what) {
  const auto [width, height] = picture.size;
  Image<Out> memory({width + 2, height + 2});
  for (int y = 0; y < height + 2; ++y) std::fill_n(memory.row(y), width + 2, Out{});
  const View<Out> table = memory.view().sub({1, 1, width, height});
  // must be overwritten
  for (int y = 0; y < height; ++y) std::fill_n(table.row(y), width, static_cast<Out>(99));
  algorithm(picture, table);
  EXPECT_TRUE(same(table, reference::sat<Out>(picture, summed == Summed::squares).view())) << what;
  for (int y = -1; y <= height; ++y)
    for (int x = -1; x <= width; ++x)
      if (x < 0 || y < 0 || x == width || y == height) {
        ASSERT_EQ(table.row(y)[x], Out{}) << what << ", outside, at " << x << ", " << y;
      }
}

TEST(CpuSats, AllTypesAndAwkwardSizes) {
  for (const Size size : {Size{1, 1}, {1, 70}, {133, 1}, {3, 5}, {33, 65}, {65, 33}, {300, 900}})
    for (const gpu::SatTypeInfo& info : gpu::sat_types)
      gpu::visit_types(info.type, [&]<class In, class Out>(In, Out) {
        const Image<In> image = noise_of<In, Out>(size);
        const View<const In> picture = image.view();
        const std::string what = std::string(info.name) + " " + ::testing::PrintToString(size);
        check<Summed::values, Out>(picture, lab::cpu_2r2w<Summed::values, In, Out>, what + " 2R2W");
        check<Summed::values, Out>(picture, lab::cpu_4r1w<Summed::values, In, Out>, what + " 4R1W");
        for (const int threads : {1, 2, 3, 19})
          tbb::task_arena(threads).execute([&] {
            check<Summed::values, Out>(picture, lab::cpu_blocks<Summed::values, In, Out>,
                                       what + " blocks of " + std::to_string(threads));
          });
        // Sums of many squares are not exact in 32f.
        if (sizeof(In) > 1 || (size.height > 100 && info.type == gpu::SatType::u8_f32)) return;
        check<Summed::squares, Out>(picture, lab::cpu_blocks<Summed::squares, In, Out>,
                                    what + " blocks, squares");
        check<Summed::squares, Out>(picture, lab::cpu_2r2w<Summed::squares, In, Out>,
                                    what + " 2R2W, squares");
        check<Summed::squares, Out>(picture, lab::cpu_4r1w<Summed::squares, In, Out>,
                                    what + " 4R1W, squares");
      });
}

}  // namespace
}  // namespace facesat::test

// ---- prefix scans
namespace facesat::lab {
namespace {

using gpu::ScanOperator;

TEST(CpuScans, FollowTheDefinition) {
  const std::vector<int> input{3, -1, 4, 0, -5};
  std::vector<int> output(input.size());
  scan_serially<ScanOperator::sum, int>(input, output.data(), true, 0);
  EXPECT_EQ(output, (std::vector<int>{3, 2, 6, 6, 1}));
  scan_serially<ScanOperator::sum, int>(input, output.data(), false, 0);
  EXPECT_EQ(output, (std::vector<int>{0, 3, 2, 6, 6}));
  scan_serially<ScanOperator::minimum, int>(input, output.data(), false,
                                            std::numeric_limits<int>::max());
  EXPECT_EQ(output, (std::vector<int>{std::numeric_limits<int>::max(), 3, -1, -1, -1}));
}

TEST(CpuScans, OrdersAndTuplesFollowTheDefinition) {
  for (const int order : {1, 2, 8})
    for (const int tuple : {1, 2, 3, 8})
      for (const bool is_inclusive : {true, false}) {
        std::vector<unsigned> input(101), expected(input.size()), output(input.size());
        std::iota(input.begin(), input.end(), 0x9E3779B1u);
        gpu::scan_reference({.is_inclusive = is_inclusive,
                             .n = 101,
                             .input = input.data(),
                             .output = expected.data(),
                             .order = order,
                             .tuple = tuple});
        scan_tuples_serially<ScanOperator::sum, unsigned>(input, output.data(), is_inclusive, order,
                                                          tuple);
        EXPECT_EQ(output, expected) << order << ", " << tuple;
        scan_tuples_serially<ScanOperator::sum, unsigned>(input, input.data(), is_inclusive, order,
                                                          tuple);
        EXPECT_EQ(input, expected) << order << ", " << tuple << ", in place";
      }
}

// Also more parts than elements, and in place.
TEST(CpuScans, PartsGiveTheSame) {
  for (const std::size_t n : {1, 2, 7, 64, 1001})
    for (const std::size_t parts : {1, 2, 3, 64})
      for (const bool is_inclusive : {true, false}) {
        std::vector<unsigned> input(n), expected(n), output(n);
        std::iota(input.begin(), input.end(), 0x9E3779B1u);
        scan_serially<ScanOperator::sum, unsigned>(input, expected.data(), is_inclusive, 0u);
        scan_in_parts<ScanOperator::sum, unsigned>(input, output.data(), is_inclusive, parts);
        EXPECT_EQ(output, expected) << n << " in " << parts;
        scan_in_parts<ScanOperator::sum, unsigned>(input, input.data(), is_inclusive, parts);
        EXPECT_EQ(input, expected) << n << " in " << parts << ", in place";
      }
}

TEST(ScanSearch, GoesThroughAllCombinations) {
  static constexpr std::array of_first{1, 2, 3}, of_second{10, 20, 30};
  static constexpr std::array parameters{gpu::ScanParameter{"first", "", 1, of_first},
                                         gpu::ScanParameter{"second", "", 10, of_second}};
  gpu::ScanAlgorithm algorithm{};
  EXPECT_EQ(gpu::all_settings(algorithm), std::vector{gpu::ScanSettings{}});
  algorithm.parameters = parameters;
  const std::vector<gpu::ScanSettings> all = gpu::all_settings(algorithm);
  EXPECT_EQ(all.size(), 9u);
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), 9u);
  for (const gpu::ScanSettings& settings : all) {
    EXPECT_TRUE(settings[0] >= 1 && settings[0] <= 3) << settings[0];
    EXPECT_TRUE(settings[1] == 10 * (settings[1] / 10) && settings[1] <= 30) << settings[1];
  }
}

}  // namespace
}  // namespace facesat::lab
