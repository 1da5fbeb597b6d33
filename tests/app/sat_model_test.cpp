// The models of SAT algorithms against what the papers print, and against sums made by hand.
#include "app/bench/sat_model.hpp"

#include <gtest/gtest.h>

namespace facesat::app {
namespace {

constexpr const gpu::SatTypeInfo& u8 = gpu::info_of(gpu::SatType::u8_s32);
constexpr const gpu::SatTypeInfo& f64 = gpu::info_of(gpu::SatType::f64_f64);

// Chen et al., section V-A: clocks on P100 and V100.
constexpr gpu::MicroFigures p100{.shuffle = 33, .shared_read = 36, .add = 6, .bit_and = 6};
constexpr gpu::MicroFigures v100{.shuffle = 39, .shared_read = 27, .add = 4, .bit_and = 4};

// Round numbers: l is 3 us, a microsecond copies 10^6 bytes.
constexpr gpu::MicroFigures round_figures{.multiprocessors = 16,
                                          .clock_hz = 1e9,
                                          .shuffle = 33,
                                          .shared_read = 36,
                                          .add = 6,
                                          .bit_and = 6,
                                          .global_read = 500,
                                          .memcpy_bytes_per_s = 0.5e12,
                                          .kernel_copy_bytes_per_s = 1e12,
                                          .launch_us = 2.5};

// That many launches, each of which reads and writes every element once.
gpu::SatInfo sat_of(const std::string& id, int launches) {
  gpu::SatInfo sat;
  sat.id = id;
  sat.launches = launches;
  sat.reads = sat.writes = launches;
  return sat;
}

TEST(SatModel, CostsOnTheHmmFollowTheLemmas) {
  constexpr Size square{8, 8};  // n = 64
  constexpr int w = 4;
  constexpr double l = 10;
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_2r2w(square), l, w), 2 * 64 + 2 * 64 / 4 + 2 * 9);
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_4r4w(square), l, w), 8 * 64 / 4 + 4 * 9);
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_2r1w(square, w), l, w), 3 * 64 / 4 + 8 * 64 / 16 + 3 * 9);
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_4r1w(square), l, w), 5 * 64 + (2 * 8 - 1) * 9);
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_1r1w(square, w), l, w), 2 * 64 / 4 + (2 * 8 / 4 - 1) * 9);
  // n = 64 * 64; the triangles' legs are 8 blocks, so that k = 1.
  EXPECT_DOUBLE_EQ(hmm_time_units(hmm_hybrid({64, 64}, 0.25, w), l, w),
                   2.25 * 4096 / 4 + (64 / 4 + 5 + 4) * 9);
}

TEST(SatModel, BarriersAreThoseOfThePaper) {
  // Section V: no recursion up to 2^20 elements, one up to 2^30.
  EXPECT_EQ(hmm_2r1w({1024, 1024}).barriers, 2);
  EXPECT_EQ(hmm_2r1w({1056, 1056}).barriers, 4);
  EXPECT_EQ(hmm_2r1w({32768, 32768}).barriers, 4);
  // Figures 3, 10 and 11: 9 x 9 elements in blocks of 3 x 3.
  EXPECT_EQ(hmm_4r1w({9, 9}).barriers, 16);
  EXPECT_EQ(hmm_1r1w({9, 9}, 3).barriers, 4);
  // Table I: sqrt(n) / w + 4k + 4 for 1.25R1W.
  EXPECT_EQ(hmm_hybrid({1024, 1024}, 0.25).barriers, 32 + 4);
  EXPECT_EQ(hmm_hybrid({8192, 8192}, 0.25).barriers, 256 + 8);
  // Pictures that are not square, or not of whole blocks.
  EXPECT_EQ(hmm_4r1w({7, 3}).barriers, 8);
  EXPECT_EQ(hmm_1r1w({65, 32}).barriers, 2);
}

TEST(SatModel, HmmInMicroseconds) {
  constexpr Size size{1000, 1000};
  EXPECT_DOUBLE_EQ(hmm_us(hmm_4r4w(size), u8, round_figures), (1 + 7 * 4) + 4 * 3.0);
  EXPECT_DOUBLE_EQ(hmm_us(hmm_4r4w(size), f64, round_figures), (8 + 7 * 8) + 4 * 3.0);
  EXPECT_DOUBLE_EQ(hmm_us(hmm_2r2w(size), u8, round_figures), (1 + 4 + 32 * 2 * 4) + 2 * 3.0);
}

TEST(SatModel, LatenciesOfARegisterMatrixAreThoseOfThePaper) {
  EXPECT_EQ(chen_transpose_clocks(p100), 2304);
  EXPECT_EQ(chen_scan_rows_clocks(RowScan::kogge_stone, p100), 6240);
  EXPECT_EQ(chen_scan_rows_clocks(RowScan::ladner_fischer, p100), 6240 + 160 * 6);
  EXPECT_EQ(chen_scan_columns_clocks(p100), 186);
  EXPECT_EQ(chen_transpose_clocks(v100), 64 * 27);
  EXPECT_EQ(chen_scan_rows_clocks(RowScan::kogge_stone, v100), 160 * 43);
  EXPECT_EQ(chen_scan_columns_clocks(v100), 31 * 4);
}

TEST(SatModel, LatenciesOfKernels) {
  constexpr Size size{2048, 1024};
  const auto clocks = [&](const char* id, const gpu::SatTypeInfo& type) {
    return chen_clocks(id, type, size, round_figures).value();
  };
  // 32 blocks twice over 16 multiprocessors, 2 steps; then 64 blocks, 1 step.
  EXPECT_EQ(clocks("chen_2018_brlt_scanrow", u8), 8 * (500 + 2304 + 186));
  EXPECT_EQ(clocks("chen_2018_scanrow_brlt_ks", u8), 8 * (500 + 6240 + 2304));
  EXPECT_EQ(clocks("chen_2018_scanrow_brlt_lf", u8), 8 * (500 + 7200 + 2304));
  EXPECT_EQ(clocks("chen_2018_scanrow_column_ks", u8),
            4 * (500 + 6240 + 32 * 39) + 4 * (500 + 186));
  // Blocks of 512 threads: twice as many steps, and twice as many blocks on rows.
  EXPECT_EQ(clocks("chen_2018_brlt_scanrow", f64), 16 * (500 + 2304 + 186));
  EXPECT_EQ(clocks("chen_2018_scanrow_column_lf", f64),
            8 * (500 + 7200 + 32 * 39) + 8 * (500 + 186));
  EXPECT_FALSE(chen_clocks("facesat_lookback", u8, size, round_figures));
}

TEST(SatModel, BytesAndLaunches) {
  constexpr Size size{1000, 1000};
  const auto us = [&](const gpu::SatInfo& sat, bool squares) {
    const SatModel model = sat_model(sat, u8, size, squares, round_figures);
    EXPECT_EQ(model.name, "bytes");
    return model.us;
  };
  const gpu::SatInfo once = sat_of("facesat_lookback", 1);
  EXPECT_DOUBLE_EQ(us(once, false), 1 + 4 + 2.5);
  EXPECT_DOUBLE_EQ(us(once, true), 1 + 4 + 4 + 2.5);
  const gpu::SatInfo twice = sat_of("scan_rows_columns", 2);
  EXPECT_DOUBLE_EQ(us(twice, false), 1 + 3 * 4 + 2 * 2.5);
  EXPECT_DOUBLE_EQ(us(twice, true), 2 * us(twice, false));
}

TEST(SatModel, EveryAlgorithmHasTheModelOfItsPaper) {
  for (const std::string id : {
#define FACESAT_SAT(id) #id,
#include "kernels/sat/registry.def"
#undef FACESAT_SAT
       }) {
    const SatModel model = sat_model(sat_of(id, 2), u8, {1920, 1080}, false, round_figures);
    EXPECT_EQ(model.name, id.starts_with("kasagi_2014_") ? "hmm"
                          : id.starts_with("chen_2018_") ? "latency"
                                                         : "bytes")
        << id;
    EXPECT_GT(model.us, 0) << id;
  }
}

TEST(SatModel, LatencyModelsAddTheirClocksToTheBytes) {
  const SatModel model =
      sat_model(sat_of("chen_2018_brlt_scanrow", 2), u8, {2048, 1024}, false, round_figures);
  EXPECT_DOUBLE_EQ(model.us, 2.097152 * 13 + 2 * 2.5 + 23.92);
}

}  // namespace
}  // namespace facesat::app
