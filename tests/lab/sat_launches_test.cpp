// The launches that the benchmark of SATs records.
#include <map>

#include <gtest/gtest.h>

#include "kernels/sat/chen_2018_model.hpp"
#include "lab/micro.hpp"
#include "lab/problems/sat.hpp"

namespace facesat::gpu {
namespace {

TEST(SatBench, RecordsLaunchesInTheirOrder) {
  const SatSubjects sats =
      sat_subjects({.type = SatType::u8_u32, .size = {64, 96}, .squares = true}, 0,
                   {"chen_2018_brlt_scanrow", "chen_2018_scanrow_column_ks", "kasagi_2014_1r1w"});
  const auto measured = lab::measure(sats.subjects, 3, sats.room);
  std::map<std::string, std::vector<SatLaunch>> launches;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    EXPECT_EQ(measured[i].us.size(), 3u) << measured[i].failure;
    const std::string& id = sats.subjects[i].id;
    if (id == "floor" || id == "memcpy") continue;
    EXPECT_EQ(measured[i].checked, true) << id;
    launches[id] = sats.launches(id, 3);
  }
  ASSERT_EQ(launches.size(), 3u);
  // Two launches for each of two tables.
  const std::array<const char*, 4> kernels{"scan_row_kernel", "scan_column_kernel",
                                           "scan_row_kernel", "scan_column_kernel"};
  ASSERT_EQ(launches["chen_2018_scanrow_column_ks"].size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& [figures, count, us] = launches["chen_2018_scanrow_column_ks"][i];
    EXPECT_EQ(figures.kernel, kernels[i]);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(us.size(), 3u);
    EXPECT_GT(us.front(), 0);
  }
  const MicroFigures micro = measure_micro(0);
  ASSERT_EQ(launches["chen_2018_brlt_scanrow"].size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const LaunchFigures& figures = launches["chen_2018_brlt_scanrow"][i].figures;
    EXPECT_EQ(figures.kernel, "scan_transpose_kernel");
    EXPECT_EQ(figures.grid, (std::array{1u, i % 2 == 0 ? 3u : 2u, 1u}));
    EXPECT_EQ(figures.block, (std::array{1024u, 1u, 1u}));
    EXPECT_GT(figures.registers, 32);  // a column of the register matrix
    EXPECT_GE(figures.static_bytes, (8 * 32 * 33 + 1024) * 4u);
    EXPECT_EQ(figures.dynamic_bytes, 0u);
    // Equation 8 agrees with CUDA.
    EXPECT_EQ(chen_active_warps(figures, micro),
              micro.multiprocessors * figures.resident_blocks * 32);
  }
  // 2 x 3 tiles, in one kernel for each of the two tables.
  ASSERT_EQ(launches["kasagi_2014_1r1w"].size(), 2u);
  for (const auto& [figures, count, us] : launches["kasagi_2014_1r1w"]) {
    EXPECT_EQ(count, 4);
    EXPECT_EQ(figures.grid, (std::array{2u, 1u, 1u}));
    EXPECT_TRUE(us.empty());
  }
}

}  // namespace
}  // namespace facesat::gpu
