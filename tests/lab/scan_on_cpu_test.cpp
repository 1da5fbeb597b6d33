// Prefix scans on the CPU, and the settings that a search goes through.
#include "lab/problems/scan_on_cpu.hpp"

#include <limits>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "kernels/scan/algorithm.hpp"

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
