// The cost models of SAT algorithms against the papers' numbers and against hand calculations.
#include "kernels/sat/model.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

constexpr const SatTypeInfo& u8 = info_of(SatType::u8_s32);
constexpr const SatTypeInfo& f64 = info_of(SatType::f64_f64);

// Chen et al., table I and section V: clocks, bytes and lanes per second on P100 and V100. The
// paper has throughputs of 32 shuffles, 64 additions and 64 ANDs per clock and multiprocessor; the
// clocks are those of NVIDIA's data sheets, 1.328 and 1.38 GHz.
constexpr double p100_clocks = 56 * 1.328e9, v100_clocks = 80 * 1.38e9;
constexpr MicroFigures p100{.multiprocessors = 56,
                            .limits = {65536, 65536, 32, 2048},
                            .shuffle = 33,
                            .shared_read = 36,
                            .add = 6,
                            .bit_and = 6,
                            .shared_bytes_per_s = 9519e9,
                            .shuffles_per_s = 32 * p100_clocks,
                            .adds_per_s = 64 * p100_clocks,
                            .ands_per_s = 64 * p100_clocks,
                            .f32_adds_per_s = 64 * p100_clocks,
                            .f64_adds_per_s = 32 * p100_clocks};
constexpr MicroFigures v100{.multiprocessors = 80,
                            .shuffle = 39,
                            .shared_read = 27,
                            .add = 4,
                            .bit_and = 4,
                            .shared_bytes_per_s = 13800e9,
                            .shuffles_per_s = 32 * v100_clocks,
                            .adds_per_s = 64 * v100_clocks,
                            .ands_per_s = 64 * v100_clocks};

// A launch of BRLT-ScanRow on P100: registers for a single block, eight buffers and the totals.
constexpr std::size_t brlt_shared_bytes = (8 * 32 * 33 + 1024) * 4;
LaunchFigures brlt_launch(unsigned blocks) {
  return {.grid = {1, blocks, 1},
          .block = {1024, 1, 1},
          .registers = 64,
          .static_bytes = brlt_shared_bytes};
}

// Round numbers: l, the latency of a read and of a launch, is 0.5 + 2.5 = 3 us, and a kernel copies
// 10^6 bytes per microsecond.
constexpr MicroFigures round_figures{.multiprocessors = 16,
                                     .limits = {65536, 65536, 32, 2048},
                                     .clock_hz = 1e9,
                                     .shuffle = 33,
                                     .shared_read = 36,
                                     .add = 6,
                                     .bit_and = 6,
                                     .global_read = 500,
                                     .memcpy_bytes_per_s = 0.5e12,
                                     .kernel_copy_bytes_per_s = 1e12,
                                     .shared_bytes_per_s = 8192e9,
                                     .shuffles_per_s = 5120e9,
                                     .adds_per_s = 992e9,
                                     .ands_per_s = 2560e9,
                                     .f32_adds_per_s = 2 * 992e9,
                                     .f64_adds_per_s = 496e9,
                                     .launch_us = 2.5};

TEST(SatModel, MemoriesTakeTheTimeOfThePapersExample) {
  using gpu::MemoryMachine;
  const std::vector<std::vector<int>> warps{{7, 5, 15, 0}, {10, 11, 12, 9}};  // figure 4
  EXPECT_EQ(gpu::access_time_units(MemoryMachine::discrete, warps, 5, 4), 7);
  EXPECT_EQ(gpu::access_time_units(MemoryMachine::unified, warps, 5, 4), 9);
  EXPECT_EQ(gpu::access_time_units(MemoryMachine::unified, {}, 5, 4), 0);
  EXPECT_EQ(gpu::pipeline_stages(MemoryMachine::discrete, std::vector{3, 3, 3, 3}, 4), 1);
}

// Lemma 1: with row i rotated by i, neither rows nor columns have bank conflicts.
TEST(SatModel, TheDiagonalArrangementHasNoBankConflicts) {
  constexpr int w = gpu::hmm_width;
  for (int line = 0; line < w; ++line) {
    std::vector<int> row, column, plain_column;
    for (int i = 0; i < w; ++i) {
      row.push_back(line * w + (line + i) % w);
      column.push_back(i * w + (line + i) % w);
      plain_column.push_back(i * w + line);
    }
    EXPECT_EQ(gpu::pipeline_stages(gpu::MemoryMachine::discrete, row), 1);
    EXPECT_EQ(gpu::pipeline_stages(gpu::MemoryMachine::discrete, column), 1);
    EXPECT_EQ(gpu::pipeline_stages(gpu::MemoryMachine::discrete, plain_column), w);
  }
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
  // 2R1W of both corners, and nothing between them; 1R1W alone; a single block.
  EXPECT_EQ(hmm_hybrid({1024, 1024}, 1).barriers, 2 * 3 - 1);
  EXPECT_EQ(hmm_hybrid({1024, 1024}, 0).barriers, hmm_1r1w({1024, 1024}).barriers);
  EXPECT_EQ(hmm_hybrid({32, 32}, 1).barriers, hmm_2r1w({32, 32}).barriers);
  // Pictures that are not square, or not of whole blocks.
  EXPECT_EQ(hmm_4r1w({7, 3}).barriers, 8);
  EXPECT_EQ(hmm_1r1w({65, 32}).barriers, 2);
}

TEST(SatModel, CornersOfSquaresAreThePapersTriangles) {
  for (const int side : {1, 2, 5, 32, 60, 256})
    for (int legs = 0; legs <= side; ++legs) {
      const double root = static_cast<double>(legs) / side;
      EXPECT_EQ(corner_diagonals({side, side}, root * root), legs) << side;
      const double rounded = std::floor(root * root * 1e9) / 1e9;
      EXPECT_EQ(corner_diagonals({side, side}, rounded), legs) << side;
    }
}

// Both corners together are as near to the fraction r of the tiles as whole anti-diagonals allow.
TEST(SatModel, CornersAreTheFractionOfAnyShape) {
  for (const Size tiles : {Size{1, 1}, {2, 1}, {1, 50}, {50, 1}, {60, 34}, {34, 60}, {7, 2}}) {
    const int all = tiles.width + tiles.height - 1;
    const auto distance = [&](int diagonals, double r) {
      int made = 0;
      for (int y = 0; y < tiles.height; ++y)
        for (int x = 0; x < tiles.width; ++x) made += x + y < diagonals || x + y >= all - diagonals;
      return std::abs(made - r * static_cast<double>(tiles.area()));
    };
    for (const double r : {0.0, 1e-6, 0.1, 0.25, 0.5, 0.75, 0.99}) {
      const int corner = corner_diagonals(tiles, r);
      ASSERT_LE(2 * corner, all);
      for (int other = 0; 2 * other <= all; ++other)
        EXPECT_LE(distance(corner, r), distance(other, r) + 1e-2) << other << ", r = " << r;
    }
    EXPECT_EQ(corner_diagonals(tiles, 1), (all + 1) / 2);
  }
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

TEST(SatModel, LatenciesAreUnequalAsInThePaper) {
  const Inequality of_p100 = chen_latencies(RowScan::kogge_stone, p100);
  EXPECT_EQ(of_p100.less, 2304 + 186);
  EXPECT_EQ(of_p100.greater, 6240);
  EXPECT_TRUE(of_p100.holds());
  EXPECT_TRUE(chen_latencies(RowScan::kogge_stone, v100).holds());
  MicroFigures slow_memory = p100;
  slow_memory.shared_read = 100;
  EXPECT_FALSE(chen_latencies(RowScan::kogge_stone, slow_memory).holds());
}

TEST(SatModel, ThroughputsOfARegisterMatrix) {
  const SatTypeInfo &s32 = info_of(SatType::s32_s32), &f32 = info_of(SatType::f32_f32);
  // In clocks of all multiprocessors.
  const auto clocks = [](double seconds) { return seconds * p100_clocks; };
  EXPECT_DOUBLE_EQ(chen_transpose_seconds(s32, p100), 2048 * 4 / 9519e9);
  EXPECT_DOUBLE_EQ(chen_transpose_seconds(f64, p100), 2048 * 8 / 9519e9);
  EXPECT_DOUBLE_EQ(clocks(chen_scan_columns_add_seconds(s32, p100)), 992 / 64.0);
  EXPECT_DOUBLE_EQ(clocks(chen_shuffle_seconds(s32, p100)), 160);
  EXPECT_DOUBLE_EQ(clocks(chen_shuffle_seconds(f64, p100)), 2 * 160);
  EXPECT_DOUBLE_EQ(clocks(chen_scan_rows_add_seconds(RowScan::kogge_stone, s32, p100)),
                   4128 / 64.0);
  EXPECT_DOUBLE_EQ(clocks(chen_scan_rows_add_seconds(RowScan::ladner_fischer, f32, p100)),
                   2560 / 64.0);
  EXPECT_DOUBLE_EQ(clocks(chen_ladner_fischer_and_seconds(p100)), 5120 / 64.0);
  // Types have their own additions.
  EXPECT_DOUBLE_EQ(chen_scan_columns_add_seconds(u8, round_figures), 1e-9);
  EXPECT_DOUBLE_EQ(chen_scan_columns_add_seconds(f32, round_figures), 0.5e-9);
  EXPECT_DOUBLE_EQ(chen_scan_columns_add_seconds(f64, round_figures), 2e-9);
}

TEST(SatModel, ThroughputsAreUnequalAsInThePaper) {
  const SatTypeInfo& s32 = info_of(SatType::s32_s32);
  for (const MicroFigures& figures : {p100, v100})
    for (const RowScan scan : {RowScan::kogge_stone, RowScan::ladner_fischer})
      EXPECT_TRUE(chen_throughputs(scan, s32, figures).holds());
  // By hand, in clocks: 64.5 + 160 > 64.04 + 15.5, and 40 + 80 + 160.
  const auto [less, greater] = chen_throughputs(RowScan::kogge_stone, s32, p100);
  EXPECT_NEAR(less * p100_clocks, 79.5, 0.1);
  EXPECT_NEAR(greater * p100_clocks, 224.5, 0.1);
  EXPECT_NEAR(chen_throughputs(RowScan::ladner_fischer, s32, p100).greater * p100_clocks, 280, 0.1);
  // With 160 shuffles of one lane each, as equation 12 is printed, (14) would not hold.
  MicroFigures as_printed = p100;
  as_printed.shuffles_per_s *= 32;
  EXPECT_FALSE(chen_throughputs(RowScan::kogge_stone, s32, as_printed).holds());
}

TEST(SatModel, ActiveWarpsAreThoseOfWholeBlocks) {
  const auto warps_of = [](unsigned threads, int registers, std::size_t static_bytes,
                           std::size_t dynamic_bytes = 0) {
    const LaunchFigures launch{.block = {threads / 2, 2, 1},
                               .registers = registers,
                               .static_bytes = static_bytes,
                               .dynamic_bytes = dynamic_bytes};
    EXPECT_EQ(chen_warps_per_block(launch), threads / 32);
    return chen_active_warps(launch, p100) / 56.0;
  };
  EXPECT_EQ(warps_of(1024, 64, brlt_shared_bytes), 32);  // one block, by registers and memory
  EXPECT_EQ(warps_of(1024, 32, brlt_shared_bytes), 32);  // by memory: 2 * 37888 > 65536
  EXPECT_EQ(warps_of(1024, 32, 0), 64);                  // two blocks, by registers and threads
  EXPECT_EQ(warps_of(1024, 16, 0), 64);                  // by threads: registers for 4 blocks
  EXPECT_EQ(warps_of(1024, 40, 0), 32);              // registers for 51 warps, but for one block
  EXPECT_EQ(warps_of(256, 32, 20000, 1000), 3 * 8);  // by both kinds of shared memory
  EXPECT_EQ(warps_of(32, 32, 64), 32);               // by blocks
  EXPECT_DOUBLE_EQ(chen_shared_bytes_per_s_of_warp(brlt_launch(1), p100), 9519e9 / (56 * 32));
}

// The nanoseconds of a register matrix are 1 for a transposition, 1 for shuffles, 1 for the scan of
// columns, 4128 / 992 or 2560 / 992 for additions of rows and 2 for ANDs; the chip has 512 warps at
// a time, so that each of them takes 512 times as long.
TEST(SatModel, ThroughputsOfKernels) {
  constexpr Size size{2048, 1024};
  const auto us = [&](const SatAlgorithm& sat, unsigned first, unsigned second, int tables = 1) {
    std::vector<LaunchFigures> launches;
    for (int table = 0; table < tables; ++table)
      for (const unsigned blocks : {first, second}) launches.push_back(brlt_launch(blocks));
    return sat.model.throughput_us(sat, u8, size, tables, round_figures, launches) -
           bytes_us(sat, u8, size, tables, round_figures);
  };
  constexpr double ks = 4128 / 992.0 + 1, lf = 2560 / 992.0 + 1 + 2, wave = 0.512;
  // 32 blocks, 2 steps, in two waves; then 64 blocks, 1 step, in four.
  EXPECT_NEAR(us(chen_2018_brlt_scanrow, 32, 64), wave * (2 * 2 + 4) * 2, 1e-9);
  EXPECT_NEAR(us(chen_2018_brlt_scanrow, 32, 64, 2), 2 * wave * (2 * 2 + 4) * 2, 1e-9);
  EXPECT_NEAR(us(chen_2018_brlt_scanrow, 17, 16), wave * (2 * 2 + 1) * 2, 1e-9);
  EXPECT_NEAR(us(chen_2018_scanrow_brlt_ks, 32, 64), wave * 8 * (ks + 1), 1e-9);
  EXPECT_NEAR(us(chen_2018_scanrow_brlt_lf, 32, 64), wave * 8 * (lf + 1), 1e-9);
  // Rows: 2 steps, with 32 shuffles and additions of carries; columns: 1 step.
  constexpr double carries = 0.2 + 32 / 992.0;
  EXPECT_NEAR(us(chen_2018_scanrow_column_ks, 32, 64), wave * (4 * (ks + carries) + 4), 1e-9);
  EXPECT_NEAR(us(chen_2018_scanrow_column_lf, 32, 64), wave * (4 * (lf + carries) + 4), 1e-9);
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
                   hmm(hmm_hybrid(size, kasagi_2014_hybrid.value)));
  EXPECT_DOUBLE_EQ(model_us(*choose_sat("kasagi_2014_hybrid:0.25").algorithm, size),
                   hmm(hmm_hybrid(size, 0.25)));
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
