// The cost models of SAT algorithms against the papers' numbers and against hand calculations.
#include <gtest/gtest.h>

#include "kernels/sat/algorithm.hpp"
#include "kernels/sat/chen_2018_model.hpp"
#include "kernels/sat/kasagi_2014_model.hpp"

namespace facesat::gpu {
namespace {

constexpr const SatTypeInfo& u8 = info_of(SatType::u8_s32);
constexpr const SatTypeInfo& f64 = info_of(SatType::f64_f64);

// Chen et al., section V-A: clocks on P100 and V100.
constexpr MicroFigures p100{.shuffle = 33, .shared_read = 36, .add = 6, .bit_and = 6};
constexpr MicroFigures v100{.shuffle = 39, .shared_read = 27, .add = 4, .bit_and = 4};

// Round numbers: l, the latency of a read and of a launch, is 0.5 + 2.5 = 3 us, and a kernel copies
// 10^6 bytes per microsecond.
constexpr MicroFigures round_figures{.multiprocessors = 16,
                                     .clock_hz = 1e9,
                                     .shuffle = 33,
                                     .shared_read = 36,
                                     .add = 6,
                                     .bit_and = 6,
                                     .global_read = 500,
                                     .memcpy_bytes_per_s = 0.5e12,
                                     .kernel_copy_bytes_per_s = 1e12,
                                     .launch_us = 2.5};

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
  // 10^6 elements: 1 us for each byte of an element, and 3 us for each barrier and the end.
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
  // 32 blocks twice over 16 multiprocessors, 2 steps; then 64 blocks, 1 step.
  EXPECT_EQ(chen_brlt_scan_row_clocks(u8, size, round_figures), 8 * (500 + 2304 + 186));
  EXPECT_EQ(chen_scan_row_brlt_clocks(RowScan::kogge_stone, u8, size, round_figures),
            8 * (500 + 6240 + 2304));
  EXPECT_EQ(chen_scan_row_brlt_clocks(RowScan::ladner_fischer, u8, size, round_figures),
            8 * (500 + 7200 + 2304));
  EXPECT_EQ(chen_scan_row_column_clocks(RowScan::kogge_stone, u8, size, round_figures),
            4 * (500 + 6240 + 32 * 39) + 4 * (500 + 186));
  // Blocks of 512 threads: twice as many steps, and twice as many blocks on rows.
  EXPECT_EQ(chen_brlt_scan_row_clocks(f64, size, round_figures), 16 * (500 + 2304 + 186));
  EXPECT_EQ(chen_scan_row_column_clocks(RowScan::ladner_fischer, f64, size, round_figures),
            8 * (500 + 7200 + 32 * 39) + 8 * (500 + 186));
}

// The modelled time for one or both integral images of an 8-bit picture.
double model_us(const SatAlgorithm& sat, Size size, int tables = 1) {
  return sat.model.us(sat, u8, size, tables, round_figures);
}

TEST(SatModel, TimesFollowFromBytesAndLaunches) {
  constexpr Size size{1000, 1000};
  EXPECT_DOUBLE_EQ(model_us(facesat_lookback, size), 1 + 4 + 2.5);
  EXPECT_DOUBLE_EQ(model_us(facesat_lookback, size, 2), 1 + 4 + 4 + 2.5);
  EXPECT_DOUBLE_EQ(model_us(scan_rows_columns, size), 1 + 3 * 4 + 2 * 2.5);
  EXPECT_DOUBLE_EQ(model_us(scan_rows_columns, size, 2), 2 * model_us(scan_rows_columns, size));
}

TEST(SatModel, AlgorithmsHaveTheModelsOfTheirPapers) {
  constexpr Size size{2048, 1024};
  const auto hmm = [](const HmmCost& cost) { return hmm_us(cost, u8, round_figures); };
  const auto latency = [](double clocks) {
    // Elements / 10^6, times 1 + 3 * 4 bytes; two launches; the clocks.
    return 2.097152 * 13 + 2 * 2.5 + microseconds(clocks, round_figures);
  };
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_2r2w, size), hmm(hmm_2r2w(size)));
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_4r4w, size), hmm(hmm_4r4w(size)));
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_4r1w, size), hmm(hmm_4r1w(size)));
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_2r1w, size), hmm(hmm_2r1w(size)));
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_1r1w, size), hmm(hmm_1r1w(size)));
  EXPECT_DOUBLE_EQ(model_us(kasagi_2014_hybrid, size),
                   hmm(hmm_hybrid(size, kasagi_2014_hybrid.reads - 1)));
  EXPECT_DOUBLE_EQ(model_us(chen_2018_brlt_scanrow, size), latency(8 * (500 + 2304 + 186)));
  EXPECT_DOUBLE_EQ(model_us(chen_2018_scanrow_brlt_ks, size), latency(8 * (500 + 6240 + 2304)));
  EXPECT_DOUBLE_EQ(model_us(chen_2018_scanrow_brlt_lf, size), latency(8 * (500 + 7200 + 2304)));
  EXPECT_DOUBLE_EQ(model_us(chen_2018_scanrow_column_ks, size),
                   latency(4 * (500 + 6240 + 32 * 39) + 4 * (500 + 186)));
  EXPECT_DOUBLE_EQ(model_us(chen_2018_scanrow_column_lf, size),
                   latency(4 * (500 + 7200 + 32 * 39) + 4 * (500 + 186)));
}

TEST(SatModel, TablesOneAfterTheOtherTakeTwiceTheTime) {
  for (const SatAlgorithm* sat : sat_algorithms()) {
    const double one = model_us(*sat, {1920, 1080}), both = model_us(*sat, {1920, 1080}, 2);
    EXPECT_GT(one, 0) << sat->id;
    if (sat->both_at_once)
      EXPECT_LT(both, 2 * one) << sat->id;
    else
      EXPECT_DOUBLE_EQ(both, 2 * one) << sat->id;
  }
}

}  // namespace
}  // namespace facesat::gpu
