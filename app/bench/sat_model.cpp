#include "app/bench/sat_model.hpp"

#include <algorithm>
#include <cmath>

namespace facesat::app {
namespace {

// Of a register matrix: Chen et al.'s C and WarpSize; the stages of its rows' scans.
constexpr int side = 32, scan_stages = 5 * side;

constexpr int divide_up(int a, int b) {
  return (a + b - 1) / b;
}

double elements(Size size) {
  return static_cast<double>(size.area());
}

int anti_diagonals(Size size) {
  return size.width + size.height - 1;
}

Size in_blocks(Size size, int w) {
  return {divide_up(size.width, w), divide_up(size.height, w)};
}

// The paper's k: how often the matrix of the blocks' sums, that many blocks long, is divided into
// blocks again until it is one.
int recursion_depth(int blocks, int w) {
  int depth = 0;
  for (; blocks > w; blocks = divide_up(blocks, w)) ++depth;
  return depth;
}

double copy_bytes_per_us(const gpu::MicroFigures& figures) {
  return std::max(figures.memcpy_bytes_per_s, figures.kernel_copy_bytes_per_s) / 1e6;
}

double microseconds(double clocks, const gpu::MicroFigures& figures) {
  return clocks / figures.clock_hz * 1e6;
}

}  // namespace

HmmCost hmm_2r2w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .stride_table = 2 * n, .barriers = 1};
}

HmmCost hmm_4r4w(Size size) {
  const double n = elements(size);
  return {.pixels = n, .table = 7 * n, .barriers = 3};
}

HmmCost hmm_2r1w(Size size, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const int k = recursion_depth(std::max(blocks.width, blocks.height), w);
  return {.pixels = 2 * n, .table = n + 8 * n / w, .barriers = 2.0 * k + 2};
}

HmmCost hmm_4r1w(Size size) {
  const double n = elements(size);
  return {.stride_pixels = n, .stride_table = 4 * n, .barriers = anti_diagonals(size) - 1.0};
}

HmmCost hmm_1r1w(Size size, int w) {
  const double n = elements(size);
  return {.pixels = n, .table = n, .barriers = anti_diagonals(in_blocks(size, w)) - 1.0};
}

// Legs of the triangles are sqrt(r) of the shorter side. Barriers are those of 2R1W twice, those
// within 1R1W, and the two in between.
HmmCost hmm_hybrid(Size size, double r, int w) {
  const double n = elements(size);
  const Size blocks = in_blocks(size, w);
  const double legs = std::sqrt(r) * std::min(blocks.width, blocks.height);
  const int k = recursion_depth(static_cast<int>(std::ceil(legs)), w);
  return {.pixels = (1 + r) * n,
          .table = n,
          .barriers = 2 * (2.0 * k + 2) + (anti_diagonals(blocks) - 2 * legs - 1) + 2};
}

double hmm_time_units(const HmmCost& cost, double l, int w) {
  return (cost.pixels + cost.table) / w + cost.stride_pixels + cost.stride_table +
         (cost.barriers + 1) * (l - 1);
}

double hmm_us(const HmmCost& cost, const gpu::SatTypeInfo& type, const gpu::MicroFigures& figures) {
  const double bytes =
      (cost.pixels + hmm_width * cost.stride_pixels) * static_cast<double>(type.input_bytes) +
      (cost.table + hmm_width * cost.stride_table) * static_cast<double>(type.table_bytes);
  const double l_us = microseconds(figures.global_read, figures) + figures.launch_us;
  return bytes / copy_bytes_per_us(figures) + (cost.barriers + 1) * l_us;
}

double chen_transpose_clocks(const gpu::MicroFigures& figures) {
  return 2 * side * figures.shared_read;
}

double chen_scan_rows_clocks(RowScan scan, const gpu::MicroFigures& figures) {
  const double selection = scan == RowScan::ladner_fischer ? figures.bit_and : 0;
  return scan_stages * (figures.shuffle + figures.add + selection);
}

double chen_scan_columns_clocks(const gpu::MicroFigures& figures) {
  return (side - 1) * figures.add;
}

std::optional<double> chen_clocks(std::string_view id, const gpu::SatTypeInfo& type, Size size,
                                  const gpu::MicroFigures& figures) {
  const int threads = 4096 / static_cast<int>(type.table_bytes), warps = threads / side;
  // Of a kernel whose blocks take that many steps each, and these that many clocks after the read.
  const auto kernel = [&](int blocks, int steps, double clocks) {
    return 1.0 * divide_up(blocks, figures.multiprocessors) * steps *
           (figures.global_read + clocks);
  };
  // Blocks of 32 lines, `threads` elements a step; the second kernel runs across.
  const auto scan_transpose_twice = [&](double clocks) {
    return kernel(divide_up(size.height, side), divide_up(size.width, threads), clocks) +
           kernel(divide_up(size.width, side), divide_up(size.height, threads), clocks);
  };
  // A row a warp, 1024 pixels a step, each 32 of which take over the sum of those before; then
  // strips of 32 columns.
  const auto scan_rows_columns = [&](RowScan scan) {
    const double carries = side * (figures.shuffle + figures.add);
    return kernel(divide_up(size.height, warps), divide_up(size.width, side * side),
                  chen_scan_rows_clocks(scan, figures) + carries) +
           kernel(divide_up(size.width, side), divide_up(size.height, threads),
                  chen_scan_columns_clocks(figures));
  };
  const double transpose = chen_transpose_clocks(figures);
  if (id == "chen_2018_brlt_scanrow")
    return scan_transpose_twice(transpose + chen_scan_columns_clocks(figures));
  if (id == "chen_2018_scanrow_brlt_ks")
    return scan_transpose_twice(chen_scan_rows_clocks(RowScan::kogge_stone, figures) + transpose);
  if (id == "chen_2018_scanrow_brlt_lf")
    return scan_transpose_twice(chen_scan_rows_clocks(RowScan::ladner_fischer, figures) +
                                transpose);
  if (id == "chen_2018_scanrow_column_ks") return scan_rows_columns(RowScan::kogge_stone);
  if (id == "chen_2018_scanrow_column_lf") return scan_rows_columns(RowScan::ladner_fischer);
  return {};
}

namespace {

std::optional<HmmCost> hmm_cost(const gpu::SatInfo& sat, Size size) {
  if (sat.id == "kasagi_2014_2r2w") return hmm_2r2w(size);
  if (sat.id == "kasagi_2014_4r4w") return hmm_4r4w(size);
  if (sat.id == "kasagi_2014_2r1w") return hmm_2r1w(size);
  if (sat.id == "kasagi_2014_4r1w") return hmm_4r1w(size);
  if (sat.id == "kasagi_2014_1r1w") return hmm_1r1w(size);
  if (sat.id == "kasagi_2014_hybrid") return hmm_hybrid(size, sat.reads - 1);
  return {};
}

// Every table that is written on the way is read once; the other reads are of the picture. All
// tables are made one after the other, except by the one algorithm that makes them together.
double bytes_us(const gpu::SatInfo& sat, const gpu::SatTypeInfo& type, Size size, int tables,
                const gpu::MicroFigures& figures) {
  const int passes = sat.id == "facesat_lookback" ? 1 : tables;
  const double table_reads = sat.writes - 1, pixel_reads = sat.reads - table_reads;
  const double bytes_an_element =
      passes * pixel_reads * static_cast<double>(type.input_bytes) +
      tables * (table_reads + sat.writes) * static_cast<double>(type.table_bytes);
  return elements(size) * bytes_an_element / copy_bytes_per_us(figures) +
         passes * sat.launches * figures.launch_us;
}

}  // namespace

SatModel sat_model(const gpu::SatInfo& sat, const gpu::SatTypeInfo& type, Size size, bool squares,
                   const gpu::MicroFigures& figures) {
  const int tables = squares && type.input_bytes == 1 ? 2 : 1;
  if (const auto cost = hmm_cost(sat, size)) return {"hmm", tables * hmm_us(*cost, type, figures)};
  const double us = bytes_us(sat, type, size, tables, figures);
  if (const auto clocks = chen_clocks(sat.id, type, size, figures))
    return {"latency", us + tables * microseconds(*clocks, figures)};
  return {"bytes", us};
}

}  // namespace facesat::app
